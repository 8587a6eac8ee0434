import { appendFile, mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { Argument, type Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { writeAtomically } from "../../disk/atomic-file.ts";
import { describeDiskError } from "../../disk/disk-errors.ts";
import { readTextIfThere } from "../../disk/walk.ts";
import { usageError } from "../../errors.ts";
import { advise, ecm, quoteShellWord } from "../../hint.ts";
import type { CommandTree } from "../help/tree.ts";
import { verb } from "../verb.ts";

export function register(command: Command, context: Context, tree: CommandTree): void {
  const completing = command
    .addArgument(
      new Argument("<shell>", "the shell to complete in").choices(["bash", "zsh", "fish", "powershell"]),
    )
    .option(
      "--install",
      "install the script, and the manual, where your shell and man find them (bash, zsh, fish)",
    );
  verb(context, completing, {
    isLocal: true,
    examples: [
      "ecm completion bash --install",
      'eval "$(ecm completion bash)"',
      "ecm completion powershell | Out-String | Invoke-Expression",
    ],
    output: "A script for the shell. Completions never wait for the network. With --install nothing.",
    async run(shell, { install: isInstalled }) {
      const { terminal } = context;
      const { completionScript } = await import("./scripts.ts");
      const script = completionScript(shell);
      if (!isInstalled) return terminal.write(script);
      const written = await install(context, tree, shell, script);
      for (const what of written) terminal.note(`wrote ${what}`);
      terminal.note(
        written.length === 0
          ? "Unchanged: it is installed already"
          : `Completions work in every new ${shell} session`,
      );
    },
  });
}

/** Writes what is missing. @returns what was written @throws UsageError */
async function install(
  { terminal, platform }: Context,
  tree: CommandTree,
  shell: string,
  script: string,
): Promise<string[]> {
  const { file, startup } = findPlaces(shell, terminal.env, platform);
  const folder = join(findDataFolder(terminal.env), "man/man1");
  for (const place of [file, startup?.file ?? file, folder]) requireAbsolute(place);
  const written: string[] = [];
  if (await replaceFile(file, script)) written.push(`the script: ${file}`);
  if (startup && (await addLine(startup))) written.push(`the line that reads it: ${startup.file}`);
  const { writeManual } = await import("../help/manual-pages.ts");
  await tree.loadAll();
  let pages = 0;
  for (const [name, text] of Object.entries(writeManual(tree.root)))
    if (await replaceFile(join(folder, `${name}.1`), text)) pages++;
  if (pages > 0) written.push(`the manual, ${formatCounted(pages, "page")}: ${folder} (man ecm)`);
  return written;
}

// The script is a file of its own; bash and zsh also need a line in their startup file.

interface InstallPlaces {
  /** The file of the script. */
  file: string;
  /** The startup file of the shell, and the line in it that reads the script. */
  startup?: { file: string; line: string };
}

type ShellEnvironment = Readonly<Record<string, string | undefined>>;

/** A variable may hold a relative path. @throws UsageError */
function requireAbsolute(place: string): void {
  if (isAbsolute(place)) return;
  throw usageError(
    `${place} would be below the current folder`,
    "Set HOME, XDG_DATA_HOME, XDG_CONFIG_HOME, BASH_COMPLETION_USER_DIR and ZDOTDIR to absolute paths, or unset them",
  );
}

const findHome = ({ HOME = homedir() }: ShellEnvironment): string => HOME;

function findDataFolder(env: ShellEnvironment): string {
  return env.XDG_DATA_HOME || join(findHome(env), ".local/share");
}

/** @param platform as Node names it. @throws UsageError for PowerShell, whose places are not known */
function findPlaces(shell: string, env: ShellEnvironment, platform: string): InstallPlaces {
  const home = findHome(env);
  const data = findDataFolder(env);
  if (shell === "fish") {
    return { file: join(env.XDG_CONFIG_HOME || join(home, ".config"), "fish/completions/ecm.fish") };
  }
  if (shell === "bash") {
    const folder = env.BASH_COMPLETION_USER_DIR || join(data, "bash-completion");
    const file = join(folder, "completions/ecm");
    const path = quoteShellWord(file);
    // Terminals on macOS start login shells, which do not read .bashrc.
    const startup = join(home, platform === "darwin" ? ".bash_profile" : ".bashrc");
    return { file, startup: { file: startup, line: `[ -r ${path} ] && . ${path}` } };
  }
  if (shell === "zsh") {
    const file = join(data, "zsh/site-functions/_ecm");
    const path = quoteShellWord(file);
    const compinit = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }";
    const line = `[[ -r ${path} ]] && { ${compinit}; source ${path}; }`;
    return { file, startup: { file: join(env.ZDOTDIR || home, ".zshrc"), line } };
  }
  throw usageError(
    `--install: cannot find the profile of ${shell}`,
    "Add this line to the file that $PROFILE names: ecm completion powershell | Out-String | Invoke-Expression",
  );
}

/** @returns whether the file was new or changed */
async function replaceFile(file: string, text: string): Promise<boolean> {
  if ((await inPlace(file, () => readTextIfThere(file))) === text) return false;
  await inPlace(file, async () => {
    await mkdir(dirname(file), { recursive: true });
    writeAtomically(file, text, 0o644);
  });
  return true;
}

/** Appends the line to a file of the user. @returns whether the line was missing */
async function addLine({ file, line }: { file: string; line: string }): Promise<boolean> {
  const text = (await inPlace(file, () => readTextIfThere(file))) ?? "";
  if (text.split("\n").includes(line)) return false;
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  await inPlace(file, () => appendFile(file, `${gap}# completions of ecm\n${line}\n`));
  return true;
}

/** @throws UsageError naming the folder, where the system refuses */
function inPlace<T>(file: string, act: () => Promise<T>): Promise<T> {
  return act().catch((error) => {
    throw usageError(
      `Cannot install into ${dirname(file)}: ${describeDiskError(error)}`,
      advise`Make the folder writable, or write the script into a file of your own: ${ecm`completion SHELL`}`,
    );
  });
}
