/** The flags that name changes, or `--data`, → the request that makes them on a contact. */
import type { Connection, Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { mutateBody, splitAssignment, type WantedChanges } from "../../service/contact-changes.ts";
import { mutateContactRequest } from "../../service/contacts.ts";
import { readJsonInput } from "../../terminal/data-input.ts";
import type { ApiRequest, MutateBody } from "../../wire.ts";

/** From a contact's id to the request that changes it. */
export type Change = (contactId: string) => ApiRequest;

/** What is wrong with the flags is said before anything is opened or sent. */
export async function changeFrom(
  context: Context,
  options: WantedChanges & { data?: string },
): Promise<(connection: Connection) => Promise<Change>> {
  const { data, addTag, removeTag, addList, removeList, set, ifVersion } = options;
  const wanted = { addTag, removeTag, addList, removeList, set, ifVersion };
  if (data === undefined) {
    set?.forEach(splitAssignment);
    return async ({ account }) => {
      const body = await mutateBody(account, wanted);
      return (id) => mutateContactRequest(id, body);
    };
  }
  if (Object.values(wanted).some((value) => value !== undefined)) {
    throw new UsageError("--data is the whole body and cannot be used with flags that name changes");
  }
  const { text, value } = await readJsonInput(context.terminal, data, "--data");
  return async () => (id) => ({ ...mutateContactRequest(id, value as MutateBody), rawBody: text });
}
