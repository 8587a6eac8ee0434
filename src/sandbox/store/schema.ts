/** The tables of a folder. There is one version of them. */
import { EcmError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { Database } from "../database.ts";

const schemaVersion = 1;

/**
 * A structure, a list, a tag and a status are each a group of contacts: `members` holds every membership in
 * the order of contact ids, and triggers keep each group's total, whichever statement writes.
 */
const accountSchema = `
CREATE TABLE account (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  region TEXT NOT NULL,
  status TEXT NOT NULL,
  -- null: the default. The revision tells a running process that the owner has spoken since it started.
  monthly_limit INTEGER,
  monthly_limit_revision INTEGER NOT NULL DEFAULT 0,
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
  expires_at INTEGER,
  created_at INTEGER NOT NULL
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

CREATE TABLE structures (
  id TEXT PRIMARY KEY,
  label TEXT NOT NULL,
  key_name TEXT NOT NULL,
  key_type TEXT NOT NULL,
  -- JSON arrays, as they are answered.
  fields TEXT NOT NULL,
  tags TEXT NOT NULL,
  version INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE lists (
  id TEXT PRIMARY KEY,
  structure_id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  version INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX lists_of_structure ON lists (structure_id, id);

CREATE TABLE contacts (
  id TEXT PRIMARY KEY,
  structure_id TEXT NOT NULL,
  key TEXT NOT NULL,
  folded_key TEXT NOT NULL,
  -- JSON: [{"_id","value"}], and two arrays of ids.
  fields TEXT NOT NULL,
  lists TEXT NOT NULL,
  tags TEXT NOT NULL,
  status_primary TEXT NOT NULL,
  status_secondary TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  version INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX contacts_by_key ON contacts (structure_id, folded_key);

CREATE TABLE members (
  group_id TEXT NOT NULL,
  contact_id TEXT NOT NULL,
  PRIMARY KEY (group_id, contact_id)
) WITHOUT ROWID;

CREATE TABLE totals (
  group_id TEXT PRIMARY KEY,
  total INTEGER NOT NULL,
  -- Grows with every change of the group.
  revision INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TRIGGER member_added AFTER INSERT ON members BEGIN
  INSERT INTO totals VALUES (NEW.group_id, 1, 1)
    ON CONFLICT (group_id) DO UPDATE SET total = total + 1, revision = revision + 1;
END;

CREATE TRIGGER member_removed AFTER DELETE ON members BEGIN
  UPDATE totals SET total = total - 1, revision = revision + 1 WHERE group_id = OLD.group_id;
END;

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

CREATE TABLE documents (
  id TEXT PRIMARY KEY,
  -- campaign, template, domain or report.
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Of a campaign: when it is sent, in milliseconds since the epoch; null: a draft.
  sent_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- JSON: the further members, as they are answered.
  content TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX documents_of_kind ON documents (kind, id);
`;

/** What belongs to the sandbox itself: it stays when the account is emptied or replaced. */
const sandboxSchema = `
CREATE TABLE settings (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  -- The service's time less the real one, in milliseconds.
  clock_offset INTEGER NOT NULL DEFAULT 0,
  -- Where ids begin after a reset; null: ids follow the time.
  id_seed INTEGER
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
`;
const sandboxTables = ["settings", "requests"];

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
 * @throws UsageError for data of another version
 */
export function createTables(database: Database, folder: string): void {
  if (readVersion(database) === schemaVersion) return;
  database.transaction(() => {
    const version = readVersion(database);
    if (version === schemaVersion) return;
    if (version !== 0 || accountTables(database).length > 0) {
      throw unreadableDataError(
        folder,
        `has version ${version}; this ecm reads version ${schemaVersion}`,
        "of another version",
      );
    }
    database.exec(`${accountSchema}${sandboxSchema}PRAGMA user_version = ${schemaVersion}`);
  });
}

/**
 * Empties every table of the account. The caller is in a transaction; to drop a table is far quicker than to
 * delete its rows.
 */
export function emptyAccountTables(database: Database): void {
  const drops = accountTables(database).map((name) => `DROP TABLE "${name}";\n`);
  database.exec(drops.join("") + accountSchema);
}

/** All tables but those of the sandbox itself and of the database. */
export function accountTables(database: Database): string[] {
  return database
    .all<{ name: string }>(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )
    .map((table) => table.name)
    .filter((name) => !sandboxTables.includes(name));
}

/** Marks the attached snapshot as one of this version. */
export function markSnapshot(database: Database): void {
  database.exec(`PRAGMA snapshot.user_version = ${schemaVersion}`);
}

/** Whether the attached snapshot is of this version. */
export function isLoadable(database: Database): boolean {
  return readVersion(database, "snapshot") === schemaVersion;
}

function readVersion(database: Database, schema: "main" | "snapshot" = "main"): number {
  return database.get<{ user_version: number }>(`PRAGMA ${schema}.user_version`)?.user_version ?? 0;
}
