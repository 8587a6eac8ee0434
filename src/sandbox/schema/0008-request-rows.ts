/**
 * Logged requests are rows again: the log is written with the request that it logs, and found by its columns.
 */
export const requestRowsSchema = `
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
INSERT INTO requests
  SELECT last - count + 1 + entry.key,
    entry.value ->> '$[0][0]', entry.value ->> '$[0][1]', entry.value ->> '$[0][2]', entry.value ->> '$[0][3]',
    batch.headers -> ('$[' || (entry.value ->> '$[0][4]') || ']'),
    entry.value ->> '$[0][5]', entry.value ->> '$[0][6]', entry.value ->> '$[1]',
    entry.value ->> '$[0][7]', entry.value ->> '$[0][8]'
  FROM request_batches AS batch, json_each(batch.entries) AS entry
  WHERE entry.type = 'array' AND last - count + 1 + entry.key > (SELECT cleared_up_to FROM settings)
  ORDER BY 1;
DELETE FROM sqlite_sequence WHERE name = 'requests';
INSERT INTO sqlite_sequence
  SELECT 'requests', max(cleared_up_to, (SELECT coalesce(max(last), 0) FROM request_batches)) FROM settings;
DROP TABLE request_batches;
ALTER TABLE settings DROP COLUMN cleared_up_to;
`;
