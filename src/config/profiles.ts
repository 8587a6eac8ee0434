/** Profiles and their keys: one file, 0600 in a folder 0700, written atomically. */
import { chmodSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type Conf from "conf";
import { describeDiskError, isDiskFull } from "../disk/disk-errors.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { EcmError, failedError, usageError } from "../errors.ts";
import { advise, ecm, logInAgain } from "../hint.ts";
import { isObject } from "../json.ts";
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

const version = 1;

interface Stored {
  version?: number;
  current?: string;
  profiles?: Record<string, Profile>;
}

/** Without its ending, which conf adds. */
const fileName = "profiles";

/** The file of the profiles. */
export function toProfilesPath(folders: Folders): string {
  return join(folders.config, `${fileName}.json`);
}

/**
 * Opens the profiles. Nothing is made on disk before the first `save` or `use`; rights that are too wide are
 * fixed.
 * @throws UsageError naming the file when it is not what `ecm` wrote, or cannot be read
 */
export async function openProfiles(folders: Folders): Promise<ProfileStore> {
  const { default: Conf } = await import("conf");
  const file = toProfilesPath(folders);
  let conf: Conf<Stored> | undefined;

  // conf makes the folder as soon as it looks: so it looks only at a file that is there, or is about to be.
  const open = () => {
    conf ??= guarded(file, () => {
      makeFolder(folders.config);
      restrictMode(folders.config, 0o700);
      if (existsSync(file)) restrictMode(file, 0o600);
      return new Conf<Stored>({
        cwd: folders.config,
        configName: fileName,
        configFileMode: 0o600,
        // conf would take a text or an array for an object.
        deserialize: (text) => checked(file, JSON.parse(text)),
      });
    });
    return conf;
  };
  const read = (): Required<Pick<Stored, "profiles">> & Stored => {
    if (!conf && !existsSync(file)) return { profiles: {} };
    return { profiles: {}, ...guarded(file, () => open().store) };
  };
  const write = (change: (stored: ReturnType<typeof read>) => void) => {
    const opened = open();
    const stored = read();
    change(stored);
    const put = () => {
      opened.store = { ...stored, version };
    };
    guarded(file, put, true);
  };
  const names = () => [...Object.keys(read().profiles), sandboxProfile];
  const requireName = (name: string) => {
    if (!names().includes(name)) throw unknownProfileError(name, names());
  };

  return {
    names,
    get(name) {
      if (name === sandboxProfile) return {};
      const { profiles } = read();
      return Object.hasOwn(profiles, name) ? profiles[name] : undefined;
    },
    current: () => read().current,
    save(name, profile) {
      checkName(name);
      write((stored) => {
        stored.profiles[name] = profile;
        stored.current ??= name;
      });
    },
    use(name) {
      requireName(name);
      write((stored) => {
        stored.current = name;
      });
    },
    remove(name) {
      if (name === sandboxProfile) throw sandboxAlwaysThere();
      requireName(name);
      write((stored) => {
        delete stored.profiles[name];
        if (stored.current === name) delete stored.current;
      });
    },
  };
}

/** The file's content, if it is what `ecm` writes. */
function checked(file: string, stored: unknown): Stored {
  if (!isObject(stored)) throw unreadable(file, "ecm did not write its content");
  if (stored.version !== version) throw unreadable(file, `it is not of version ${version}`, failedError);
  const { profiles = {}, current = "" } = stored;
  if (typeof current === "string" && isObject(profiles) && Object.values(profiles).every(isProfile))
    return stored;
  throw unreadable(file, "ecm did not write its content");
}

function isProfile(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { readOnly = false, ...texts } = value;
  return typeof readOnly === "boolean" && Object.values(texts).every((text) => typeof text === "string");
}

/** Without a file, or while one is written, the disk or the folder is at fault: the file needs no fix. */
function guarded<T>(file: string, act: () => T, isWriting = !existsSync(file)): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof EcmError) throw error;
    // A parser's message quotes the file, and with it perhaps a key.
    if (error instanceof SyntaxError) throw unreadable(file, "it is not JSON");
    if (!isWriting) throw unreadable(file, describeDiskError(error));
    throw failedError(
      `Cannot write the profiles to ${file}: ${describeDiskError(error)}`,
      isDiskFull(error)
        ? "Make room on the disk, then run the same command again"
        : "Name a folder that can be written with ECM_CONFIG_DIR",
      { type: "ProfilesFileError" },
    );
  }
}

function unreadable(file: string, reason: string, createError = usageError): EcmError {
  return createError(
    `The profiles in ${file} cannot be used: ${reason}`,
    advise`Fix the file, or move it away and ${logInAgain()}`,
    { type: "ProfilesFileError" },
  );
}

/**
 * A file system that is read-only, such as a mounted secret, is used as it is: `ecm doctor` shows its rights.
 */
function restrictMode(path: string, mode: number): void {
  if ((statSync(path).mode & 0o777 & ~mode) === 0) return;
  try {
    chmodSync(path, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EROFS") throw error;
  }
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

function sandboxAlwaysThere(): EcmError {
  return usageError(
    "The profile sandbox is the embedded service: it always exists and needs no key",
    advise`Choose another name; ${ecm`sandbox reset`} empties the embedded service`,
  );
}
