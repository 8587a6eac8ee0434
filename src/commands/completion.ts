import { Argument, type Command } from "commander";
import type { Context } from "../context.ts";
import { describeCommand } from "./help-text.ts";

export function registerCompletion(command: Command, context: Context): void {
  command
    .addArgument(
      new Argument("<shell>", "the shell to complete in").choices(["bash", "zsh", "fish", "powershell"]),
    )
    .action(async (shell: string) => {
      const { completionScript } = await import("../terminal/completion-scripts.ts");
      await context.terminal.write(completionScript(shell));
    });
  describeCommand(command, {
    isLocal: true,
    examples: [
      'eval "$(ecm completion bash)"',
      "ecm completion zsh > ~/.zfunc/_ecm",
      "ecm completion fish > ~/.config/fish/completions/ecm.fish",
      "ecm completion powershell | Out-String | Invoke-Expression",
    ],
    output: "A script for the shell. It asks ecm what fits, and never waits for the network.",
  });
}
