/** API keys in the database: hashed, never in clear. */
import { createHash, randomInt } from "node:crypto";
import type { Database } from "../database.ts";

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
  /** The key with all but its ends covered. */
  shown: string;
  scopes: Scope[];
  isActive: boolean;
  /** Milliseconds since the epoch; null: never. */
  expiresAt: number | null;
  createdAt: number;
}

interface KeyRow {
  id: string;
  name: string;
  shown: string;
  scopes: string;
  is_active: number;
  expires_at: number | null;
  created_at: number;
}

export interface Keys {
  all(): StoredKey[];
  ofValue(key: string): StoredKey | undefined;
  add(stored: Omit<StoredKey, "shown">, key: string): void;
  setActive(id: string, isActive: boolean): void;
  /** The old value is worthless from now on. @param expiresAt milliseconds since the epoch; null: never */
  setValue(id: string, key: string, expiresAt: number | null): void;
  remove(id: string): void;
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
export function regionOf(key: string): string {
  return key.slice(prefix.length, prefix.length + 2);
}

export function isKeyValue(text: string): boolean {
  return /^ecm_[a-z]{2}_[A-Za-z0-9]{43}$/.test(text);
}

export function keysIn(database: Database): Keys {
  return {
    all: () => database.all<KeyRow>("SELECT * FROM api_keys ORDER BY id").map(read),
    ofValue(key) {
      const row = database.get<KeyRow>("SELECT * FROM api_keys WHERE hash = ?", hashOf(key));
      return row && read(row);
    },
    add(stored, key) {
      database.run(
        "INSERT INTO api_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        stored.id,
        stored.name,
        hashOf(key),
        covered(key),
        JSON.stringify(stored.scopes),
        stored.isActive ? 1 : 0,
        stored.expiresAt,
        stored.createdAt,
      );
    },
    setActive(id, isActive) {
      database.run("UPDATE api_keys SET is_active = ? WHERE id = ?", isActive ? 1 : 0, id);
    },
    setValue(id, key, expiresAt) {
      const set = "UPDATE api_keys SET hash = ?, shown = ?, expires_at = ? WHERE id = ?";
      database.run(set, hashOf(key), covered(key), expiresAt, id);
    },
    remove(id) {
      database.run("DELETE FROM api_keys WHERE id = ?", id);
    },
  };
}

/** What is kept of a key. */
export function hashOf(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

function covered(key: string): string {
  return `${key.slice(0, prefix.length + 3)}…${key.slice(-4)}`;
}

function read(row: KeyRow): StoredKey {
  return {
    id: row.id,
    name: row.name,
    shown: row.shown,
    scopes: JSON.parse(row.scopes),
    isActive: row.is_active === 1,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
  };
}
