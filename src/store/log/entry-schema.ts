// The log's own tables. Rows are only added; only retention removes them, and it leaves a checkpoint behind.

export const entryTables: string = `
-- A leaf of the log: the entries of one commit, or of a part of a large one. Its entries are a list, a line for each: hash and
-- body, as they stand in the chain. accounts: where those stand that it charged, until that is written to their own table.
CREATE TABLE leaf (
  last INTEGER PRIMARY KEY,
  first INTEGER NOT NULL,
  accounts TEXT,
  entries TEXT NOT NULL
) STRICT;

CREATE TABLE checkpoint (
  place INTEGER PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;

-- first: the first place that is kept. gone: rows before it that still have to be removed begin here.
-- facts, words: how far the indexes for searching have come. accounts: up to which leaf accounts are in their own table.
-- before: set only while retention removes rows.
CREATE TABLE progress (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  first INTEGER NOT NULL,
  gone INTEGER NOT NULL,
  facts INTEGER NOT NULL,
  words INTEGER NOT NULL,
  accounts INTEGER NOT NULL,
  before INTEGER NOT NULL
) STRICT;
INSERT INTO progress VALUES (1, 1, 1, 0, 0, 0, 0);

CREATE TRIGGER leaf_behind BEFORE INSERT ON leaf
WHEN new.last < new.first OR new.first <> 1 + coalesce((SELECT max(last) FROM leaf), 0) BEGIN
  SELECT RAISE(ABORT, 'a leaf stands behind the last one');
END;
CREATE TRIGGER leaf_kept BEFORE UPDATE ON leaf BEGIN
  SELECT RAISE(ABORT, 'entries are never changed');
END;
CREATE TRIGGER leaf_stays BEFORE DELETE ON leaf
WHEN (SELECT old.last >= before OR old.last > accounts FROM progress) BEGIN
  SELECT RAISE(ABORT, 'entries are never removed');
END;
CREATE TRIGGER progress_checked BEFORE UPDATE OF before ON progress
WHEN new.before <> 0 AND NOT EXISTS (SELECT 1 FROM checkpoint WHERE place = new.before - 1) BEGIN
  SELECT RAISE(ABORT, 'entries are removed only up to a checkpoint');
END;
CREATE TRIGGER progress_onward BEFORE UPDATE OF first ON progress WHEN new.first < old.first BEGIN
  SELECT RAISE(ABORT, 'what was removed does not come back');
END;
CREATE TRIGGER progress_stays BEFORE DELETE ON progress BEGIN
  SELECT RAISE(ABORT, 'there is always one');
END;
CREATE TRIGGER checkpoint_kept BEFORE UPDATE ON checkpoint BEGIN
  SELECT RAISE(ABORT, 'checkpoints are never changed');
END;
CREATE TRIGGER checkpoint_stays BEFORE DELETE ON checkpoint BEGIN
  SELECT RAISE(ABORT, 'checkpoints are never removed');
END;
`;

/** The signature of each commit is stored in its leaf; older leaves have none. */
export const leafNote = "ALTER TABLE leaf ADD COLUMN note TEXT;";
