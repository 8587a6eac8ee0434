/**
 * Values that no two people share, such as a customer number: whether somebody who would be created is known
 * under another key, and inactive. Pure.
 */
import { isInactive } from "../../api/contacts.ts";
import { UsageError } from "../../errors.ts";
import type { Contact, ContactStructure, FieldDefinition } from "../../wire.ts";
import type { DesiredContact, InactiveMatch } from "../items.ts";
import { toFieldValues } from "../plan/decide.ts";
import { findField } from "../read/columns/targets.ts";
import { foldName } from "../read/names.ts";

export type UniqueField = Pick<FieldDefinition, "_id" | "label">;

/** The fields that `--unique` names. @throws UsageError for one that does not exist */
export function findUniqueFields(names: readonly string[], structure: ContactStructure): UniqueField[] {
  return names.map((name) => {
    const field = findField(name, structure);
    if (field) return field;
    throw new UsageError(
      `--unique: there is no field ${JSON.stringify(name)}`,
      `Fields: ${structure.fields.map(({ label }) => JSON.stringify(label)).join(", ")}`,
    );
  });
}

export class UniqueValues {
  private readonly fields: readonly UniqueField[];
  /** Field id and value → the key of an inactive contact. */
  private readonly held = new Map<string, string>();

  constructor(fields: readonly UniqueField[]) {
    this.fields = fields;
  }

  add(contact: Partial<Contact>): void {
    if (!isInactive(contact)) return;
    const values = toFieldValues(contact);
    for (const { _id } of this.fields) {
      const value = values.get(_id);
      if (value?.trim()) this.held.set(toEntry(_id, value), contact.key ?? contact._id ?? "");
    }
  }

  find(desired: DesiredContact | undefined): InactiveMatch | undefined {
    for (const { _id, label } of this.fields) {
      const value = desired?.fields.get(_id);
      const inactive = value?.trim() ? this.held.get(toEntry(_id, value)) : undefined;
      if (value && inactive !== undefined) return { field: label, value, inactive };
    }
    return undefined;
  }
}

/** Blanks around a value and its letter case make it no other one. */
function toEntry(fieldId: string, value: string): string {
  return `${fieldId} ${foldName(value)}`;
}
