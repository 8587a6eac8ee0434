/**
 * What belongs to the sandbox itself and not to its account: it
 * stays when the account is emptied or replaced.
 */
export const sandboxSchema = `
CREATE TABLE settings (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  -- The service's time less the real one, in milliseconds.
  clock_offset INTEGER NOT NULL DEFAULT 0,
  -- Where ids begin after a reset; null: ids follow the time.
  id_seed INTEGER,
  -- The log was cleared up to this number.
  cleared_up_to INTEGER NOT NULL DEFAULT 0
);
INSERT INTO settings (only) VALUES (1);

CREATE TABLE requests (
  n INTEGER PRIMARY KEY,
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
  answer TEXT,
  milliseconds REAL NOT NULL,
  fault TEXT
);
`;
