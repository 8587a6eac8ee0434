/** The schemas of answers. The OpenAPI description and the types of the rules are made of them. */
import * as v from "valibot";
import { fieldValue, idRef } from "./requests.ts";

const id = v.pipe(v.string(), v.regex(/^[0-9a-f]{24}$/));
const time = v.pipe(v.string(), v.isoTimestamp());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const statusAnswer = v.object({ primary: v.string(), secondary: v.optional(v.string()) });

export const contactAnswer = v.object({
  _id: id,
  key: v.string(),
  contactStructureId: id,
  fields: v.array(fieldValue),
  lists: v.array(idRef),
  tags: v.array(idRef),
  status: statusAnswer,
  createdAt: time,
  updatedAt: time,
  __v: count,
});

/** A contact in a search: the members that its `source` named, the status in two parts. */
export const foundContact = v.partial(
  v.object({
    ...contactAnswer.entries,
    contactStatus: v.string(),
    contactSubStatus: v.string(),
  }),
);
export const searchAnswer = v.object({ totalRecords: count, contacts: v.array(foundContact) });

export const contactsAnswer = v.array(contactAnswer);

export const fieldAnswer = v.object({
  _id: id,
  label: v.string(),
  dataType: v.string(),
  required: v.optional(v.boolean()),
  predefinedField: v.optional(v.string()),
});
export const tagAnswer = v.object({ _id: id, label: v.string() });
export const structureAnswer = v.object({
  _id: id,
  label: v.string(),
  keyName: v.string(),
  keyType: v.string(),
  fields: v.array(fieldAnswer),
  tags: v.array(tagAnswer),
  __v: count,
});
export const structuresAnswer = v.array(structureAnswer);

export const listNameAnswer = v.object({ _id: id, name: v.string(), type: v.literal("static") });
export const newListAnswer = v.object({
  ...listNameAnswer.entries,
  createdAt: time,
  updatedAt: time,
  __v: count,
});
export const listAnswer = v.object({
  ...newListAnswer.entries,
  totalContacts: count,
  totalCampaigns: count,
});
export const listNamesAnswer = v.array(listNameAnswer);
export const listPageAnswer = v.object({ total: count, records: v.array(listAnswer) });

export const eventAnswer = v.object({
  timestamp: time,
  type: v.string(),
  contactId: id,
  source: v.optional(v.string()),
  importId: v.optional(v.string()),
  importOriginalFileName: v.optional(v.string()),
  triggeredBy: v.optional(v.object({ type: v.string(), userId: v.optional(v.string()) })),
  emailTo: v.optional(v.string()),
  emailSubject: v.optional(v.string()),
  emailCampaignId: v.optional(v.string()),
  emailCampaignName: v.optional(v.string()),
  emailBounceType: v.optional(v.string()),
  emailBounceSubType: v.optional(v.string()),
  emailBounceDiagCode: v.optional(v.string()),
  emailComplaintFeedbackType: v.optional(v.string()),
  emailDelayType: v.optional(v.string()),
  emailRejectReason: v.optional(v.string()),
  emailSmtpResponse: v.optional(v.string()),
  emailLinkId: v.optional(v.string()),
  emailTargetUrl: v.optional(v.string()),
});
export const eventPageAnswer = v.object({ total: count, records: v.array(eventAnswer) });

export const campaignAnswer = v.object({
  _id: id,
  name: v.string(),
  from: v.string(),
  subject: v.string(),
  previewText: v.string(),
  previewImageUrl: v.string(),
  status: v.string(),
  sentCount: count,
  failedCount: count,
  recipientCount: count,
  createdAt: time,
  updatedAt: time,
});
export const campaignPageAnswer = v.object({ total: count, records: v.array(campaignAnswer) });
export const templateAnswer = v.object({
  _id: id,
  name: v.string(),
  subject: v.string(),
  createdAt: time,
  updatedAt: time,
});
export const templatePageAnswer = v.object({ total: count, records: v.array(templateAnswer) });

const verificationInfo = v.record(v.string(), v.unknown());
const dnsPart = v.object({
  status: v.string(),
  records: v.array(v.object({ name: v.string(), type: v.string(), value: v.string(), ttl: count })),
  verificationInfo,
});
export const domainAnswer = v.object({
  _id: id,
  domain: v.string(),
  provider: v.string(),
  nameServer: v.string(),
  isReadyForSending: v.boolean(),
  createdAt: time,
  lastCheckedAt: time,
  sslCertStatus: v.string(),
  dkim: dnsPart,
  dmarc: dnsPart,
  spf: dnsPart,
  linkTracking: dnsPart,
  identity: v.object({
    status: v.string(),
    verificationStatus: v.string(),
    mailFrom: v.object({ status: v.string(), subdomain: v.string() }),
    verificationInfo,
  }),
});
export const domainsAnswer = v.array(domainAnswer);

