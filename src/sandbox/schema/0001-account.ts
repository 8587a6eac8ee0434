/**
 * The account: its standing, its limits and what is spent of them,
 * its keys, and addresses that failed to log in.
 */
export const accountSchema = `
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
`;
