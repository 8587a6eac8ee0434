/** The suppression list of the account that is meant, for every command that creates contacts. */
import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import type { Suppressions } from "../../suppressions/suppressions.ts";

/**
 * Opens the list of `ECM_SUPPRESSIONS`, else the account's own. Sends no request and needs no key.
 * @param mayBeMissing of `ECM_SUPPRESSIONS`: for the command that makes it
 * @throws SuppressionsError when it cannot be read: then nobody may be created
 */
export async function openSuppressionList(
  context: Context,
  { mayBeMissing = false } = {},
): Promise<Suppressions> {
  const { Suppressions, toSuppressionsPath } = await import("../../suppressions/suppressions.ts");
  const configuredFile = context.settings.suppressions;
  if (configuredFile !== undefined) return new Suppressions(resolve(configuredFile), !mayBeMissing);
  const { baseUrl } = await context.profile();
  return new Suppressions(toSuppressionsPath(context.folders.state, baseUrl.value));
}