const percent = v.number();
const compared = v.object({ value: v.number(), diff: percent });
const figure = v.object({ count: compared, rate: compared });
const plainFigure = v.object({ count, diff: percent });
const wholeFigure = v.object({
  count: v.object({ value: count, prev: count, diff: percent }),
  rate: v.object({ value: percent, prev: percent, diff: percent }),
});
const date = v.string();
const histogramFrame = { start: time, end: time };
const bar = v.object({ date, total: count });
const peak = v.object({ startDate: v.nullable(date), endDate: v.nullable(date), total: count });
const contactHistogramAnswer = v.object({
  ...histogramFrame,
  peak,
  histogram: v.array(bar),
});
export const histogramAnswer = v.object({
  ...histogramFrame,
  peak,
  histogram: v.array(v.object({ ...bar.entries, detail: v.record(v.string(), count) })),
});
export const engagementAnswer = v.object({
  ...histogramFrame,
  peak,
  histogram: v.array(
    v.object({ ...bar.entries, detail: v.object({ uniqueOpens: count, uniqueClicks: count }) }),
  ),
});
export const dashboardAnswer = v.object({
  campaign: v.object({
    sent: plainFigure,
    delivered: plainFigure,
    uniqueOpens: figure,
    uniqueClicks: figure,
  }),
  contact: v.object({ count, histogram: contactHistogramAnswer }),
});
export const overallAnswer = v.object({
  campaignComparison: v.array(
    v.object({
      _id: id,
      name: v.string(),
      rates: v.object({ opens: percent, clicks: percent }),
      scheduledAt: time,
    }),
  ),
  deliveryTimeStats: v.object({ morning: count, afternoon: count, evening: count, night: count }),
  stats: v.object({
    sent: wholeFigure,
    delivered: wholeFigure,
    uniqueOpens: wholeFigure,
    uniqueClicks: wholeFigure,
    hardBounces: wholeFigure,
    softBounces: wholeFigure,
    totalBounces: wholeFigure,
    unsubscribes: wholeFigure,
    complaints: wholeFigure,
  }),
});
const uniqueRate = v.object({ unique: count, rate: percent });
export const campaignReportAnswer = v.object({
  sent: count,
  delivered: count,
  opens: uniqueRate,
  clicks: uniqueRate,
  totalBounces: count,
  hardBounces: count,
  softBounces: count,
  linkActivity: v.array(
    v.object({
      linkId: v.nullable(v.string()),
      url: v.nullable(v.string()),
      clicks: count,
      uniqueClicks: count,
    }),
  ),
});

export const errorAnswer = v.object({
  errors: v.pipe(
    v.array(
      v.object({
        errorType: v.string(),
        message: v.string(),
        field: v.optional(v.string()),
        fieldId: v.optional(v.string()),
      }),
    ),
    v.minLength(1),
  ),
});

// The members of answers that the specification's tables show, for the variant `literal`.

export const literalContact = members(
  "_id",
  "key",
  "contactStructureId",
  "fields",
  "lists",
  "tags",
  "status",
  "createdAt",
  "__v",
);
export const literalNewContact = members("_id", "key", "contactStructureId", "fields", "status", "createdAt");

const structureMembers = members("_id", "label", "keyName", "keyType", "fields", "tags", "__v");
const fieldMembers = members("_id", "label", "dataType", "required", "predefinedField");
const listedStructureMembers = members("_id", "label", "keyName", "keyType", "fields");
const listedFieldMembers = members("_id", "label", "dataType");
const tagMembers = members("_id", "label");

interface Structure {
  fields: object[];
  tags: object[];
}

export function literalStructure(structure: Structure): object {
  const { fields, tags } = structure;
  return {
    ...structureMembers(structure),
    fields: fields.map(fieldMembers),
    tags: tags.map(tagMembers),
  };
}

/** A structure in the list of structures. */
export function literalListedStructure(structure: Structure): object {
  return { ...listedStructureMembers(structure), fields: structure.fields.map(listedFieldMembers) };
}

export const literalList = members("_id", "name", "totalContacts");
export const literalNewList = members("_id", "name");

/** Keeps the members of these names. */
function members(...names: string[]): (whole: object) => object {
  return (whole) => Object.fromEntries(Object.entries(whole).filter(([name]) => names.includes(name)));
}
