// Delegations, and the agents created by agents.

export const linkTables: string = `
CREATE TABLE link (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  parent TEXT,
  expires INTEGER,
  revoked INTEGER,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX link_parent ON link (parent) WHERE parent IS NOT NULL;
CREATE INDEX link_live ON link (number) WHERE revoked IS NULL;
CREATE TRIGGER link_dead BEFORE UPDATE OF revoked ON link WHEN old.revoked IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'what was revoked stays revoked');
END;
CREATE TRIGGER link_stays BEFORE DELETE ON link BEGIN
  SELECT RAISE(ABORT, 'links are never removed');
END;

CREATE TABLE made_agent (
  name TEXT PRIMARY KEY,
  ended INTEGER,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;
