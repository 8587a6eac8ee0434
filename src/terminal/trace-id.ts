/** The trace that a command belongs to, as a caller hands it on in TRACEPARENT (W3C Trace Context). Pure. */

/** @returns undefined where none is given, or what stands there is none */
export function readTraceId(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const [, traceId] =
    /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/.exec(env.TRACEPARENT ?? "") ?? [];
  return traceId === undefined || /^0+$/.test(traceId) ? undefined : traceId;
}
