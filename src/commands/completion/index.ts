import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { Argument, type Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import { describeCommand } from "../help/help-text.ts";
import type { CommandTree } from "../help/tree.ts";

export function registerCompletion(command: Command, context: Context, tree: CommandTree): void {
  const completing = command
    .addArgument(
      new Argument("<shell>", "the shell to complete in").choices(["bash", "zsh", "fish", "powershell"]),
    )
    .option(
      "--install",
      "install the script, and the manual, where your shell and man find them (bash, zsh, fish)",
    )
    .option("--dry-run", "with --install: show what would be written");
  describeCommand(completing, {
    isLocal: true,
    examples: [
      "ecm completion bash --install",
      "ecm completion zsh --install --dry-run",
      'eval "$(ecm completion bash)"',
      "ecm completion powershell | Out-String | Invoke-Expression",
    ],
    output: "A script for the shell. Completions never wait for the network. With --install nothing.",
  });
  completing.action(async (shell, { install: isInstalled, dryRun: isDryRun = false }) => {
    const { terminal, platform } = context;
    const { completionScript } = await import("./scripts.ts");
    const script = completionScript(shell);
    if (!isInstalled) return terminal.write(script);
    const places = findPlaces(shell, terminal.env, platform);
    const would = isDryRun ? "would write" : "wrote";
    const written = await install(places, script, isDryRun);
    for (const { file, what } of written) terminal.note(`${would} ${what}: ${file}`);
    if (written.length === 0) terminal.note(`unchanged: ${places.file}`);
    else if (!isDryRun) terminal.note(`Completions work in every new ${shell} session`);
    await installManual(context, tree, isDryRun);
  });
}

async function installManual({ terminal }: Context, tree: CommandTree, isDryRun: boolean): Promise<void> {
  const { writeManual } = await import("../help/manual-pages.ts");
  await tree.loadAll();
  const folder = join(findDataFolder(terminal.env), "man/man1");
  let pages = 0;
  for (const [name, text] of Object.entries(writeManual(tree.root)))
    if (await replaceFile(join(folder, `${name}.1`), text, isDryRun)) pages++;
  const would = isDryRun ? "would write" : "wrote";
  if (pages > 0) terminal.note(`${would} the manual, ${formatCounted(pages, "page")}: ${folder} (man ecm)`);
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

interface WrittenFile {
  file: string;
  what: string;
}

type ShellEnvironment = Readonly<Record<string, string | undefined>>;

function findDataFolder(env: ShellEnvironment): string {
  return env.XDG_DATA_HOME || join(env.HOME || homedir(), ".local/share");
}

/** @param platform as Node names it. @throws UsageError for a shell that alone knows its places */
function findPlaces(shell: string, env: ShellEnvironment, platform: string): InstallPlaces {
  const home = env.HOME || homedir();
  const data = findDataFolder(env);
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
 * Writes what is not there yet. The shell's own file is only ever added to.
 * @returns what was written, or would be @throws UsageError naming the file that cannot be read or written
 */
async function install(
  { file, startup }: InstallPlaces,
  script: string,
  isDryRun: boolean,
): Promise<WrittenFile[]> {
  const written: WrittenFile[] = [];
  if (await replaceFile(file, script, isDryRun)) written.push({ file, what: "the script" });
  if (!startup) return written;
  const text = (await readTextIfPresent(startup.file)) ?? "";
  if (text.split("\n").includes(startup.line)) return written;
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  const addition = `${gap}# completions of ecm\n${startup.line}\n`;
  if (!isDryRun) await withWriteHint(startup.file, () => appendFile(startup.file, addition));
  return [...written, { file: startup.file, what: "the line that reads it" }];
}

/** @returns whether the file was another, or none @throws UsageError */
async function replaceFile(file: string, text: string, isDryRun: boolean): Promise<boolean> {
  if ((await readTextIfPresent(file)) === text) return false;
  if (isDryRun) return true;
  await withWriteHint(file, async () => {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  });
  return true;
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
