/**
 * Writes what is derived from the command tree: docs/cli.md, man/ and completions/; which pages package.json
 * names; and the picture of the imports in docs/architecture.md. Needs a build.
 * `--check` writes nothing and fails when a file is out of step.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { drawImportGraph } from "./import-graph.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const ecm = (...args) =>
  execFileSync(process.execPath, [join(root, "bin/ecm.js"), ...args], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: "/nonexistent", COLUMNS: "80" },
  });

const index = JSON.parse(ecm("commands", "--json"));
const { globalFlags } = index;
const commands = JSON.parse(ecm("commands", "--whole", "--json"));

const manual = JSON.parse(ecm("man", "--whole", "--json"));
const exitCodes = Object.entries(JSON.parse(ecm("help", "exit-codes", "--json")));

/** A flag as it is typed. */
const typed = ({ name, short, value }) =>
  [short, value ? `${name} ${value}` : name].filter(Boolean).join(short ? ", " : "");

/** What a flag does, with the values that it takes. */
function meaning({ description, choices, default: usual, repeatable }) {
  const more = [
    choices && `one of: ${choices.join(", ")}`,
    usual !== undefined && `default: ${usual}`,
    repeatable && !description.includes("repeatable") && "repeatable",
  ].filter(Boolean);
  return more.length === 0 ? description : `${description} (${more.join("; ")})`;
}

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
    flags.length === 0
      ? []
      : [
          "| flag | |",
          "|---|---|",
          ...flags.map((flag) => `| \`${typed(flag)}\` | ${escapeCell(meaning(flag))} |`),
          "",
        ];
  const lines = [
    "# The commands of `ecm`",
    "",
    "Generated from the command tree by `npm run generate`; `ecm COMMAND --help` says the same.",
    "",
    "A group alone, such as `ecm lists`, prints its help. `ecm auth` and `ecm runs` alone list the profiles and the runs of",
    "this machine, without a request. With `--json` every other group needs a command.",
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

function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}

const files = {
  "docs/cli.md": cliPage(),
  ...Object.fromEntries(Object.entries(manual).map(([name, page]) => [`man/${name}.1`, page])),
  "completions/ecm.bash": ecm("completion", "bash"),
  "completions/_ecm": ecm("completion", "zsh"),
  "completions/ecm.fish": ecm("completion", "fish"),
  "completions/ecm.ps1": ecm("completion", "powershell"),
};

const architecture = readFileSync(join(root, "docs/architecture.md"), "utf8");
files["docs/architecture.md"] = architecture.replace(
  /(?<=```mermaid\n)[^`]*(?=```)/,
  () => `${drawImportGraph(join(root, "src"))}\n`,
);

// What npm links where it installs for everybody.
const description = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
description.man = Object.keys(manual).map((name) => `man/${name}.1`);
files["package.json"] = `${JSON.stringify(description, null, 2)}\n`;

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
      console.error(`${path} is out of step with the source: npm run generate`);
    }
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}
if (isStale) process.exitCode = 1;
