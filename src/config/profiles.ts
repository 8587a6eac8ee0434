/** Profiles and their keys: one file, 0600 in a folder 0700, written atomically. */
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
  names(): string[];
  get(name: string): Profile | undefined;
  /** The name chosen with `auth use`, or by the first login. */
  current(): string | undefined;
  save(name: string, profile: Profile): void;
  use(name: string): void;
  remove(name: string): void;
}

export async function openProfiles(_folders: Folders): Promise<ProfileStore> {
  throw new Error("not built yet");
}
