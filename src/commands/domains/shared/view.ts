/** How sending domains look to people. */
import { isObject } from "../../../is-object.ts";
import type { DnsRecord } from "../../../service/domains.ts";
import { listMembers, readMember } from "../../../service/records.ts";
import type { Column, View } from "../../../terminal/present.ts";
import { everyColumn, memberColumn, recordId, toCell } from "../../shared/record-columns.ts";

/** A part is told with its status and more, or as the status alone. */
function statusColumn(part: string, title = part): Column<unknown> {
  return { name: part, title, value: (domain) => toCell(readStatus(readMember(domain, part))) };
}

function readStatus(part: unknown): unknown {
  return isObject(part) ? part.status : part;
}

/** The columns that show the whole domain; the DNS records of its parts are shown by themselves. */
export function wholeDomain(domain: unknown): Column<unknown>[] {
  const further = listMembers(domain).flatMap(([part, told]) =>
    listMembers(told)
      .filter(([name, value]) => name !== "status" && !(name === "records" && Array.isArray(value)))
      .filter(([, value]) => !isObject(value) || Object.keys(value).length > 0)
      .map(([name]) => memberColumn(`${part} ${name}`, {}, [part, name])),
  );
  const known = domainView.columns.map(({ name }) => name);
  const plain = everyColumn(domainView.columns, domain, known).map((column) =>
    known.includes(column.name) ? column : statusColumn(column.name),
  );
  return [...plain, ...further];
}

export const domainView: View<unknown> = {
  columns: [
    memberColumn("domain", { isWhole: true }),
    memberColumn("isReadyForSending", { title: "ready" }),
    statusColumn("dkim"),
    statusColumn("spf"),
    statusColumn("dmarc"),
    statusColumn("linkTracking", "links"),
    statusColumn("identity"),
    memberColumn("sslCertStatus", { title: "certificate" }),
    memberColumn("lastCheckedAt", { title: "checked", isTime: true }),
    memberColumn("provider"),
    memberColumn("_id", { title: "id", isWhole: true, isAside: true }),
    memberColumn("nameServer", { title: "name server", optional: true }),
    memberColumn("createdAt", { title: "created", isTime: true, optional: true }),
  ],
  id: recordId,
  empty: "No sending domains",
};

export const dnsRecordView: View<DnsRecord> = {
  columns: [
    { name: "type", value: ({ type }) => toCell(type) },
    { name: "name", value: ({ name }) => toCell(name) },
    { name: "value", value: ({ value }) => toCell(value) },
    { name: "ttl", value: ({ ttl }) => toCell(ttl) },
    { name: "part", value: ({ part }) => part },
    { name: "status", value: ({ status }) => toCell(status) },
    { name: "missing", value: ({ isMissing }) => isMissing },
  ],
  id: ({ name }) => String(toCell(name) ?? ""),
};
