import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import type { KeyView, Owner } from "../../sandbox/admin.ts";
import { presentList, presentOne, type View } from "../../terminal/present.ts";
import { repeatable } from "../flags.ts";
import { describeCommand } from "../help-text.ts";
import { type DataFlag, dataOption, withOwner } from "./flags.ts";

interface CreateFlags extends DataFlag {
  scope: string[];
  expires?: string;
}

const keyView: View<KeyView> = {
  columns: [
    { name: "id", value: (key) => key._id, isWhole: true, isAside: true },
    { name: "name", value: (key) => key.name },
    { name: "key", value: (key) => key.key },
    { name: "scopes", value: (key) => key.scopes.join(" ") },
    { name: "state", value: (key) => key.state },
    { name: "expires", value: (key) => key.expiresAt },
  ],
  id: (key) => key._id,
};
const oneKey = "The key, masked. Takes effect in a running sandbox at once.";
const wholeKey = "The key: _id, name, key, scopes, state. Shown only this once.";

export function registerSandboxKeys(parent: Command, context: Context): void {
  const keys = parent.command("keys").description("the API keys of the sandbox's account");
  const verb = (name: string, description: string, output: string, ...examples: string[]) =>
    describeCommand(keys.command(name).description(description).addOption(dataOption()), {
      isLocal: true,
      examples: examples.map((words) => `ecm sandbox keys ${name}${words}`),
      output,
      asks: name === "delete" || name === "regenerate" ? true : undefined,
      exitCodes:
        name === "create" ? { 6: "the name is in use" } : name === "list" ? {} : { 5: "no such key" },
    });
  const onKey = (name: string, description: string, output: string, act: Act) =>
    verb(name, description, output, " ci")
      .argument("<key>", "its name or id")
      .action((key: string, flags: DataFlag) => run(context, flags, (owner) => act(owner, owner.key(key))));

  verb("create", "create a key", wholeKey, " ci --scope contacts:write --json")
    .argument("<name>", "unique in the account")
    .addOption(
      repeatable(
        "--scope <scope>",
        "a permission, such as contacts:write (repeatable)",
      ).makeOptionMandatory(),
    )
    .option("--expires <timestamp>", "when it stops working, such as 2027-01-31T12:00:00Z")
    .action((name: string, flags: CreateFlags) =>
      run(context, flags, (owner) =>
        owner.createKey({ name, scopes: flags.scope, expiresAt: timestamp(flags.expires) }),
      ),
    );
  verb("list", "show the keys", "One line per key, masked.", " --json").action((flags: DataFlag) =>
    withOwner(context, flags, async (owner) => {
      await presentList(context.terminal, context.output(), owner.listKeys(), keyView);
    }),
  );
  onKey("activate", "activate a key", oneKey, (owner, { _id }) => owner.activateKey(_id));
  onKey("deactivate", "deactivate a key", oneKey, (owner, { _id }) => owner.deactivateKey(_id));
  onKey("regenerate", "regenerate a key's value", wholeKey, async (owner, { _id, name }) => {
    await context.confirm(`Give the key ${name} a new value? The old one stops working at once.`);
    return owner.regenerateKey(_id);
  });
  onKey("delete", "permanently delete a key", "Nothing.", async (owner, { _id, name }) => {
    await context.confirm(`Delete the key ${name}?`);
    owner.deleteKey(_id);
    return undefined;
  });
}

type Shown = KeyView | undefined;
type Act = (owner: Owner, key: KeyView) => Shown | Promise<Shown>;

/** Acts as the owner, and shows the key that comes of it. */
async function run(
  context: Context,
  flags: DataFlag,
  act: (owner: Owner) => Shown | Promise<Shown>,
): Promise<void> {
  const key = await withOwner(context, flags, act);
  if (key) await presentOne(context.terminal, context.output(), key, keyView);
}

function timestamp(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const isTimestamp = /^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d))?$/.test(text);
  const date = new Date(text);
  if (isTimestamp && !Number.isNaN(date.getTime()) && isDay(text.slice(0, 10))) return date;
  throw new UsageError(
    `--expires: ${JSON.stringify(text)} is not a time`,
    "Give a date, or a time with its zone, such as 2027-01-31T12:00:00Z",
  );
}

/** The 30th of February is none, although it is read as a day of March. */
function isDay(text: string): boolean {
  return new Date(text).toISOString().startsWith(text);
}
