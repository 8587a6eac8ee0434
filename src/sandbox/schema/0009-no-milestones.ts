/**
 * Searches remember in memory where the last page ended: no table of
 * places is kept up to date with every membership.
 */
export const noMilestonesSchema = `
DROP TRIGGER member_added;
DROP TRIGGER member_removed;
DROP TABLE milestones;

CREATE TRIGGER member_added AFTER INSERT ON members BEGIN
  INSERT INTO totals VALUES (NEW.group_id, 1, 1)
    ON CONFLICT (group_id) DO UPDATE SET total = total + 1, revision = revision + 1;
END;

CREATE TRIGGER member_removed AFTER DELETE ON members BEGIN
  UPDATE totals SET total = total - 1, revision = revision + 1 WHERE group_id = OLD.group_id;
END;
`;
