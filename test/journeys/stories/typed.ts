/** How a command of a story is typed, and the file that it reads. */
import type { Command, Import, Row, Selection } from "./oracle.ts";

const quoted = (cell: string): string =>
  /[",\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

export function toCsv({ rows, columns }: Import): string {
  const cells: Record<string, (row: Row) => string> = {
    "First Name": ({ first }) => first,
    City: ({ city }) => city,
    Lists: ({ list: name }) => name,
    Tags: ({ tag: label }) => label,
    Unsubscribed: ({ mark }) => mark,
    Subscribed: ({ mark }) => (mark === "" ? "" : mark === "yes" ? "yes" : "no"),
  };
  const lines = rows.map((each) => [each.key, ...columns.map((column) => cells[column]!(each))]);
  // A last column that is never blank: a row whose cells are all blank is none.
  const table = [["Email", ...columns, "Note"], ...lines.map((line) => [...line, "x"])];
  return `${table.map((line) => line.map(quoted).join(",")).join("\n")}\n`;
}

const repeated = (flag: string, values: string[]) => values.flatMap((each) => [flag, each]);

/** One key a line, or a table with a consent column. */
export function keysFile({ keys, marked }: Pick<Selection, "keys" | "marked">): string {
  const lines = keys.map((key) => (marked ? `${key},${marked.includes(key) ? "yes" : "no"}` : key));
  return `${[marked ? "Email,Unsubscribed" : "Email", ...lines].join("\n")}\n`;
}

function selectionWords({ keys, marked, list: name, tag: label, status }: Selection, file: string): string[] {
  const words = [
    ...(marked ? ["--keys", file] : keys),
    ...(name === undefined ? [] : ["--list", name]),
    ...(label === undefined ? [] : ["--tag", label]),
    ...(status === undefined ? [] : ["--status", status]),
  ];
  return words.length === 0 ? ["--all"] : words;
}

/** The words of a command after `ecm`. @param file where its input is */
export function typed(command: Command, file: string): string[] {
  switch (command.kind) {
    case "import":
      return [
        ...["import", file, "--ignore-unmapped"],
        ...(command.columns.includes("Lists") ? ["--map", "Lists=lists"] : []),
        ...(command.columns.includes("Tags") ? ["--map", "Tags=tags"] : []),
        ...repeated("--list", command.lists),
        ...repeated("--tag", command.tags),
        ...["--mode", command.mode, "--blank", command.blank, "--duplicates", command.duplicates],
        ...(command.marked === "include" ? ["--include-unsubscribed"] : []),
        ...(command.set !== undefined && !command.columns.includes("City")
          ? ["--set", `City=${command.set}`]
          : []),
        ...(command.includeSuppressed ? ["--include-suppressed"] : []),
      ];
    case "sync":
      return [
        ...["lists", "sync", command.list, file, "--max-remove", "100%"],
        ...(command.creates ? ["--create"] : []),
      ];
    case "mutate":
      return [
        ...["contact", "mutate", ...selectionWords(command.whom, file)],
        ...Object.entries(command.set).flatMap(([label, text]) => ["--set", `${label}=${text}`]),
        ...repeated("--add-tag", command.addTags),
        ...repeated("--remove-tag", command.removeTags),
        ...repeated("--add-list", command.addLists),
        ...repeated("--remove-list", command.removeLists),
      ];
    case "merge":
      return command.lists.length === 1
        ? ["lists", "duplicate", command.lists[0]!, command.into]
        : ["lists", "merge", ...command.lists, "--into", command.into];
    default:
      return [
        ...["contact", command.kind, ...selectionWords(command.whom, file)],
        ...(command.whom.marked ? [command.takesMarked ? "--marked-rows" : "--all-rows"] : []),
      ];
  }
}
