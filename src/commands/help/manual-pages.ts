/** The manual: a page for `ecm` with all help topics, and a page for each group with its commands. Pure. */
import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";
import { version } from "../../version.ts";
import { formatFacts } from "./help-text.ts";
import { listTopicTexts } from "./topics.ts";
import { listLeaves, toPath } from "./tree.ts";

const files = `~/.config/ecm/       profiles and keys, readable by you alone (ECM_CONFIG_DIR;
                     macOS ~/Library/Preferences/ecm, Windows %APPDATA%\\ecm\\Config)
~/.local/state/ecm/  bulk runs with their journals and rejects, suppression lists,
                     the sandbox (ECM_STATE_DIR; macOS ~/Library/Application
                     Support/ecm, Windows %LOCALAPPDATA%\\ecm\\Data)
~/.cache/ecm/        names and limits that were seen last; can be deleted at any
                     time (ECM_CACHE_DIR; macOS ~/Library/Caches/ecm, Windows
                     %LOCALAPPDATA%\\ecm\\Cache)`;

/** The width that `man` leaves of 80 columns. */
const columns = 72;

/** Every page by its name. @param root with all groups loaded */
export function writeManual(root: Command): Record<string, string> {
  const groups = root.createHelp().visibleCommands(root);
  const toName = (group: Command) => `ecm-${group.name()}`;
  const seeAlso = ["ecm", ...groups.map(toName)].map((name) => `${name}(1)`).join(", ");
  const pages = groups.map((group) =>
    formatPage(toName(group), group.description(), [
      ...listLeaves(group).map((command) => [toPath(command), formatHelp(command)] as const),
      ["SEE ALSO", seeAlso],
    ]),
  );
  const first = formatPage("ecm", root.description(), [
    ["COMMANDS", groups.map((each) => `${toPath(each).padEnd(20)}${each.description()}`).join("\n")],
    ...listTopicTexts(root, columns).map(
      ([name, text]) => [name.toUpperCase().replace("-", " "), text] as const,
    ),
    ["FILES", files],
    ["SEE ALSO", seeAlso],
  ]);
  return Object.fromEntries([["ecm", first], ...groups.map((group, at) => [toName(group), pages[at]!])]);
}

/** The text of `--help`, without colours. */
function formatHelp(command: Command): string {
  const help = command.createHelp();
  help.styleTitle = (title) => title;
  help.prepareContext({ helpWidth: columns });
  return `${help.formatHelp(command, help)}${formatFacts(command, columns)}`;
}

type Section = readonly [heading: string, text: string];

function formatPage(name: string, summary: string, sections: readonly Section[]): string {
  const about: Section = ["NAME", `${name} - ${summary}`];
  const lines = [about, ...sections].flatMap(([heading, text]) => [
    `.SH ${escapeText(heading)}`,
    ...(heading === "NAME" || heading === "SEE ALSO"
      ? [escapeText(text)]
      : [".nf", escapeText(text.trim()), ".fi"]),
  ]);
  return [`.TH ${escapeText(name).toUpperCase()} 1 "" "ecm ${version}" "User Commands"`, ...lines, ""].join(
    "\n",
  );
}

/** Escapes text for `man`; characters beyond ASCII become their code points. */
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
