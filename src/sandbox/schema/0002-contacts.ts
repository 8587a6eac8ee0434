/**
 * Structures, lists and contacts. A structure, a list, a tag and a status are each a
 * group of contacts: `members` holds every membership in the order of contact ids, and
 * triggers keep each group's total, whoever writes.
 */
export const contactsSchema = `
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
CREATE UNIQUE INDEX contacts_by_key ON contacts (structure_id, folded_key);

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

-- "The contact is the group's ordinal-th": lets a search begin at any page without counting from the first.
-- Laid by searches; a change in a group removes those behind it.
CREATE TABLE milestones (
  group_id TEXT NOT NULL,
  contact_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  PRIMARY KEY (group_id, contact_id)
) WITHOUT ROWID;
CREATE INDEX milestones_by_ordinal ON milestones (group_id, ordinal, contact_id);

CREATE TRIGGER member_added AFTER INSERT ON members BEGIN
  INSERT INTO totals VALUES (NEW.group_id, 1, 1)
    ON CONFLICT (group_id) DO UPDATE SET total = total + 1, revision = revision + 1;
  DELETE FROM milestones WHERE group_id = NEW.group_id AND contact_id >= NEW.contact_id;
END;

CREATE TRIGGER member_removed AFTER DELETE ON members BEGIN
  UPDATE totals SET total = total - 1, revision = revision + 1 WHERE group_id = OLD.group_id;
  DELETE FROM milestones WHERE group_id = OLD.group_id AND contact_id >= OLD.contact_id;
END;
`;
