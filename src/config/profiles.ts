/** Profiles: what one holds, and which names it may have. */
import { join } from "node:path";
import { type EcmError, usageError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";
import type { Folders } from "./folders.ts";

/** The profile that always exists: the embedded service in this process. */
export const sandboxProfile = "sandbox";

export interface Profile {
  baseUrl?: string;
  apiKey?: string;
  /** Run by a shell when a key is needed; its first line of output is the key. */
  apiKeyCommand?: string;
  /** Id or label of the structure to work in. */
  structure?: string;
  readOnly?: boolean;
}

export interface ProfileStore {
  /** Every profile, the embedded service's included. */
  names(): string[];
  get(name: string): Profile | undefined;
  /** The name chosen with `auth use`, or by the first login. */
  current(): string | undefined;
  /** @throws UsageError for a name that cannot be one, or the embedded service's. */
  save(name: string, profile: Profile): void;
  /** @throws UsageError when there is no such profile. */
  use(name: string): void;
  /** @throws UsageError when there is no such profile, or it is the embedded service's. */
  remove(name: string): void;
}

/** Without its ending, which conf adds. */
export const profilesFileName = "profiles";

/** The file of the profiles. */
export function toProfilesPath(folders: Folders): string {
  return join(folders.config, `${profilesFileName}.json`);
}

export function unknownProfileError(name: string, names: string[]): EcmError {
  return usageError(
    `There is no profile ${JSON.stringify(name)}`,
    advise`Profiles: ${names.join(", ")}; create one with: ${ecm`auth login --profile NAME`}`,
    { type: "UnknownProfileError" },
  );
}

/** @throws UsageError for a name that cannot be a profile's, or is the embedded service's. */
export function checkName(name: string): void {
  if (name === sandboxProfile) throw sandboxAlwaysThere();
  // Names that every object inherits would vanish in the file.
  if (/^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,99}$/u.test(name) && !(name in {})) return;
  throw usageError(
    `${JSON.stringify(name)} is not a valid profile name`,
    "Use letters, digits and . _ @ -, starting with a letter or digit",
  );
}

export function sandboxAlwaysThere(): EcmError {
  return usageError(
    "The profile sandbox is the embedded service: it always exists and needs no key",
    advise`Choose another name; ${ecm`sandbox reset`} empties the embedded service`,
  );
}
