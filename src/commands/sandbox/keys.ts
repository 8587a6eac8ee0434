import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import type { KeyAdmin, KeyView } from "../../sandbox/key-admin.ts";
import type { View } from "../../terminal/present.ts";
import { addOutputFileFlags, repeatableOption } from "../flags/flags.ts";
import { parseTimestamp } from "../flags/times.ts";
import { declareLocal, localVerb } from "./shared.ts";

const keyView: View<KeyView> = {
  columns: [
    { name: "id", value: (key) => key._id, isWhole: true, isAside: true },
    { name: "name", value: (key) => key.name },
    { name: "key", value: (key) => key.key, isWhole: true },
    { name: "scopes", value: (key) => key.scopes.join(" ") },
    { name: "state", value: (key) => key.state },
    { name: "expires", value: (key) => key.expiresAt, isTime: true },
  ],
  id: (key) => key._id,
};
const oneKey = "The key, masked. Takes effect in a running sandbox at once.";
const wholeKey = "The key: _id, name, key, scopes, state. Shown only this once.";

export function registerSandboxKeys(parent: Command, context: Context): void {
  const group = parent.command("keys").description("the API keys of the sandbox's account");
  const creating = declareLocal(group, "create", "create a key")
    .argument("<name>", "unique in the account")
    .addOption(
      repeatableOption(
        "--scope <scope>",
        "a permission, such as contacts:write (repeatable)",
      ).makeOptionMandatory(),
    )
    .option("--expires <timestamp>", "when it stops working, such as 2027-01-31T12:00:00Z");
  localVerb(context, creating, {
    examples: ["ecm sandbox keys create ci --scope contacts:write --json"],
    output: wholeKey,
    exitCodes: { 6: "the name is in use" },
    view: keyView,
    act: ({ keys }, name, { scope: scopes, expires }) =>
      keys.create({ name, scopes, expiresAt: parseExpiry(expires) }),
  });
  localVerb(context, addOutputFileFlags(declareLocal(group, "list", "show the keys")), {
    examples: ["ecm sandbox keys list --json"],
    output: "One line per key, masked.",
    view: keyView,
    act: ({ keys }) => keys.list(),
  });
  const onKey = (name: string, description: string, { act, ...facts }: OnKey) =>
    localVerb(context, declareLocal(group, name, description).argument("<key>", "its name or id"), {
      ...facts,
      examples: [`ecm sandbox keys ${name} ci`],
      exitCodes: { 5: "no such key" },
      view: keyView,
      act: ({ keys }, key) => act(keys, keys.get(key)),
    });
  onKey("activate", "activate a key", { output: oneKey, act: (keys, { _id }) => keys.activate(_id) });
  onKey("deactivate", "deactivate a key", { output: oneKey, act: (keys, { _id }) => keys.deactivate(_id) });
  onKey("regenerate", "regenerate a key's value", {
    output: wholeKey,
    asks: true,
    async act(keys, { _id, name }) {
      await context.confirm(`Give the key ${name} a new value? The old one stops working at once.`);
      return keys.regenerate(_id);
    },
  });
  onKey("delete", "permanently delete a key", {
    output: "Nothing.",
    asks: true,
    async act(keys, { _id, name }) {
      await context.confirm(`Delete the key ${name}?`);
      keys.delete(_id);
      return undefined;
    },
  });
}

interface OnKey {
  output: string;
  asks?: true;
  act(keys: KeyAdmin, key: KeyView): Shown | Promise<Shown>;
}

type Shown = KeyView | undefined;

function parseExpiry(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = parseTimestamp(text);
  if (time !== undefined) return new Date(time);
  throw usageError(
    `--expires: ${JSON.stringify(text)} is not a time`,
    "Give a date, or a time with its zone, such as 2027-01-31T12:00:00Z",
  );
}
