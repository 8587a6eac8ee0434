/** What happened to contacts. An event stays when its contact is deleted. */
export const eventsSchema = `
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
