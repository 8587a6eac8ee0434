/**
 * What is sent, and what it is made of. What follows from a mail later waits
 * in a table of its own until its time has come.
 */
export const campaignsSchema = `
CREATE TABLE documents (
  id TEXT PRIMARY KEY,
  -- campaign, template or domain.
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

CREATE TABLE upcoming_events (
  id INTEGER PRIMARY KEY,
  campaign_id TEXT NOT NULL,
  contact_id TEXT NOT NULL,
  type TEXT NOT NULL,
  happens_at INTEGER NOT NULL,
  details TEXT NOT NULL
);
CREATE INDEX upcoming_by_time ON upcoming_events (happens_at, id);
CREATE INDEX upcoming_of_mail ON upcoming_events (campaign_id, contact_id);

CREATE INDEX events_of_campaign ON events (details ->> '$.emailCampaignId') WHERE details IS NOT NULL;
`;
