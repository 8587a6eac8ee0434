/** People as they are named for an erasure or a dossier: by their keys, which may be spelled in several ways. */
import { isId } from "../../../api/names.ts";
import type { Context } from "../../../context.ts";
import { usageError } from "../../../errors.ts";
import { advise, ecm, type Hint } from "../../../hint.ts";
import { requireAddresses } from "../../selection/typed-keys.ts";

/** Each person once, in the spellings that the account may hold. @throws UsageError */
export async function readPeople(context: Context, typedKeys: string[], usage: Hint): Promise<string[][]> {
  if (typedKeys.length === 0) throw usageError("The contact's key is missing", advise`Name it: ${usage}`);
  await requireAddresses(context, typedKeys);
  const { toPersonIdentity, listSpellings } = await import("../../../api/key-spelling.ts");
  const people = new Map<string, string[]>();
  for (const word of typedKeys) {
    const key = word.trim();
    if (key.length < 3 || isId(key)) {
      throw usageError(
        `${JSON.stringify(word)} is not the key of a contact`,
        advise`Name the contact by its key, such as an email address. To see the key: ${ecm`contact get ID`}`,
      );
    }
    people.set(toPersonIdentity(key), listSpellings(key));
  }
  return [...people.values()];
}
