/** Fields that an import creates before its first write. Until they exist, a placeholder is used as their id. */

export interface NewField {
  label: string;
  /** In the service's terms, such as `text`. */
  dataType: string;
}

/** No id holds a blank. */
const start = "new field ";

/** The placeholder for the id of a field that does not exist yet. */
export function newFieldId(label: string): string {
  return `${start}${label}`;
}

/** The label in a placeholder; undefined for an id. */
export function newFieldLabel(id: string): string | undefined {
  return id.startsWith(start) ? id.slice(start.length) : undefined;
}
