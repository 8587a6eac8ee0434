/**
 * API keys in the database: hashed, never in clear; and the place of the key that the sandbox itself uses.
 */
import { createHash, randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeAtomically } from "../../disk/atomic-file.ts";
import { Tables } from "../database.ts";

export const scopes = [
  "contacts:read",
  "contacts:write",
  "campaigns:read",
  "campaigns:write",
  "reports:read",
  "domains:read",
] as const;
export type Scope = (typeof scopes)[number];

export interface StoredKey {
  id: string;
  name: string;
  /** The key with all but its ends masked. */
  shown: string;
  scopes: Scope[];
  isActive: boolean;
  /** Milliseconds since the epoch; null: never. */
  expiresAt: number | null;
}

const prefix = "ecm_";
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const randomLength = 43;

/** A new key value: 50 characters (specification, Authentication, 3). */
export function newKeyValue(region: string): string {
  let random = "";
  while (random.length < randomLength) random += alphabet[randomInt(alphabet.length)];
  return `${prefix}${region}_${random}`;
}

/** The region that a key names. */
export function keyRegion(key: string): string {
  return key.slice(prefix.length, prefix.length + 2);
}

export function isKeyValue(text: string): boolean {
  return /^ecm_[a-z]{2}_[A-Za-z0-9]{43}$/.test(text);
}

const selected =
  "SELECT id, name, shown, scopes, is_active AS isActive, expires_at AS expiresAt FROM api_keys";
type KeyRow = Omit<StoredKey, "scopes" | "isActive"> & { scopes: string; isActive: number };

export class KeyStore extends Tables {
  all(): StoredKey[] {
    return this.database.all<KeyRow>(`${selected} ORDER BY id`).map(readKey);
  }

  findByValue(key: string): StoredKey | undefined {
    const row = this.database.get<KeyRow>(`${selected} WHERE hash = ?`, hashKey(key));
    return row && readKey(row);
  }

  add(stored: Omit<StoredKey, "shown">, key: string): void {
    this.database.run(
      "INSERT INTO api_keys VALUES (?, ?, ?, ?, ?, ?, ?)",
      stored.id,
      stored.name,
      hashKey(key),
      maskKey(key),
      JSON.stringify(stored.scopes),
      stored.isActive ? 1 : 0,
      stored.expiresAt,
    );
  }

  setActive(id: string, isActive: boolean): void {
    this.database.run("UPDATE api_keys SET is_active = ? WHERE id = ?", isActive ? 1 : 0, id);
  }

  /** The old value is worthless from now on. */
  setValue(id: string, key: string): void {
    const set = "UPDATE api_keys SET hash = ?, shown = ? WHERE id = ?";
    this.database.run(set, hashKey(key), maskKey(key), id);
  }

  remove(id: string): void {
    this.database.run("DELETE FROM api_keys WHERE id = ?", id);
  }
}

/** The database keeps the hash of a key only. */
export function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

function maskKey(key: string): string {
  return `${key.slice(0, prefix.length + 3)}…${key.slice(-4)}`;
}

function readKey({ scopes, isActive, ...row }: KeyRow): StoredKey {
  return { ...row, scopes: JSON.parse(scopes), isActive: isActive === 1 };
}

export interface OwnKeyPlace {
  /** The key, whether it works or not; undefined where there is none yet. */
  read(): string | undefined;
  write(value: string): void;
}

/** In the folder, for all its processes. */
export function ownKeyInFolder(folder: string): OwnKeyPlace {
  const file = join(folder, "api-key");
  return { read: () => readIfThere(file), write: (value) => writeAtomically(file, value) };
}

/** In this process alone. */
export function ownKeyInMemory(): OwnKeyPlace {
  let kept: string | undefined;
  return {
    read: () => kept,
    write: (value) => {
      kept = value;
    },
  };
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
