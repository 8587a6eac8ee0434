/** The tables of a folder. There is one version of them. */
import { EcmError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { Database } from "../database.ts";

const schemaVersion = 1;

const accountSchema = `
CREATE TABLE account (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  region TEXT NOT NULL,
  status TEXT NOT NULL,
  -- null: the default.
  monthly_limit INTEGER,
  hour_ends_at INTEGER NOT NULL DEFAULT 0,
  hour_used INTEGER NOT NULL DEFAULT 0,
  month_ends_at INTEGER NOT NULL DEFAULT 0,
  month_used INTEGER NOT NULL DEFAULT 0,
  last_id TEXT NOT NULL
);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  -- SHA-256 of the key: 43 random characters need no slow hash.
  hash TEXT NOT NULL UNIQUE,
  shown TEXT NOT NULL,
  scopes TEXT NOT NULL,
  is_active INTEGER NOT NULL,
  expires_at INTEGER
) WITHOUT ROWID;

-- One row for each failed authentication, as long as it counts.
CREATE TABLE failures (
  address TEXT NOT NULL,
  failed_at INTEGER NOT NULL
);
CREATE INDEX failures_of_address ON failures (address, failed_at);

CREATE TABLE blocks (
  address TEXT PRIMARY KEY,
  blocked_until INTEGER NOT NULL
) WITHOUT ROWID;

-- Structures, lists, campaigns, templates, domains and reports.
CREATE TABLE documents (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  -- JSON.
  content TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) WITHOUT ROWID;

CREATE TABLE contacts (
  id TEXT PRIMARY KEY,
  structure_id TEXT NOT NULL,
  folded_key TEXT NOT NULL,
  -- The primary one, in lower case.
  status TEXT NOT NULL,
  -- JSON.
  contact TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX contacts_by_key ON contacts (structure_id, folded_key);
CREATE INDEX contacts_by_status ON contacts (structure_id, status, id);
CREATE INDEX contacts_of_structure ON contacts (structure_id, id);

-- The contacts of lists, in the order of contact ids.
CREATE TABLE members (
  list_id TEXT NOT NULL,
  contact_id TEXT NOT NULL,
  PRIMARY KEY (list_id, contact_id)
) WITHOUT ROWID;

-- An event stays when its contact is deleted.
CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  contact_id TEXT NOT NULL,
  type TEXT NOT NULL,
  -- Milliseconds since the epoch.
  happened_at INTEGER NOT NULL,
  -- JSON: the further members of the record; null where a request to the API was the cause.
  details TEXT
);
CREATE INDEX events_by_time ON events (happened_at);
CREATE INDEX events_of_contact ON events (contact_id, happened_at);
`;

/** What belongs to the sandbox itself: it stays when the account is emptied or replaced. */
const sandboxSchema = `
CREATE TABLE settings (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  -- The service's time less the real one, in milliseconds.
  clock_offset INTEGER NOT NULL DEFAULT 0,
  -- Where ids begin after a reset; null: ids follow the time.
  id_seed INTEGER,
  -- How often the account was replaced, by a reset or a snapshot.
  replaced INTEGER NOT NULL DEFAULT 0,
  -- Another one after each change of a contact.
  contacts_state TEXT NOT NULL DEFAULT ''
);
INSERT INTO settings (only) VALUES (1);

CREATE TABLE requests (
  -- No number is given twice, also after the log was cleared.
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  time INTEGER NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  query TEXT NOT NULL,
  -- JSON object.
  headers TEXT NOT NULL,
  -- Null: there was none.
  body TEXT,
  -- Null: the connection was dropped before an answer.
  status INTEGER,
  -- JSON, or the beginning of a long one.
  answer TEXT,
  milliseconds REAL NOT NULL,
  fault TEXT
);
INSERT INTO sqlite_sequence VALUES ('requests', 0);

CREATE TABLE snapshots (
  name TEXT PRIMARY KEY,
  saved_at INTEGER NOT NULL
) WITHOUT ROWID;
`;

/** Failed logins are no part of the account's state. */
const unsavedTables = ["failures", "blocks"];
/** Snapshots hold them, each in a table of its own. */
export const savedTables = ["account", "api_keys", "documents", "contacts", "members", "events"];

/** The rows of all snapshots. */
export function snapshotTable(table: string): string {
  return `saved_${table}`;
}

const snapshotSchema = savedTables
  .map((table) => {
    const saved = snapshotTable(table);
    return `CREATE TABLE ${saved} AS SELECT '' AS snapshot, * FROM ${table} WHERE false;
CREATE INDEX ${saved}_of_snapshot ON ${saved} (snapshot);\n`;
  })
  .join("");

/** @param state in words: `damaged` */
export function unreadableDataError(folder: string, what: string, state: string, cause?: unknown): EcmError {
  return new EcmError(
    "unreadable data",
    `The sandbox's data in ${folder} ${what}`,
    advise`Delete it and start over with: ${ecm`sandbox reset --data ${folder}`}`,
    { about: state, cause },
  );
}

/**
 * Gives a new database its tables.
 * @param folder of the database, for the message
 * @throws SandboxDataError for data of another version
 */
export function createTables(database: Database, folder: string): void {
  if (readVersion(database) === schemaVersion) return;
  database.transaction(() => {
    const version = readVersion(database);
    if (version === schemaVersion) return;
    if (version !== 0 || database.get("SELECT name FROM sqlite_schema") !== undefined) {
      throw unreadableDataError(
        folder,
        `has version ${version}; this ecm reads version ${schemaVersion}`,
        "of another version",
      );
    }
    database.exec(`${accountSchema}${sandboxSchema}${snapshotSchema}PRAGMA user_version = ${schemaVersion}`);
  });
}

/** Empties every table of the account. The caller is in a transaction. */
export function emptyAccountTables(database: Database): void {
  for (const table of [...savedTables, ...unsavedTables]) database.run(`DELETE FROM ${table}`);
  database.run("UPDATE settings SET replaced = replaced + 1");
}

function readVersion(database: Database): number {
  return database.get<{ user_version: number }>("PRAGMA user_version")?.user_version ?? 0;
}
