/** Flags that several commands share, and how their values are read. */
import { type Command, Option } from "commander";
import { UsageError } from "../errors.ts";

/** What a program has to know of a flag besides what commander knows. */
export interface FlagShape {
  /** Default: boolean without a value, else string. */
  type?: "boolean" | "string" | "integer";
  repeatable?: boolean;
}

const shapeKey = Symbol("shape of a flag");

/** Keeps the shape for `shapeOf`. */
export function withShape(option: Option, shape: FlagShape): Option {
  return Object.assign(option, { [shapeKey]: shape });
}

export function shapeOf(option: Option): FlagShape {
  return (option as Option & { [shapeKey]?: FlagShape })[shapeKey] ?? {};
}

/** For every command that lists or exports. */
export function addOutputFileFlags(command: Command): Command {
  return command
    .option("--output-file <file>", "write there in place of stdout; the file appears whole or not at all")
    .option("--bom", "begin with a byte order mark, for spreadsheets")
    .option("--safe-cells", "cells that a spreadsheet would run as a formula get a leading apostrophe");
}

/** For every command that writes. */
export function addDryRunFlag(command: Command): Command {
  return command.option("--dry-run", "send no write; print the method, path and body that it would send");
}

/** A flag that may stand several times: its values in order. */
export function repeatable(flags: string, description: string): Option {
  const option = new Option(flags, description).argParser((value: string, before: string[] = []) => [
    ...before,
    value,
  ]);
  return withShape(option, { repeatable: true });
}

/** A flag that takes a whole number from `least` up. @throws UsageError naming the flag, when parsed. */
export function wholeNumber(flags: string, description: string, least = 1): Option {
  const option = withShape(new Option(flags, description), { type: "integer" });
  return option.argParser((text: string) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value;
    throw new UsageError(
      `${option.long}: ${JSON.stringify(text)} is not a whole number from ${least} up`,
      `give a number, such as ${option.long} ${Math.max(least, 10)}`,
    );
  });
}
