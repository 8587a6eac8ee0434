import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import type { KeyAdmin, KeyView } from "../../sandbox/key-admin.ts";
import type { View } from "../../terminal/present.ts";
import { repeatableOption } from "../flags/flags.ts";
import { parseTimestamp } from "../flags/times.ts";
import { actsOn, addLocalVerb } from "./shared.ts";

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
  const isFinal = (name: string) => name === "delete" || name === "regenerate";
  const verb = (name: string, description: string, output: string, ...examples: string[]) =>
    addLocalVerb(group, {
      name,
      description,
      examples: examples.map((words) => `ecm sandbox keys ${name}${words}`),
      output,
      asks: isFinal(name) ? true : undefined,
      exitCodes:
        name === "create" ? { 6: "the name is in use" } : name === "list" ? {} : { 5: "no such key" },
    });
  const onKey = (name: string, description: string, output: string, act: Act) =>
    verb(name, description, output, " ci")
      .argument("<key>", "its name or id")
      .action(actsOn(context, keyView, ({ keys }, key) => act(keys, keys.get(key))));

  verb("create", "create a key", wholeKey, " ci --scope contacts:write --json")
    .argument("<name>", "unique in the account")
    .addOption(
      repeatableOption(
        "--scope <scope>",
        "a permission, such as contacts:write (repeatable)",
      ).makeOptionMandatory(),
    )
    .option("--expires <timestamp>", "when it stops working, such as 2027-01-31T12:00:00Z")
    .action(
      actsOn(context, keyView, ({ keys }, name, { scope: scopes, expires }) =>
        keys.create({ name, scopes, expiresAt: parseExpiry(expires) }),
      ),
    );
  verb("list", "show the keys", "One line per key, masked.", " --json").action(
    actsOn(context, keyView, ({ keys }) => keys.list()),
  );
  onKey("activate", "activate a key", oneKey, (keys, { _id }) => keys.activate(_id));
  onKey("deactivate", "deactivate a key", oneKey, (keys, { _id }) => keys.deactivate(_id));
  onKey("regenerate", "regenerate a key's value", wholeKey, async (keys, { _id, name }) => {
    await context.confirm(`Give the key ${name} a new value? The old one stops working at once.`);
    return keys.regenerate(_id);
  });
  onKey("delete", "permanently delete a key", "Nothing.", async (keys, { _id, name }) => {
    await context.confirm(`Delete the key ${name}?`);
    keys.delete(_id);
    return undefined;
  });
}

type Shown = KeyView | undefined;
type Act = (keys: KeyAdmin, key: KeyView) => Shown | Promise<Shown>;

function parseExpiry(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = parseTimestamp(text);
  if (time !== undefined) return new Date(time);
  throw usageError(
    `--expires: ${JSON.stringify(text)} is not a time`,
    "Give a date, or a time with its zone, such as 2027-01-31T12:00:00Z",
  );
}
