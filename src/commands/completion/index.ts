import { Argument, type Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { presentValue } from "../../terminal/present.ts";
import { describeCommand } from "../help/help-text.ts";
import type { CommandTree } from "../help/tree.ts";

export function registerCompletion(command: Command, context: Context, tree: CommandTree): void {
  command
    .addArgument(
      new Argument("<shell>", "the shell to complete in").choices(["bash", "zsh", "fish", "powershell"]),
    )
    .option(
      "--install",
      "install the script, and the manual, where your shell and man find them (bash, zsh, fish)",
    )
    .option("--dry-run", "with --install: show what would be written")
    .action((shell, options) => runCompletion(context, tree, shell, options));
  describeCommand(command, {
    isLocal: true,
    examples: [
      "ecm completion bash --install",
      "ecm completion zsh --install --dry-run",
      'eval "$(ecm completion bash)"',
      "ecm completion powershell | Out-String | Invoke-Expression",
    ],
    output:
      "A script for the shell. Completions never wait for the network. With --install nothing; in JSON formats the files.",
  });
}

async function runCompletion(
  context: Context,
  tree: CommandTree,
  shell: string,
  options: { install?: boolean; dryRun?: boolean },
): Promise<void> {
  const { completionScript } = await import("./scripts.ts");
  const script = completionScript(shell);
  if (!options.install) return context.terminal.write(script);
  const { install, installManual, findManFolder, findPlaces } = await import("./install.ts");
  const places = findPlaces(shell, context.terminal.env, context.platform);
  const written = await install(places, script, options.dryRun ?? false);
  const { terminal } = context;
  const would = options.dryRun ? "would write" : "wrote";
  for (const { file, what } of written) terminal.note(`${would} ${what}: ${file}`);
  if (written.length === 0) terminal.note(`unchanged: ${places.file}`);
  else if (!options.dryRun) terminal.note(`Completions work in every new ${shell} session`);
  const { writeManual } = await import("../manual-pages.ts");
  await tree.loadAll();
  const manual = findManFolder(terminal.env);
  const pages = await installManual(manual, writeManual(tree.root), options.dryRun ?? false);
  if (pages > 0) terminal.note(`${would} the manual, ${formatCounted(pages, "page")}: ${manual} (man ecm)`);
  await presentValue(
    terminal,
    context.output(),
    { shell, ...places, written: written.map(({ file }) => file), manual },
    "",
  );
}
