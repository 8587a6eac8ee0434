/** What one contact shows of how the service writes: it is created, changed and deleted. */

import {
  createContactRequest,
  createEquals,
  createFilter,
  deleteContactRequest,
  mutateContactRequest,
} from "../api/contacts.ts";
import { EcmError, exitCodes, hasStatus } from "../errors.ts";
import { advise, ecm } from "../hint.ts";
import type { Contact, ContactStructure, Criteria, MutateBody, Send } from "../wire.ts";
import { createBehavior } from "./behavior.ts";
import { hasReferences, setElementForm } from "./contact-changes.ts";
import type { ProbeOptions } from "./probe.ts";
import { type ProbeState, search } from "./probe-asking.ts";
import { type DetectedVariants, learnDetected } from "./probe-seen.ts";

/** The contact that `--write` makes, in an address space that belongs to nobody. */
export function createProbeContact(structure: ContactStructure, random: string) {
  return { key: `ecm-probe-${random}@example.com`, contactStructureId: structure._id };
}

/** How long a search may take to show a new contact before that is left open, in milliseconds. */
const lagPausesMilliseconds = [250, 750, 1500, 2500];

/**
 * Creates, changes and deletes one contact.
 * @throws with a hint that names the contact when it could not be deleted
 */
export async function probeWrites(
  { send, behavior, structure, clock }: ProbeOptions,
  body: ReturnType<typeof createProbeContact>,
): Promise<DetectedVariants> {
  const seen: DetectedVariants = {};
  const created = await send<Partial<Contact> | undefined>(createContactRequest(body));
  const since = clock.now();
  const asking: ProbeState = { send, structureId: structure._id, behavior: createBehavior(behavior.known) };
  const found = await measureLag(asking, body.key, clock, created.body?._id);
  const id = created.body?._id ?? found;
  if (found !== undefined) seen["search-lag"] = roundLag(clock.now() - since);
  if (id === undefined) {
    throw new EcmError(
      exitCodes.failed,
      "The service created a contact, but neither its answer nor a search says its id",
      {
        hint: `Delete it by hand: ${body.key}`,
        applied: "yes",
      },
    );
  }
  try {
    await probeMutate(send, structure, id, seen);
  } finally {
    await send(deleteContactRequest(id)).catch((error: unknown) => {
      if (error instanceof EcmError)
        error.details.hint = advise`The probe's test contact was not deleted. Delete it with: ${ecm`contact delete ${id}`}`;
      throw error;
    });
  }
  learnDetected(behavior, seen);
  return seen;
}

/** What is shown with the first search was shown at once. */
function roundLag(milliseconds: number): number {
  return milliseconds < lagPausesMilliseconds[0]! ? 0 : Math.round(milliseconds);
}

async function measureLag(
  asking: ProbeState,
  key: string,
  clock: ProbeOptions["clock"],
  id: string | undefined,
): Promise<string | undefined> {
  const criteria: Criteria = createEquals("KEY", [key]);
  for (const pause of [0, ...lagPausesMilliseconds]) {
    if (pause > 0) await clock.sleep(pause);
    const { contacts } = await search(asking, createFilter(criteria), 10);
    const found = contacts.find((contact) => contact.key === key);
    if (found) return found._id ?? id;
  }
  return undefined;
}

async function probeMutate(
  send: Send,
  structure: ContactStructure,
  id: string,
  seen: DetectedVariants,
): Promise<void> {
  const [tag] = structure.tags ?? [];
  const [field] = structure.fields.filter(({ dataType }) => dataType === "text");
  const body: MutateBody = tag
    ? { addTags: [{ _id: tag._id }] }
    : { updateFields: field ? [{ _id: field._id, value: "probe" }] : [] };
  let form: "object" | "id" = "object";
  const mutate = () => send<unknown>(mutateContactRequest(id, setElementForm(body, form)));
  const answer = await mutate().catch((error: unknown) => {
    if (!hasStatus(error, 400) || !hasReferences(body)) throw error;
    form = "id";
    return mutate();
  });
  if (hasReferences(body)) seen["mutate-elements"] = form;
  const text = answer.body as Partial<Contact> | null | undefined;
  seen["mutate-answer"] =
    text === undefined || text === null ? "empty" : text._id === id ? "contact" : "other";
  await mutate().then(
    () => undefined,
    (error: unknown) => {
      if (!hasStatus(error, 400)) throw error;
      seen.noop = error.type;
    },
  );
}
