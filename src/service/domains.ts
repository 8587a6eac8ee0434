/** Sending domains, and what they need in DNS (published reference). */
import { resolveName } from "../api/names.ts";
import { NotFoundError } from "../errors.ts";
import { isObject } from "../is-object.ts";
import type { Send } from "../wire.ts";
import { listMembers, readMember, readRecords, readRequest, sendScoped, textMember } from "./records.ts";

export async function fetchDomains(send: Send): Promise<unknown[]> {
  const answer = await sendScoped(send, readRequest("/api/email/domain"), "domains:read");
  return readRecords(answer, "a list of domains").items;
}

/** By its name or id. @throws NotFoundError; UsageError where several have the name */
export function findDomain(domains: readonly unknown[], wanted: string): unknown {
  const named = domains.flatMap((record) => {
    const _id = textMember(record, "_id") ?? textMember(record, "domain");
    return _id === undefined ? [] : [{ _id, name: textMember(record, "domain") ?? _id, record }];
  });
  if (named.length === 0) throw new NotFoundError(`No domain is named ${JSON.stringify(wanted)}`);
  return resolveName(wanted, named, ({ name }) => name, "domain").record;
}

export interface DnsRecord {
  part: string;
  /** Of the part that needs it; as the service says it. */
  status: unknown;
  type: unknown;
  name: unknown;
  value: unknown;
  ttl: unknown;
  /** Its part is not said to be in order. */
  isMissing: boolean;
}

/** Which words mean that a part is in order is not published: what is none of these is shown as missing. */
const inOrder = /^(?:verified|valid|validated|success|succeeded|active|ok|passed|complete|completed|ready)$/i;

/** Every DNS record that a domain needs: of each of its parts that tells some. */
export function dnsRecords(domain: unknown): DnsRecord[] {
  return listMembers(domain).flatMap(([part, value]) => {
    const status = readMember(value, "status");
    const isMissing = status !== true && !(typeof status === "string" && inOrder.test(status));
    const records = readMember(value, "records");
    return (Array.isArray(records) ? records : []).filter(isObject).map((record) => ({
      part,
      status,
      type: readMember(record, "type"),
      name: readMember(record, "name"),
      value: readMember(record, "value"),
      ttl: readMember(record, "ttl"),
      isMissing,
    }));
  });
}
