/** The one rule for a word that is typed as a contact's key, for every command that takes keys. */
import { existsSync } from "node:fs";
import { isAddressLike } from "../../api/key-spelling.ts";
import { isEmailKey } from "../../api/structures.ts";
import type { Context } from "../../context.ts";
import { EcmError, usageError } from "../../errors.ts";

/**
 * The name of a file is no key: nobody is looked for, changed or suppressed under it.
 * @param flag that takes a file of keys; undefined where the command has none
 * @throws UsageError before a request
 */
export function requireNoFile(words: readonly string[], flag: string | undefined = "--keys"): void {
  const file = words.find((word) => !isAddressLike(word) && word.trim() !== "" && existsSync(word));
  if (file === undefined) return;
  throw usageError(
    `${JSON.stringify(file)} is a file, not the key of a contact`,
    flag === undefined
      ? "Name each person by one key, such as ada@example.com"
      : `For the keys in it: ${flag} FILE`,
  );
}

/**
 * For commands that remember a key, or delete what has it: where the account's keys are addresses, nothing else
 * is one. The account is asked only for a word that is no address.
 * @throws UsageError
 */
export async function requireAddresses(context: Context, words: readonly string[]): Promise<void> {
  requireNoFile(words);
  const other = words.find((word) => !isAddressLike(word));
  if (other === undefined || !(await areKeysAddresses(context))) return;
  throw usageError(
    `${JSON.stringify(other)} is not an email address, and the account's keys are email addresses`,
    "Name each person by their address, such as ada@example.com",
  );
}

/** True too where the account cannot be asked: most are so. */
export async function areKeysAddresses(context: Context): Promise<boolean> {
  try {
    const { account } = await context.connect();
    const { keyType } = await account.withRemembered("read", () => account.structure());
    return isEmailKey(keyType);
  } catch (error) {
    if (error instanceof EcmError) return true;
    throw error;
  }
}
