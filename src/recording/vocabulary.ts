/**
 * The words that a recording keeps: the service's own, each only in the place where the service has it.
 * Whatever is not listed here is replaced, so that what nobody thought of gives nothing away. Pure.
 */

const split = (words: string) => words.split(/\s+/);

/** Segments of the paths that the service's documents show. */
export const pathWords = new Set(
  split(
    "api contact contact-structure lists search mutate all merge duplicate events export email campaign template domain grey-label reports dashboard overall histogram engagement",
  ),
);

/** Members of bodies and answers; a name that is not among them is replaced. */
export const memberWords = new Set(
  split(
    `_id key contactStructureId fields value lists tags status primary secondary contactStatus contactSubStatus
    createdAt updatedAt __v label keyName keyType dataType required predefinedField name type totalContacts
    totalCampaigns total records totalRecords contacts page pageSize size source contactSpecification filters
    criterias columnToFilter operator values addTags removeTags addLists removeLists updateFields action listIds
    errors errorType message field fieldId debug affectedForms timestamp contactId importId importOriginalFileName
    triggeredBy userId emailTo emailSubject emailCampaignId emailCampaignName emailBounceType emailBounceSubType
    emailBounceDiagCode emailComplaintFeedbackType emailDelayType emailRejectReason emailSmtpResponse emailLinkId
    emailTargetUrl from subject previewText previewImageUrl sentCount failedCount recipientCount domain provider
    nameServer isReadyForSending lastCheckedAt sslCertStatus dkim dmarc spf linkTracking ttl verificationInfo
    identity verificationStatus mailFrom subdomain campaign contact sent delivered count diff uniqueOpens
    uniqueClicks rate histogram start end peak date detail campaignComparison rates opens clicks scheduledAt
    deliveryTimeStats morning afternoon evening night stats hardBounces softBounces totalBounces unsubscribes
    complaints prev startDate endDate unique linkActivity linkId url`,
  ),
);

const columns = split("KEY CONTACT_STATUS LIST_ID FIELD_ID TAG_ID");
const statuses = split(
  "active inactive confirmed unconfirmed unsubscribe unsubscribed bounce bounced complaint-fbl",
);
const eventTypes = split(
  `contact-created contact-updated contact-update-failed contact-unsubscribed contact-reactivated email-sent
  email-bounced email-delivered email-delayed email-rejected email-complaint email-opened email-clicked
  email-skipped first-contact-unsubscribed first-email-complaint first-email-opened first-email-clicked`,
);
const sources = split(
  "_id key contactStructureId fields lists tags status contactStatus contactSubStatus createdAt updatedAt __v",
);

/** By member, the texts that it keeps. A status is kept in any letter case: services differ in it. */
const textsByMember = new Map<string, readonly string[]>([
  ["columnToFilter", columns],
  ["operator", ["EQ"]],
  ["source", sources],
  ["keyType", ["email", "text"]],
  ["dataType", split("text number date boolean")],
  ["predefinedField", split("firstName lastName")],
  ["type", ["static", ...eventTypes]],
  ["action", ["add"]],
]);
const statusMembers = new Set(split("primary secondary contactStatus contactSubStatus"));

/** How the service forms the names of its errors. */
const errorTypeForm = /^[A-Z][A-Za-z]{0,60}(?:Error|NotFound)$/;

export function isKeptText(text: string, member: string): boolean {
  if (statusMembers.has(member)) return isStatus(text);
  if (member === "errorType") return errorTypeForm.test(text);
  if (member === "field") return isMemberPath(text);
  return textsByMember.get(member)?.includes(text) ?? false;
}

function isStatus(text: string): boolean {
  const lower = text.toLowerCase();
  const isOneCase = [lower, text.toUpperCase()].includes(text) || text.slice(1) === lower.slice(1);
  return statuses.includes(lower) && (isOneCase || text === "Complaint-FBL");
}

/** Such as `contactSpecification` or `fields[0].value`. */
function isMemberPath(text: string): boolean {
  if (!/^\w+(?:\[\d{1,4}\])?(?:\.\w+(?:\[\d{1,4}\])?)*$/.test(text)) return false;
  return text.split(".").every((part) => memberWords.has(part.replace(/\[\d+\]$/, "")));
}

/** Members whose numbers are kept: pages, totals and versions. */
export const numberMembers = new Set(split("page pageSize size total totalRecords totalContacts __v"));
export const flagMembers = new Set(["required"]);
/** Members that hold times. */
export const timeMembers = new Set(
  split("createdAt updatedAt timestamp lastCheckedAt scheduledAt start end startDate endDate date"),
);

const sortForm = /^(?:name|createdAt|updatedAt)(?::(?:asc|desc))?$/;
/** By name of a parameter, the values that it keeps. */
const queryValues = new Map<string, (value: string) => boolean>([
  ["page", isSmallNumber],
  ["size", isSmallNumber],
  ["pastDays", isSmallNumber],
  ["sort", (value) => sortForm.test(value)],
  ["types", (value) => value.split(",").every((type) => eventTypes.includes(type))],
  ["eventType", (value) => eventTypes.includes(value)],
  ["period", (value) => split("24hours week month").includes(value)],
  ["status", isStatus],
  ["criteria", () => false],
  ["timezone", () => false],
]);

export function isQueryName(name: string): boolean {
  return queryValues.has(name);
}

export function isKeptQueryValue(name: string, value: string): boolean {
  return queryValues.get(name)?.(value) ?? false;
}

function isSmallNumber(value: string): boolean {
  return /^\d{1,5}$/.test(value);
}

export const methodWords = new Set(split("GET HEAD POST PUT PATCH DELETE OPTIONS"));

/** Names of headers; of the first ones the numbers are kept. */
export const limitHeaders = split(
  "x-ratelimit-limit x-ratelimit-remaining x-monthly-limit x-monthly-remaining retry-after",
);
export const headerWords = new Set([
  ...limitHeaders,
  ...split(
    `x-ratelimit-reset content-type content-length content-encoding transfer-encoding date server connection keep-alive
    cache-control etag last-modified vary age expires pragma location link allow x-request-id x-correlation-id
    x-powered-by strict-transport-security access-control-allow-origin www-authenticate set-cookie`,
  ),
]);
