/** The exchanges of a recording as steps of a replay: for which endpoint each is, and which are left out. Pure. */
import type { RecordedExchange } from "../recording/exchange.ts";
import type { Endpoint } from "../sandbox/rules/endpoint.ts";
import { endpoints } from "../sandbox/rules/index.ts";

export interface Step {
  /** Place in the recording, from 1. */
  n: number;
  exchange: RecordedExchange;
  /** Undefined: none that the sandbox has. */
  endpoint: Endpoint | undefined;
  /** The path's parameters, decoded. */
  parameters: Record<string, string>;
  /** Why the sandbox is not asked. */
  leftOut?: string;
}

/** What the account answers with, or is asked for, that no recording has enough of. */
const mailScopes = /^(?:campaigns|templates|domains|reports|email)/;

export function toSteps(exchanges: RecordedExchange[]): Step[] {
  return exchanges.map((exchange, index) => {
    const { endpoint, parameters } = findEndpoint(exchange);
    return { n: index + 1, exchange, endpoint, parameters, leftOut: explainLeftOut(exchange, endpoint) };
  });
}

/** Whether the account did what it was asked for. */
export function isDone({ exchange: { status } }: Step): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** The path with names in place of ids. */
export function formatEndpoint({ exchange, endpoint }: Step): string {
  return `${exchange.method} ${endpoint ? endpoint.path : exchange.path}`;
}

function findEndpoint({ method, path }: RecordedExchange): Pick<Step, "endpoint" | "parameters"> {
  const asked = method === "HEAD" ? "GET" : method;
  const segments = path.split("/");
  const candidates = endpoints
    .filter((each) => each.method.toUpperCase() === asked)
    .map((endpoint) => ({ endpoint, parameters: matchPath(endpoint.path.split("/"), segments) }))
    .filter(({ parameters }) => parameters !== undefined)
    // A word of the path is never an id.
    .sort((a, b) => Object.keys(a.parameters!).length - Object.keys(b.parameters!).length);
  const [best] = candidates;
  return { endpoint: best?.endpoint, parameters: best?.parameters ?? {} };
}

function matchPath(pattern: string[], segments: string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index]!;
    if (part.startsWith(":")) parameters[part.slice(1)] = decodeURIComponent(segment);
    else if (part !== segment) return undefined;
  }
  return parameters;
}

function explainLeftOut(
  { method, status, query = [], notJson = [] }: RecordedExchange,
  endpoint: Endpoint | undefined,
): string | undefined {
  if (status === null) return "no answer came";
  if (status === 401) return "the API key was refused";
  if (status === 429) return "a limit was reached";
  if (status >= 500) return "the service failed";
  if (method === "OTHER" || notJson.includes("body")) return "the request is not in the recording";
  if (query.some(([name]) => name === "criteria")) return "a pseudonym does not hold what was searched for";
  if (endpoint && mailScopes.test(endpoint.scope))
    return "it is about mails, which a recording does not have";
  return undefined;
}
