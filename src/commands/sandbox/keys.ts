import { type Command, Option } from "commander";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import type { KeyView, Owner } from "../../sandbox/owner.ts";
import { presentList, presentOne, type View } from "../../terminal/present.ts";
import { type DataFlag, dataOption, sandboxFolder } from "./flags.ts";

interface CreateFlags extends DataFlag {
  scope: string[];
  expires?: string;
}

const keyView: View<KeyView> = {
  columns: [
    { name: "id", value: (key) => key._id },
    { name: "name", value: (key) => key.name },
    { name: "key", value: (key) => key.key },
    { name: "scopes", value: (key) => key.scopes.join(" ") },
    { name: "state", value: (key) => key.state },
    { name: "expires", value: (key) => key.expiresAt },
  ],
  id: (key) => key._id,
};

export function registerSandboxKeys(parent: Command, context: Context): void {
  const keys = parent.command("keys").description("the API keys of the sandbox's account");
  const verb = (name: string, description: string) =>
    keys.command(name).description(description).addOption(dataOption());
  const named = (name: string, description: string) =>
    verb(name, description).argument("<key>", "its name or id");

  verb("create", "make a key; it is shown whole this once")
    .argument("<name>", "unique in the account")
    .addOption(
      new Option("--scope <scope>", "what it may do, such as contacts:write; repeatable")
        .argParser((scope: string, before: string[] = []) => [...before, scope])
        .makeOptionMandatory(),
    )
    .option("--expires <timestamp>", "when it stops working, such as 2027-01-31T12:00:00Z")
    .addHelpText("after", "\nExample:\n  ecm sandbox keys create ci --scope contacts:write --json")
    .action((name: string, flags: CreateFlags) =>
      show(context, flags, (owner) =>
        owner.createKey({ name, scopes: flags.scope, expiresAt: timestamp(flags.expires) }),
      ),
    );
  verb("list", "show the keys, covered").action((flags: DataFlag) =>
    withOwner(context, flags, async (owner) => {
      await presentList(context.terminal, context.output(), owner.listKeys(), keyView);
    }),
  );
  named("activate", "let a key work again").action((key: string, flags: DataFlag) =>
    show(context, flags, (owner) => owner.activateKey(key)),
  );
  named("deactivate", "stop a key until it is activated").action((key: string, flags: DataFlag) =>
    show(context, flags, (owner) => owner.deactivateKey(key)),
  );
  named("regenerate", "give a key a new value; the old one is worthless then").action(
    (key: string, flags: DataFlag) =>
      show(context, flags, async (owner) => {
        const { _id, name } = owner.key(key);
        await context.confirm(`Give the key ${name} a new value? The old one stops working at once.`);
        return owner.regenerateKey(_id);
      }),
  );
  named("delete", "delete a key for good").action((key: string, flags: DataFlag) =>
    withOwner(context, flags, async (owner) => {
      const { _id, name } = owner.key(key);
      await context.confirm(`Delete the key ${name}?`);
      owner.deleteKey(_id);
    }),
  );
}

/** Opens the account for its owner, acts, and closes it again. */
export async function withOwner<T>(
  context: Context,
  flags: DataFlag,
  act: (owner: Owner) => T | Promise<T>,
): Promise<T> {
  const { openOwner } = await import("../../sandbox/owner.ts");
  const owner = await openOwner({ folder: sandboxFolder(context, flags), clock: context.clock });
  try {
    return await act(owner);
  } finally {
    owner.close();
  }
}

async function show(
  context: Context,
  flags: DataFlag,
  act: (owner: Owner) => KeyView | Promise<KeyView>,
): Promise<void> {
  const key = await withOwner(context, flags, act);
  await presentOne(context.terminal, context.output(), key, keyView);
}

function timestamp(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const isTimestamp = /^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d))?$/.test(text);
  const date = new Date(text);
  if (isTimestamp && !Number.isNaN(date.getTime())) return date;
  throw new UsageError(
    `--expires: ${JSON.stringify(text)} is not a time`,
    "give a date, or a time with its zone, such as 2027-01-31T12:00:00Z",
  );
}
