/** The flags that name changes, or `--data`, → the request that makes them on a contact. */

import { mutateContactRequest } from "../../../api/contacts.ts";
import type { Connection, Context } from "../../../context.ts";
import { usageError } from "../../../errors.ts";
import {
  createMutateBody,
  type RequestedChanges,
  splitAssignment,
} from "../../../service/contact-changes.ts";
import { readJsonInput } from "../../../terminal/data-input.ts";
import type { ApiRequest, MutateBody } from "../../../wire.ts";

/** From a contact's id to the request that changes it. */
export type ContactChange = (contactId: string) => ApiRequest;

/** What is wrong with the flags is said before anything is opened or sent. */
export async function toChange(
  context: Context,
  options: RequestedChanges & { data?: string },
): Promise<(connection: Connection) => Promise<ContactChange>> {
  const { data, addTag, removeTag, addList, removeList, set, ifVersion } = options;
  const changes = { addTag, removeTag, addList, removeList, set, ifVersion };
  if (data === undefined) {
    set?.forEach(splitAssignment);
    return async ({ account }) => {
      const body = await createMutateBody(account, changes);
      return (id) => mutateContactRequest(id, body);
    };
  }
  if (Object.values(changes).some((value) => value !== undefined)) {
    throw usageError("--data is the whole body and cannot be used with flags that name changes");
  }
  const { text, value } = await readJsonInput(context, data, "--data");
  return async () => (id) => ({ ...mutateContactRequest(id, value as MutateBody), rawBody: text });
}
