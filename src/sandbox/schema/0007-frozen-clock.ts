/** A clock that stands still, and a name of the log by which whoever follows it sees that it is another. */
export const frozenClockSchema = `
-- The service's time while it stands still, in milliseconds since the epoch; null: it runs.
ALTER TABLE settings ADD COLUMN clock_frozen_at INTEGER;
-- Another one for every folder, and after the log was emptied.
ALTER TABLE settings ADD COLUMN log_id TEXT NOT NULL DEFAULT '';
UPDATE settings SET log_id = lower(hex(randomblob(8)));
`;
