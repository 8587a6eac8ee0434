/** The account that a run belongs to, and how a command comes to work on it. */
import type { Manifest } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import { advise, ecm, type ShownCommand } from "../../hint.ts";
import { addFlagsToCommand } from "../help/command-line.ts";

/**
 * A command on a run, for its account: with the profile that it was made with, or one of its address, unless
 * the command that was typed works on that account already.
 * @param command such as `ecm runs resume 20261121-1402-3fa9c1`
 */
export async function commandOnRun(
  context: Context,
  { baseUrl, profile }: Pick<Manifest["account"], "baseUrl" | "profile">,
  command: ShownCommand,
): Promise<ShownCommand> {
  const now = await context.profile().catch(() => undefined);
  const isSameProfile = profile === undefined || profile === now?.name?.value;
  // Accounts may share an address.
  if (now?.baseUrl.value === baseUrl && isSameProfile) return addFlagsToCommand(command, context.settings);
  const name = profile ?? (await findProfile(context, baseUrl));
  const flag = name === undefined ? ["--base-url", baseUrl] : ["--profile", name];
  return { words: [...flag, ...command.words] };
}

async function findProfile(context: Context, baseUrl: string): Promise<string | undefined> {
  const profiles = await context.profiles().catch(() => undefined);
  return profiles?.names().find((name) => profiles.get(name)?.baseUrl === baseUrl);
}

/**
 * @param command that was typed
 * @throws UsageError when the run belongs to another account than the one that is open
 */
export async function requireSameAccount(
  context: Context,
  { id, account }: Manifest,
  command: string,
): Promise<void> {
  const { baseUrl } = await context.profile();
  if (account.baseUrl === baseUrl.value) return;
  throw usageError(
    `Run ${id} belongs to ${account.baseUrl}, and this is ${baseUrl.value}`,
    advise`Select that account: ${await commandOnRun(context, account, ecm`${command.split(" ")} ${id}`)}`,
  );
}
