/** The manual: one page for `ecm`, and one for each group of commands. Written from the command tree. Pure. */
import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";
import { version } from "../../version.ts";
import { describeCommandJson, exitCodeMeanings } from "./help-text.ts";
import { environment, listTopics } from "./topics.ts";
import { listLeaves } from "./tree.ts";

type Described = ReturnType<typeof describeCommandJson>;

/** Where `ecm` keeps things. */
const files: readonly [name: string, text: string][] = [
  [
    "~/.config/ecm/",
    "profiles and keys, readable by you alone (ECM_CONFIG_DIR; macOS ~/Library/Preferences/ecm, Windows %APPDATA%\\ecm\\Config)",
  ],
  [
    "~/.local/state/ecm/",
    "bulk runs with their journals and rejects, suppression lists, the sandbox (ECM_STATE_DIR; macOS ~/Library/Application Support/ecm, Windows %LOCALAPPDATA%\\ecm\\Data)",
  ],
  [
    "~/.cache/ecm/",
    "names and limits that were seen last; can be deleted at any time (ECM_CACHE_DIR; macOS ~/Library/Caches/ecm, Windows %LOCALAPPDATA%\\ecm\\Cache)",
  ],
];

/** The examples of the first page: from the first login to the undoing. */
const firstSteps = [
  "ecm auth login",
  "ecm import contacts.csv --dry-run",
  "ecm import contacts.csv --list Customers",
  "ecm contact search --list Customers",
  "ecm export --list Customers --output-file customers.csv",
  "ecm runs undo last",
  "ecm --profile sandbox import contacts.csv",
];

/** The groups that have a page, in the order of the help. */
function listGroups(root: Command): Command[] {
  return root
    .createHelp()
    .visibleCommands(root)
    .filter((each) => each.name() !== "help");
}

/** Every page by its name. */
export function writeManual(root: Command): Record<string, string> {
  const pages = listGroups(root).map((group): [string, string] => [
    `ecm-${group.name()}`,
    writeGroupPage(root, group),
  ]);
  return Object.fromEntries([["ecm", writeFirstPage(root)], ...pages]);
}

function writeFirstPage(root: Command): string {
  const groups = listGroups(root);
  const codes = exitCodeMeanings.map(([code, meaning]): [string, string] => [
    String(code),
    withoutBackticks(meaning),
  ]);
  return toPage(
    title("ecm", `ecm ${version}`),
    section("NAME", ["ecm \\- administer the contacts of an email\\-marketing account"]),
    section("SYNOPSIS", [".B ecm", "[flags] command [arguments]"]),
    section(
      "DESCRIPTION",
      paragraph(
        "Imports, exports, finds and changes the contacts of an email-marketing account. Bulk commands show who would change and what it costs before the first write, can be stopped and resumed, and most of them undone. The profile sandbox is the whole service on this machine, to try everything without an account.",
      ),
      paragraph("Each group of commands has a page of its own: man ecm-GROUP."),
    ),
    section("COMMANDS", terms(groups.map((each) => [`ecm ${each.name()}`, each.description()]))),
    section("GLOBAL FLAGS", flagTerms(describeCommandJson(root).flags)),
    section("EXAMPLES", verbatim(firstSteps)),
    section("FILES", terms(files)),
    section("ENVIRONMENT", terms(Object.entries(environment))),
    section("EXIT STATUS", terms(codes)),
    ...listTopics().map(({ name, text }) =>
      section(name.toUpperCase(), verbatim(text.trimEnd().split("\n"))),
    ),
    seeAlso(groups.map((each) => `ecm-${each.name()}`)),
  );
}

function writeGroupPage(root: Command, group: Command): string {
  const name = `ecm-${group.name()}`;
  const commands = listLeaves(group);
  const described = commands.map(describeCommandJson);
  const isSingle = commands.length === 1 && commands[0] === group;
  const others = listGroups(root).filter((each) => each !== group);
  return toPage(
    title(name, `ecm ${version}`),
    section("NAME", [`${name.replaceAll("-", "\\-")} \\- ${toText(group.description())}`]),
    section("SYNOPSIS", verbatim(described.map(toUsage))),
    section(
      "DESCRIPTION",
      paragraph(toSentence(group.description())),
      ...(isSingle ? [describeFlagsAndOutput(commands[0]!, described[0]!)] : []),
    ),
    ...(isSingle
      ? []
      : [
          section(
            "COMMANDS",
            ...commands.map((command, at) =>
              subsection(
                `ecm ${described[at]!.command}`,
                paragraph(toSentence(command.description())),
                describeFlagsAndOutput(command, described[at]!),
              ),
            ),
          ),
        ]),
    section("EXAMPLES", verbatim(described.flatMap(({ examples = [] }) => examples))),
    section("FILES", terms(files)),
    section("EXIT STATUS", terms(listCodes(described))),
    seeAlso(["ecm", ...others.map((each) => `ecm-${each.name()}`)]),
  );
}

