/** What skills repeat of the command tree, and their frontmatter: written between the words of a person. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const start = "<!-- Written by `npm run generate` from the commands above -->";

/**
 * @param folder of the skills
 * @param tree as `ecm commands --all` prints it
 * @returns the text of each skill, by its path in the package
 */
export function writeSkills(folder, tree, { license, engines }) {
  return Object.fromEntries(
    readdirSync(folder).map((name) => {
      const text = readFileSync(join(folder, name, "SKILL.md"), "utf8");
      const [, description] = /^description: (.*)$/m.exec(text);
      const [written] = text.slice(text.indexOf("\n---\n") + "\n---\n".length).split(start);
      // By the Agent Skills specification; no `allowed-tools`: a person allows what writes.
      const frontmatter = [
        "---",
        `name: ${name}`,
        `description: ${description}`,
        `license: ${license}`,
        `compatibility: Needs the command ecm ${tree.version} (npm install -g ecm; Node.js ${engines.node}).`,
        "metadata:",
        `  version: "${tree.version}"`,
        "---",
      ];
      const lines = [...frontmatter, written.trimEnd(), "", start, "", ...describeCommands(written, tree)];
      return [`skills/${name}/SKILL.md`, `${lines.join("\n")}\n`];
    }),
  );
}

function describeCommands(written, { commands, globalFlags, exitCodes }) {
  const lines = [...written.matchAll(/\becm ([a-z][^`\n]*)/g)].map(([, line]) => line.split(/\s+/));
  const isTyped = (words, { name }) => words.includes(name);
  const used = commands.filter(({ command }) => lines.some((words) => isCommand(words, command)));
  const globals = globalFlags.filter((flag) => lines.some((words) => isTyped(words, flag)));
  return [
    "## The commands",
    "",
    ...used.flatMap((command) => {
      const own = lines.filter((words) => isCommand(words, command.command));
      const flags = command.flags.filter((flag) => own.some((words) => isTyped(words, flag)));
      return [
        [
          `- \`ecm ${command.command}\` (${command.danger}): ${command.summary}.`,
          ...describeExits(command, exitCodes),
        ].join(" "),
        ...flags.map((flag) => `  - \`${formatFlag(flag)}\`: ${flag.description}`),
      ];
    }),
    "",
    "Every command:",
    "",
    ...globals.map((flag) => `- \`${formatFlag(flag)}\`: ${flag.description}`),
    ...["2", "4", "6", "7", "8"].map((code) => `- Exit ${code}: ${exitCodes[code]}`),
    "- A failure is one line of JSON on stderr; where it has `fix`, that is the command that leads on.",
  ];
}

function isCommand(words, command) {
  return command.split(" ").every((word, at) => words[at] === word);
}

/** Those that mean something of their own here. */
function describeExits(command, usual) {
  const own = Object.entries(command.exitCodes).filter(
    ([code, meaning]) => meaning !== usual[code] && code > 2,
  );
  return own.map(([code, meaning]) => `Exit ${code}: ${meaning}.`);
}

function formatFlag({ name, value }) {
  return value ? `${name} ${value}` : name;
}
