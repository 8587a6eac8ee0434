/**
 * Fields that an import creates before its first write. Until they exist, a placeholder is used as their id.
 */

export interface NewField {
  label: string;
  /** In the service's terms, such as `text`. */
  dataType: string;
}

/** No id holds a blank. */
const newFieldPrefix = "new field ";

/** The placeholder for the id of a field that does not exist yet. */
export function toNewFieldId(label: string): string {
  return `${newFieldPrefix}${label}`;
}

/** The label in a placeholder; undefined for an id. */
export function parseNewFieldId(id: string): string | undefined {
  return id.startsWith(newFieldPrefix) ? id.slice(newFieldPrefix.length) : undefined;
}
