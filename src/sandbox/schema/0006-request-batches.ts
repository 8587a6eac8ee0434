/**
 * Requests are kept many to a row, as they were written together: a row
 * of its own costs as much as the rest of a read.
 */
export const requestBatchesSchema = `
CREATE TABLE request_batches (
  -- Number of the last of them.
  last INTEGER PRIMARY KEY,
  count INTEGER NOT NULL,
  -- JSON array of objects: the different headers of these requests.
  headers TEXT NOT NULL,
  -- JSON array, the oldest first: of each an array of its parts, and its answer. Null in place of one that was erased.
  entries TEXT NOT NULL
);
INSERT INTO request_batches
  SELECT n, 1, json_array(json(headers)), json_array(json_array(json_array(time, method, path, query, 0, body, status, milliseconds, fault),
    CASE WHEN json_valid(answer) THEN json(answer) ELSE answer END))
  FROM requests WHERE n > (SELECT cleared_up_to FROM settings);
DROP TABLE requests;
`;
