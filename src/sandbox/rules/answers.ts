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
