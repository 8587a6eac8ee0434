import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { Argument, type Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
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
  const places = findPlaces(shell, context.terminal.env, context.platform);
  const written = await install(places, script, options.dryRun ?? false);
  const { terminal } = context;
  const would = options.dryRun ? "would write" : "wrote";
  for (const { file, what } of written) terminal.note(`${would} ${what}: ${file}`);
  if (written.length === 0) terminal.note(`unchanged: ${places.file}`);
  else if (!options.dryRun) terminal.note(`Completions work in every new ${shell} session`);
  const { writeManual } = await import("../help/manual-pages.ts");
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

// The script where its shell finds it: one file, and for bash and zsh one line in what they read first.

interface InstallPlaces {
  /** The script's. */
  file: string;
  /**
   * What the shell reads when it starts, and the line there that reads
   * the script; absent where the shell needs none.
   */
  startup?: { file: string; line: string };
}

/** Where `man` looks for pages of one user. */
function findManFolder(env: ShellEnvironment): string {
  return join(env.XDG_DATA_HOME || join(env.HOME || homedir(), ".local/share"), "man/man1");
}

/**
 * Puts the pages of the manual there.
 * @param pages by name, without the section
 * @returns how many were not there yet, or were others
 * @throws UsageError naming the file that cannot be read or written
 */
async function installManual(
  folder: string,
  pages: Readonly<Record<string, string>>,
  isDryRun: boolean,
): Promise<number> {
  let count = 0;
  for (const [name, text] of Object.entries(pages)) {
    const file = join(folder, `${name}.1`);
    if ((await readTextIfPresent(file)) === text) continue;
    count++;
    if (!isDryRun) await withWriteHint(file, () => writeWholeFile(file, text));
  }
  return count;
}

interface WrittenFile {
  file: string;
  what: string;
}

type ShellEnvironment = Readonly<Record<string, string | undefined>>;

/** @param platform as Node names it. @throws UsageError for a shell that alone knows its places */
function findPlaces(shell: string, env: ShellEnvironment, platform: string): InstallPlaces {
  const home = env.HOME || homedir();
  const data = env.XDG_DATA_HOME || join(home, ".local/share");
  if (shell === "fish") {
    return { file: join(env.XDG_CONFIG_HOME || join(home, ".config"), "fish/completions/ecm.fish") };
  }
  if (shell === "bash") {
    const folder = env.BASH_COMPLETION_USER_DIR || join(data, "bash-completion");
    const file = join(folder, "completions/ecm");
    const path = quotePath(file);
    // Terminals on macOS start login shells, which do not read .bashrc.
    const startup = join(home, platform === "darwin" ? ".bash_profile" : ".bashrc");
    return { file, startup: { file: startup, line: `[ -r ${path} ] && . ${path}` } };
  }
  if (shell === "zsh") {
    const file = join(data, "zsh/site-functions/_ecm");
    const path = quotePath(file);
    const compinit = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }";
    const line = `[[ -r ${path} ]] && { ${compinit}; source ${path}; }`;
    return { file, startup: { file: join(env.ZDOTDIR || home, ".zshrc"), line } };
  }
  throw usageError(
    `--install: cannot find the profile of ${shell}`,
    "Add this line to the file that $PROFILE names: ecm completion powershell | Out-String | Invoke-Expression",
  );
}

/**
 * Writes what is not there yet, and says what it wrote. The shell's own file is only ever added to.
 * @param isDryRun says the same and writes nothing
 * @throws UsageError naming the file that cannot be read or written
 */
async function install(places: InstallPlaces, script: string, isDryRun: boolean): Promise<WrittenFile[]> {
  const written: WrittenFile[] = [];
  if ((await readTextIfPresent(places.file)) !== script) {
    written.push({ file: places.file, what: "the script" });
    if (!isDryRun) await withWriteHint(places.file, () => writeWholeFile(places.file, script));
  }
  const { startup } = places;
  if (startup) {
    const text = (await readTextIfPresent(startup.file)) ?? "";
    if (!text.split("\n").includes(startup.line)) {
      written.push({ file: startup.file, what: "the line that reads it" });
      const gap = text === "" || text.endsWith("\n") ? "" : "\n";
      const addition = `${gap}# completions of ecm\n${startup.line}\n`;
      if (!isDryRun) await withWriteHint(startup.file, () => appendFile(startup.file, addition));
    }
  }
  return written;
}

async function writeWholeFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** Undefined when there is no such file. */
async function readTextIfPresent(file: string): Promise<string | undefined> {
  return withWriteHint(file, () =>
    readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    }),
  );
}

async function withWriteHint<T>(file: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw usageError(
      `--install: ${file}: ${(error as Error).message}`,
      advise`Or write the script to a file yourself: ${ecm`completion SHELL`} > FILE`,
    );
  }
}

/** For bash and zsh. */
function quotePath(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}