function describeFlagsAndOutput(command: Command, described: Described): string[] {
  const { arguments: args, flags, output, confirmation, writes } = described;
  const headings = new Map(command.options.map((option) => [option.long, option.helpGroupHeading]));
  const groups = new Map<string, Described["flags"]>();
  for (const flag of flags) {
    const heading = headings.get(flag.name) ?? "Flags:";
    groups.set(heading, [...(groups.get(heading) ?? []), flag]);
  }
  return [
    ...terms(args.filter((each) => each.description).map((each) => [each.name, each.description])),
    ...[...groups].flatMap(([heading, each]) => [...label(heading), ...flagTerms(each)]),
    ...(output ? [...label("Output:"), ...paragraph(withoutBackticks(output)).slice(1)] : []),
    ...(confirmation ? paragraph(confirmation) : []),
    ...(writes ? paragraph("It can change the account; --dry-run shows what it would do.") : []),
  ];
}

function flagTerms(flags: Described["flags"]): string[] {
  return terms(
    flags.map(({ name, short, value, description, choices, default: usual, repeatable }) => {
      const typed = [short, value ? `${name} ${value}` : name].filter(Boolean).join(", ");
      const more = [
        choices && `one of: ${choices.join(", ")}`,
        usual !== undefined && !description.includes(`(${usual}`) && `default: ${usual}`,
        repeatable && !description.includes("repeatable") && "repeatable",
      ].filter(Boolean);
      return [typed, more.length === 0 ? description : `${description} (${more.join("; ")})`] as const;
    }),
  );
}

/** The codes of all commands of a group; the first meaning of a code counts. */
function listCodes(described: Described[]): [string, string][] {
  const codes = new Map<string, string>();
  for (const { exitCodes = {} } of described)
    for (const [code, meaning] of Object.entries(exitCodes))
      if (!codes.has(code)) codes.set(code, withoutBackticks(meaning));
  return [...codes].sort(([one], [other]) => Number(one) - Number(other));
}

function toUsage({ command, arguments: args }: Described): string {
  const words = args.map((each) => {
    const name = each.repeats ? `${each.name}...` : each.name;
    return each.required ? `<${name}>` : `[${name}]`;
  });
  return ["ecm", command, ...words, "[flags]"].join(" ");
}

function seeAlso(names: string[]): string[] {
  return section("SEE ALSO", paragraph(names.map((name) => `${name}(1)`).join(", ")));
}

function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}

function withoutBackticks(text: string): string {
  return text.replaceAll("`", "");
}

function toText(text: string): string {
  return text.replaceAll("-", "\\-");
}

/** Text without a meaning of its own to `man`; what is not ASCII is written by its number. */
function escapeText(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(
      /[^\t\n\x20-\x7e]/gu,
      (character) => `\\[u${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`,
    )
    .replace(/^([.'])/gm, "\\&$1");
}

/** @param program with its version */
function title(name: string, program: string): string[] {
  return [`.TH ${escapeText(name).toUpperCase()} 1 "" "${program}" "User Commands"`];
}

function section(heading: string, ...lines: string[][]): string[] {
  return [`.SH ${escapeText(heading)}`, ...lines.flat()];
}

function subsection(heading: string, ...lines: string[][]): string[] {
  return [`.SS ${escapeText(heading)}`, ...lines.flat()];
}

function paragraph(text: string): string[] {
  return [".PP", escapeText(text)];
}

/** A heading in bold that is no section: it ends a list of terms. */
function label(text: string): string[] {
  return [".PP", `.B ${escapeText(text)}`];
}

/** What is explained, and below it the explanation. */
function terms(entries: readonly (readonly [term: string, text: string])[]): string[] {
  return entries.flatMap(([term, text]) => [".TP", `.B ${escapeText(term)}`, escapeText(text)]);
}

/** Lines that keep their breaks. */
function verbatim(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [".PP", ".nf", ".RS", ...lines.map(escapeText), ".RE", ".fi"];
}

function toPage(...parts: string[][]): string {
  return `${parts.flat().join("\n")}\n`;
}
