/**
 * Writes what is derived from the command tree: docs/cli.md, man/ecm.1 and completions/. Needs a build.
 * `--check` writes nothing and fails when a file is out of step.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const ecm = (...args) =>
  execFileSync(process.execPath, [join(root, "bin/ecm.js"), ...args], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: "/nonexistent", COLUMNS: "80" },
  });

const index = JSON.parse(ecm("commands", "--json"));
const { globalFlags } = index;
const commands = index.commands.map(({ command }) => {
  const words = command.split(" ").filter((word) => !/^[<[]/.test(word));
  return JSON.parse(ecm("commands", ...words, "--json"));
});

const exitCodes = [
  [0, "done"],
  [1, "the service refused or failed in a way that no code below names; an internal error"],
  [2, "usage: bad flag, argument, file or configuration; nothing was sent"],
  [3, "a bulk run finished, and some rows were rejected"],
  [4, "no key, 401, or 403"],
  [5, "not found: 404, or a name that resolves to nothing"],
  [6, "conflict: it exists already, or was changed meanwhile"],
  [7, "out of budget: 429, or a bulk run stopped by a budget; it can be resumed"],
  [8, "the service could not be reached, or did not answer in time"],
  [9, "`structure diff --exit-code`: something differs"],
  ["130, 143", "interrupted by SIGINT or SIGTERM; a bulk run can be resumed"],
];

function usage({ command, arguments: args }) {
  const words = args.map((each) => {
    const name = each.repeats ? `${each.name}...` : each.name;
    return each.required ? `<${name}>` : `[${name}]`;
  });
  return ["ecm", command, ...words, "[flags]"].join(" ");
}

const escapeCell = (text) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");

function cliPage() {
  const flagTable = (flags) =>
    Object.keys(flags).length === 0
      ? []
      : [
          "| flag | |",
          "|---|---|",
          ...Object.entries(flags).map(
            ([flag, description]) => `| \`${flag}\` | ${escapeCell(description)} |`,
          ),
          "",
        ];
  const lines = [
    "# The commands of `ecm`",
    "",
    "Generated from the command tree by `npm run generate`; `ecm COMMAND --help` says the same.",
    "",
    "## Flags of every command",
    "",
    ...flagTable(globalFlags),
    "## Exit codes",
    "",
    "| code | meaning |",
    "|---|---|",
    ...exitCodes.map(([code, meaning]) => `| ${code} | ${meaning} |`),
    "",
  ];
  for (const command of commands) {
    lines.push(
      `## ecm ${command.command}`,
      "",
      `${sentence(command.summary)}${command.writes ? " It can change the account." : ""}`,
      "",
    );
    lines.push("```", usage(command), "```", "");
    lines.push(
      ...command.arguments
        .filter((each) => each.description)
        .map((each) => `- \`${each.name}\`: ${escapeCell(each.description)}`),
    );
    if (command.arguments.some((each) => each.description)) lines.push("");
    lines.push(...flagTable(command.flags));
    if (command.output) lines.push(`Output: ${command.output}`, "");
    if (command.examples?.length) lines.push("```sh", ...command.examples, "```", "");
  }
  return `${lines.join("\n").trimEnd()}\n`;
}

/** The variables that stand for no flag, or for more than one command's. */
const environment = {
  ECM_PROFILE: "the profile to work with",
  ECM_BASE_URL: "base address of the account's API; with ECM_API_KEY no profile is needed",
  ECM_API_KEY: "the API key",
  ECM_STRUCTURE: "the contact structure to work in, by id or label",
  ECM_OUTPUT: "the output format, as --output",
  ECM_NO_INPUT: "1: never ask",
  ECM_READ_ONLY: "1: refuse every request that would write",
  ECM_TIMEOUT: "longest wait for one answer, in seconds",
  ECM_CONFIG_DIR: "folder of the profiles and keys, in place of the platform's own",
  ECM_STATE_DIR: "folder of the bulk runs and the embedded service's data",
  ECM_CACHE_DIR: "folder of what can be lost: names for completions, limits last seen",
  ECM_DEBUG: "1: say where in the program a failure happened",
  NO_COLOR: "no colour",
  FORCE_COLOR: "colour although the output is no terminal",
  ACCESSIBLE: "for screen readers: nothing is redrawn",
};

function manPage() {
  const text = (words) =>
    words
      .replaceAll("\\", "\\e")
      .replaceAll("-", "\\-")
      .replace(
        /[^\x00-\x7f]/gu,
        (sign) => `\\[u${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`,
      )
      .replace(/^([.'])/gm, "\\&$1");
  const terms = (entries) => entries.flatMap(([term, words]) => [".TP", `.B ${text(term)}`, text(words)]);
  const lines = [
    '.TH ECM 1 "" "ecm" "User Commands"',
    ".SH NAME",
    "ecm \\- administer the contacts of an email\\-marketing account",
    ".SH SYNOPSIS",
    ".B ecm",
    "[flags] command [arguments]",
    ".SH GLOBAL FLAGS",
    ...terms(Object.entries(globalFlags)),
    ".SH COMMANDS",
  ];
  for (const command of commands) {
    lines.push(`.SS ${text(usage(command))}`, text(sentence(command.summary)));
    lines.push(...terms(Object.entries(command.flags)), ".PP", ".nf", ".RS");
    lines.push(...command.examples.map(text), ".RE", ".fi");
  }
  lines.push(".SH EXIT STATUS");
  lines.push(...terms(exitCodes.map(([code, meaning]) => [String(code), meaning.replaceAll("`", "")])));
  lines.push(".SH ENVIRONMENT", ...terms(Object.entries(environment)));
  return `${lines.join("\n")}\n`;
}

function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}

const files = {
  "docs/cli.md": cliPage(),
  "man/ecm.1": manPage(),
  "completions/ecm.bash": ecm("completion", "bash"),
  "completions/_ecm": ecm("completion", "zsh"),
  "completions/ecm.fish": ecm("completion", "fish"),
  "completions/ecm.ps1": ecm("completion", "powershell"),
};

let isStale = false;
for (const [path, content] of Object.entries(files)) {
  const file = join(root, path);
  if (process.argv.includes("--check")) {
    const current = (() => {
      try {
        return readFileSync(file, "utf8");
      } catch {
        return undefined;
      }
    })();
    if (current !== content) {
      isStale = true;
      console.error(`${path} is out of step with the commands: npm run generate`);
    }
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}
if (isStale) process.exitCode = 1;
