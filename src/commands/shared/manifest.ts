/**
 * The command tree in the form that the CLI Agent Spec gives it (`ManifestResponse`), whose objects take no
 * other members; `ecm commands --all` says more.
 */
import { exitCodes } from "../../errors.ts";
import type { DescribedCommand, DescribedFlag } from "./describe-command.ts";
import type { DangerLevel } from "./help-text.ts";

export interface Described {
  etag: string;
  version: string;
  schema: number;
  globalFlags: readonly DescribedFlag[];
  commands: readonly DescribedCommand[];
}

const codeNames = new Map<number, string>(
  Object.entries(exitCodes).map(([name, code]) => [code, toConstant(name)]),
);
/** The same command may succeed later; nothing was written. */
const retryableCodes: readonly number[] = [exitCodes.outOfBudget, exitCodes.unreachable];
const partialCodes: readonly number[] = [
  exitCodes.failed,
  exitCodes.rejectedRows,
  ...retryableCodes,
  exitCodes.interrupted,
  exitCodes.terminated,
];

export function toManifest({ etag, version, schema, globalFlags, commands }: Described) {
  return {
    schema_version: `${schema}.0`,
    framework_version: version,
    etag,
    commands: {
      // The flags of every command are said once.
      ecm: toEntry({ summary: "the program: flags of every command", danger: "safe", flags: globalFlags }),
      ...Object.fromEntries(
        commands.map((command) => [command.command.replaceAll(" ", "."), toEntry(command)]),
      ),
    },
  };
}

interface Entry extends Pick<DescribedCommand, "summary" | "danger" | "exitCodes" | "examples"> {
  flags: readonly DescribedFlag[];
}

function toEntry({ summary, danger, flags, exitCodes: codes = {}, examples = [] }: Entry) {
  return {
    description: summary,
    danger_level: danger,
    flags: Object.fromEntries(flags.map((flag) => [flag.name.slice(2), toFlag(flag)])),
    exit_codes: Object.fromEntries(
      Object.entries(codes).map(([code, meaning]) => [code, toCode(Number(code), meaning, danger)]),
    ),
    examples: examples.map((command) => ({ description: summary, command })),
  };
}

function toFlag({ short, type, choices, default: usual, repeatable, description }: DescribedFlag) {
  return {
    type: choices ? "enum" : repeatable ? "array" : type,
    required: false,
    description,
    ...(usual !== undefined && { default: usual }),
    ...(choices && { enum_values: choices }),
    ...(short && { short: short.slice(1) }),
  };
}

function toCode(code: number, meaning: string, danger: DangerLevel) {
  const isSafe = danger === "safe";
  const partial = partialCodes.includes(code) ? "partial" : "none";
  return {
    name: codeNames.get(code) ?? `CODE_${code}`,
    description: meaning.slice(0, 120),
    retryable: isSafe && retryableCodes.includes(code),
    side_effects: isSafe ? "none" : code === exitCodes.done ? "complete" : partial,
  };
}

function toConstant(name: string): string {
  return name.replace(/[A-Z]/g, "_$&").toUpperCase();
}
