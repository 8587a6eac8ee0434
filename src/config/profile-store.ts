/** Profiles and their keys: one file, 0600 in a folder 0700, written atomically. */
import { chmodSync, existsSync, statSync } from "node:fs";
import Conf from "conf";
import { describeDiskError, isDiskFull } from "../disk/disk-errors.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { EcmError, failedError, usageError } from "../errors.ts";
import { advise, logInAgain } from "../hint.ts";
import { isObject } from "../json.ts";
import type { Folders } from "./folders.ts";
import {
  checkName,
  type Profile,
  type ProfileStore,
  profilesFileName,
  sandboxAlwaysThere,
  sandboxProfile,
  toProfilesPath,
  unknownProfileError,
} from "./profiles.ts";

const version = 1;

interface Stored {
  version?: number;
  current?: string;
  profiles?: Record<string, Profile>;
}

/**
 * Opens the profiles. Nothing is made on disk before the first `save` or `use`; rights that are too wide are
 * fixed.
 * @throws UsageError naming the file when it is not what `ecm` wrote, or cannot be read
 */
export async function openProfiles(folders: Folders): Promise<ProfileStore> {
  const file = toProfilesPath(folders);
  let conf: Conf<Stored> | undefined;

  // conf makes the folder as soon as it looks: so it looks only at a file that is there, or is about to be.
  const open = () => {
    if (!conf) guardedWrite(file, () => makeFolder(folders.config));
    conf ??= guarded(file, () => {
      restrictMode(folders.config, 0o700);
      if (existsSync(file)) restrictMode(file, 0o600);
      return new Conf<Stored>({
        cwd: folders.config,
        configName: profilesFileName,
        configFileMode: 0o600,
        accessPropertiesByDotNotation: false,
        // conf would take a text or an array for an object.
        deserialize: (text) => checked(file, JSON.parse(text)),
      });
    });
    return conf;
  };
  const read = (): Stored & Required<Pick<Stored, "profiles">> => {
    if (!conf && !existsSync(file)) return { profiles: {} };
    const stored = guarded(file, () => open().store);
    return { ...stored, profiles: stored.profiles ?? {} };
  };
  const write = (change: (stored: ReturnType<typeof read>) => void) => {
    const conf = open();
    const stored = read();
    change(stored);
    guardedWrite(file, () => {
      conf.store = removeUndefined({ ...stored, version });
    });
  };
  const names = () => [...Object.keys(read().profiles), sandboxProfile];
  const has = (name: string) => names().includes(name);

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
        stored.profiles[name] = removeUndefined(profile);
        stored.current ??= name;
      });
    },
    use(name) {
      if (!has(name)) throw unknownProfileError(name, names());
      write((stored) => {
        stored.current = name;
      });
    },
    remove(name) {
      if (name === sandboxProfile) throw sandboxAlwaysThere();
      if (!has(name)) throw unknownProfileError(name, names());
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
  if (stored.version !== version) throw unreadable(file, `it is not of version ${version}`);
  const { profiles = {}, current } = stored;
  const areSound = isObject(profiles) && Object.values(profiles).every(isProfile);
  if (areSound && (current === undefined || typeof current === "string")) return stored;
  throw unreadable(file, "ecm did not write its content");
}

function isProfile(value: unknown): value is Profile {
  if (!isObject(value)) return false;
  const texts = [value.baseUrl, value.apiKey, value.apiKeyCommand, value.structure];
  const isFlag = value.readOnly === undefined || typeof value.readOnly === "boolean";
  return isFlag && texts.every((text) => text === undefined || typeof text === "string");
}

function guarded<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof EcmError) throw error;
    // A parser's message quotes the file, and with it perhaps a key.
    if (error instanceof SyntaxError) throw unreadable(file, "it is not JSON");
    if (!existsSync(file)) throw unwritable(file, error);
    throw unreadable(file, describeDiskError(error));
  }
}

function guardedWrite(file: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    throw error instanceof EcmError ? error : unwritable(file, error);
  }
}

function unreadable(file: string, reason: string): EcmError {
  return usageError(
    `The profiles in ${file} cannot be used: ${reason}`,
    advise`Fix the file, or move it away and ${logInAgain()}`,
    { type: "ProfilesFileError" },
  );
}

/** The disk's fault, or its folder's: there is nothing to fix in the file. */
function unwritable(file: string, error: unknown): EcmError {
  return failedError(
    `Cannot write the profiles to ${file}: ${describeDiskError(error)}`,
    isDiskFull(error)
      ? "Make room on the disk, then run the same command again"
      : "Name a folder that can be written with ECM_CONFIG_DIR",
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

function removeUndefined<T extends object>(parts: T): T {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as T;
}
