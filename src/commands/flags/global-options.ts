/** The flags that every command has, and how the help describes a flag. */
import { Option } from "@commander-js/extra-typings";
import { outputFormats } from "../../terminal/format.ts";

/** What it does; the values that it takes, and the usual one, as in the rest of the text. */
export function describeOption({
  description,
  argChoices,
  defaultValue,
  defaultValueDescription,
}: Option): string {
  const more = [
    argChoices?.join(", "),
    defaultValue === undefined || Array.isArray(defaultValue) || typeof defaultValue === "boolean"
      ? undefined
      : `default: ${defaultValueDescription ?? defaultValue}`,
  ].filter((part) => part !== undefined);
  return more.length === 0 ? description : `${description} (${more.join("; ")})`;
}

export function createGlobalOptions(): Option[] {
  return [
    new Option("-p, --profile <name>", "account to use (ECM_PROFILE)"),
    new Option("--base-url <url>", "base URL of the account's API (ECM_BASE_URL)"),
    new Option("-s, --structure <id-or-label>", "contact structure to use (ECM_STRUCTURE)"),
    // Which of them a command takes is known once it is: see `takeFormat`.
    new Option("-o, --output <format>", "output format (ECM_OUTPUT); see: ecm help formats")
      .choices([...outputFormats])
      .argParser((text) => text),
    new Option("--json", "short for --output json"),
    new Option("--columns <names>", "columns to show, in this order, separated by commas"),
    new Option("--timeout <seconds>", "timeout of a request in seconds (ECM_TIMEOUT; 30)"),
    new Option("--max-wait <seconds>", "longest wait for the rate limit in seconds (300)"),
    new Option("-q, --quiet", "nothing on stderr but errors, warnings and questions"),
    new Option("-v, --verbose", "show requests on stderr; --verbose=bodies shows bodies too"),
    new Option("--verbose-bodies").hideHelp(),
    new Option("--no-input", "never prompt (ECM_NO_INPUT)"),
    new Option("-y, --yes", "confirm without asking"),
    new Option("--read-only", "refuse every request that would write (ECM_READ_ONLY)"),
    new Option("--no-color", "no colour (NO_COLOR)"),
  ];
}
