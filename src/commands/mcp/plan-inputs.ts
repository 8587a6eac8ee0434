/** What several tools that plan a change take alike: a file, its mapping, its columns of consent. */
import { UsageError } from "../../errors.ts";
import type { FileFolder } from "./files.ts";
import { valueFlag } from "./flag-words.ts";
import { textSchema } from "./tool.ts";

/** How the consent columns of a file are read. Only a person can say what a yes means: ask. */
export const consentInput = {
  consent_column: textSchema("a column that says who is subscribed"),
  consent: {
    type: "object",
    additionalProperties: { enum: ["opt-in", "opt-out", "none"] },
    description:
      "{ column: what a yes in it means }: opt-in: subscribed, opt-out: not subscribed, none: neither. Ask the user, do not guess",
  },
};

export interface ConsentInput {
  consent_column?: string;
  consent?: Record<string, string>;
}

export function toConsentFlags({ consent_column, consent = {} }: ConsentInput): string[] {
  return [
    ...valueFlag("--consent-column", consent_column),
    ...Object.entries(consent).map(([column, reading]) => `--consent-column=${column}=${reading}`),
  ];
}

export const mapInput = {
  type: "object",
  additionalProperties: { enum: ["key", "consent"] },
  description: "{ column of the file: key or consent }",
};

export function toMapFlags(map: Record<string, string> = {}): string[] {
  return Object.entries(map).map(([column, target]) => `--map=${column}=${target}`);
}

/** The file's path. @throws UsageError where no file may be read */
export function findFile(files: FileFolder | undefined, name: string): Promise<string> {
  if (files) return files.find(name);
  throw new UsageError("This server reads no files", "Start it with: ecm mcp --files DIR");
}
