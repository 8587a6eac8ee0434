CREATE TABLE account(
  only INT,
  region TEXT,
  status TEXT,
  monthly_limit INT,
  monthly_limit_revision INT,
  hour_ends_at INT,
  hour_used INT,
  month_ends_at INT,
  month_used INT,
  last_id TEXT
);
CREATE TABLE api_keys(
  id TEXT,
  name TEXT,
  hash TEXT,
  shown TEXT,
  scopes TEXT,
  is_active INT,
  expires_at INT,
  created_at INT
);
CREATE TABLE structures(
  id TEXT,
  label TEXT,
  key_name TEXT,
  key_type TEXT,
  fields TEXT,
  tags TEXT,
  version INT
);
CREATE TABLE lists(
  id TEXT,
  structure_id TEXT,
  name TEXT,
  created_at INT,
  updated_at INT,
  version INT
);
CREATE TABLE contacts(
  id TEXT,
  structure_id TEXT,
  "key" TEXT,
  folded_key TEXT,
  fields TEXT,
  lists TEXT,
  tags TEXT,
  status_primary TEXT,
  status_secondary TEXT,
  created_at INT,
  updated_at INT,
  version INT
);
CREATE TABLE members(group_id TEXT,contact_id TEXT);
CREATE TABLE totals(
  group_id TEXT,
  total INT,
  revision INT
);
CREATE TABLE milestones(
  group_id TEXT,
  contact_id TEXT,
  ordinal INT
);
CREATE TABLE events(
  id INT,
  contact_id TEXT,
  type TEXT,
  happened_at INT,
  details TEXT
);
INSERT INTO "account" VALUES (1, 'us', 'open', NULL, 0, 1781528400000, 8, 1782864000000, 8, '659200807902699be400000d');
INSERT INTO "api_keys" VALUES ('659200807902699be4000004', 'sandbox', '81790337ceb11eea744ee6c63a5dc91e3b4e6cabc50dfa6bff9877f44bc7ecd2', 'ecm_us_…7San', '["contacts:read","contacts:write","campaigns:read","campaigns:write","reports:read","domains:read"]', 1, NULL, 1781524800000);
INSERT INTO "structures" VALUES ('659200807902699be4000001', 'Default', 'Email', 'email', '[{"_id":"659200807902699be4000002","label":"First Name","dataType":"text","required":false,"predefinedField":"firstName"},{"_id":"659200807902699be4000003","label":"Last Name","dataType":"text","required":false,"predefinedField":"lastName"},{"_id":"659200807902699be4000005","label":"City","dataType":"text","required":false},{"_id":"659200807902699be4000006","label":"Plan","dataType":"text","required":false}]', '[{"_id":"659200807902699be4000007","label":"vip"},{"_id":"659200807902699be4000008","label":"trial"}]', 1);
INSERT INTO "lists" VALUES ('659200807902699be4000009', '659200807902699be4000001', 'News', 1781524800000, 1781524800000, 0);
INSERT INTO "lists" VALUES ('659200807902699be400000a', '659200807902699be4000001', 'Offers', 1781524800000, 1781524800000, 0);
INSERT INTO "contacts" VALUES ('659200807902699be400000b', '659200807902699be4000001', 'ada@example.com', 'ada@example.com', '[{"_id":"659200807902699be4000005","value":"Oslo"}]', '["659200807902699be4000009","659200807902699be400000a"]', '["659200807902699be4000007"]', 'active', 'confirmed', 1781524800000, 1781524800000, 0);
INSERT INTO "contacts" VALUES ('659200807902699be400000c', '659200807902699be4000001', 'bob@example.com', 'bob@example.com', '[]', '["659200807902699be4000009"]', '[]', 'active', 'confirmed', 1781524800000, 1781524800000, 0);
INSERT INTO "contacts" VALUES ('659200807902699be400000d', '659200807902699be4000001', 'eve@example.com', 'eve@example.com', '[]', '[]', '[]', 'active', 'confirmed', 1781524800000, 1781524800000, 0);
INSERT INTO "members" VALUES ('659200807902699be4000001', '659200807902699be400000b');
INSERT INTO "members" VALUES ('659200807902699be4000001', '659200807902699be400000c');
INSERT INTO "members" VALUES ('659200807902699be4000001', '659200807902699be400000d');
INSERT INTO "members" VALUES ('659200807902699be4000001:active', '659200807902699be400000b');
INSERT INTO "members" VALUES ('659200807902699be4000001:active', '659200807902699be400000c');
INSERT INTO "members" VALUES ('659200807902699be4000001:active', '659200807902699be400000d');
INSERT INTO "members" VALUES ('659200807902699be4000007', '659200807902699be400000b');
INSERT INTO "members" VALUES ('659200807902699be4000009', '659200807902699be400000b');
INSERT INTO "members" VALUES ('659200807902699be4000009', '659200807902699be400000c');
INSERT INTO "members" VALUES ('659200807902699be400000a', '659200807902699be400000b');
INSERT INTO "totals" VALUES ('659200807902699be4000001', 3, 3);
INSERT INTO "totals" VALUES ('659200807902699be4000001:active', 3, 3);
INSERT INTO "totals" VALUES ('659200807902699be4000007', 1, 1);
INSERT INTO "totals" VALUES ('659200807902699be4000009', 2, 2);
INSERT INTO "totals" VALUES ('659200807902699be400000a', 1, 1);
INSERT INTO "events" VALUES (1, '659200807902699be400000b', 'contact-created', 1781524800000, NULL);
INSERT INTO "events" VALUES (2, '659200807902699be400000c', 'contact-created', 1781524800000, NULL);
INSERT INTO "events" VALUES (3, '659200807902699be400000d', 'contact-created', 1781524800000, NULL);
PRAGMA user_version = 7;
