/** What tools that plan a change say otherwise than their commands: who is subscribed is not theirs to decide. */
import { textSchema } from "./tool.ts";

/** How the consent columns of a file are read. Only a person can say what a yes means: ask. */
export const consentInput = {
  consent_column: textSchema("a column that says who is subscribed"),
  consent: {
    type: "object",
    additionalProperties: { enum: ["opt-in", "opt-out", "none"] },
    description:
      "{ column: what a yes means }: opt-in: subscribed, opt-out: not, none: neither. Ask the user, do not guess",
  },
};

/** For messages of a command. */
export const consentNames = [["--consent-column", "consent"]] as const;

export interface ConsentInput {
  consent_column?: string;
  consent?: Record<string, string>;
}

export function toConsentFlags({ consent_column, consent = {} }: ConsentInput): string[] {
  return [
    ...(consent_column === undefined ? [] : [`--consent-column=${consent_column}`]),
    ...Object.entries(consent).map(([column, reading]) => `--consent-column=${column}=${reading}`),
  ];
}

export const mapInput = {
  map: {
    type: "object",
    additionalProperties: { enum: ["key", "consent"] },
    description: "{ column of the file: key or consent }",
  },
};

export interface MapInput {
  map?: Record<string, string>;
}

export function toMapFlags({ map = {} }: MapInput): string[] {
  return Object.entries(map).map(([column, target]) => `--map=${column}=${target}`);
}
