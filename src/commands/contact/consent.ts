import type { Command } from "commander";
import type { Admission } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { NotFoundError, UsageError } from "../../errors.ts";
import { ecm } from "../../hint.ts";
import { presentList, type View } from "../../terminal/present.ts";
import { consentText } from "../shared/bulk/consent-text.ts";
import { describeCommand } from "../shared/help-text.ts";

const view: View<Admission> = {
  id: ({ run }) => run,
  columns: [
    { name: "key", value: ({ key }) => key, isWhole: true },
    { name: "created", value: ({ startedAt }) => startedAt, isTime: true },
    { name: "input", value: ({ input }) => input },
    { name: "line", value: ({ consent }) => consent && String(consent.line) },
    { name: "consent", value: ({ consent }) => wordsFor(consent), isWhole: true },
    { name: "run", value: ({ run }) => run, isWhole: true },
  ],
};

export function registerContactConsent(parent: Command, context: Context): void {
  const command = parent
    .command("consent")
    .description("show why a contact was created: what the input said of their consent")
    .argument("<key>", "the contact's key")
    .action((key: string) => runContactConsent(context, key));
  describeCommand(command, {
    isLocal: true,
    examples: ["ecm contact consent ada@example.com", "ecm contact consent ada@example.com --json"],
    output:
      "A line for each run of this machine that created the contact: { run, kind, startedAt, baseUrl, input, key, contactId, consent }. consent has the columns with what they say, the flags that overrode them, the input's digest and line.",
    exitCodes: { 5: "no run of this machine created the contact" },
  });
}

async function runContactConsent(context: Context, key: string): Promise<void> {
  if (key.trim() === "") throw new UsageError("A contact needs a key", ecm`contact consent KEY`);
  const output = context.output();
  const { findAdmissions } = await import("../../bulk/index.ts");
  const found = await findAdmissions(context.folders.state, key, ({ message }) =>
    context.terminal.warn(message),
  );
  if (found.length === 0) {
    throw new NotFoundError(
      `No run of this machine created a contact with the key ${JSON.stringify(key)}`,
      "Runs are kept until they are removed; a person who was erased is in none",
    );
  }
  await presentList(context.terminal, output, found, view);
}

function wordsFor(consent: Admission["consent"]): string {
  return consent ? consentText(consent) : "not recorded";
}
