/**
 * Keys that differ in letter case alone may be two: which is so is
 * decided by whoever writes, inside its transaction.
 */
export const keyCaseSchema = `
DROP INDEX contacts_by_key;
CREATE INDEX contacts_by_key ON contacts (structure_id, folded_key);
`;
