// Tables of what agents and tools store, of sealed secrets and of settings. Triggers maintain the counts, so that they
// always match the rows, whatever wrote them. Text from outside is stored as JSON or as bytes (see memory-text.ts).

export const memoryTables: string = `
CREATE TABLE memory (
  namespace TEXT NOT NULL,
  key BLOB NOT NULL,
  value TEXT NOT NULL,
  version INTEGER NOT NULL,
  at INTEGER NOT NULL,
  expires INTEGER,
  is_clean INTEGER NOT NULL CHECK (is_clean IN (0, 1)),
  writer TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (namespace, key)
) STRICT;
CREATE INDEX memory_expires ON memory (expires) WHERE expires IS NOT NULL;

-- last: the highest version ever given in the namespace; a key that is made anew never has a version it had before.
CREATE TABLE memory_space (
  namespace TEXT PRIMARY KEY,
  keys INTEGER NOT NULL DEFAULT 0 CHECK (keys >= 0),
  bytes INTEGER NOT NULL DEFAULT 0 CHECK (bytes >= 0),
  last INTEGER NOT NULL DEFAULT 0,
  at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TRIGGER memory_in AFTER INSERT ON memory BEGIN
  UPDATE memory_space SET keys = keys + 1, bytes = bytes + new.bytes WHERE namespace = new.namespace;
END;
CREATE TRIGGER memory_over AFTER UPDATE OF bytes ON memory BEGIN
  UPDATE memory_space SET bytes = bytes + new.bytes - old.bytes WHERE namespace = new.namespace;
END;
CREATE TRIGGER memory_out AFTER DELETE ON memory BEGIN
  UPDATE memory_space SET keys = keys - 1, bytes = bytes - old.bytes WHERE namespace = old.namespace;
END;

-- number: the order of arrival, which is the order of the answer. Clocks jump.
CREATE TABLE observation (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  holder TEXT NOT NULL,
  session TEXT,
  at INTEGER NOT NULL,
  text TEXT NOT NULL,
  tags TEXT NOT NULL,
  is_clean INTEGER NOT NULL CHECK (is_clean IN (0, 1)),
  bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX observation_holder ON observation (holder, number, at);

-- removed: how many of the oldest had to go, so that none goes unsaid.
CREATE TABLE observation_space (
  holder TEXT PRIMARY KEY,
  count INTEGER NOT NULL DEFAULT 0 CHECK (count >= 0),
  bytes INTEGER NOT NULL DEFAULT 0 CHECK (bytes >= 0),
  removed INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TRIGGER observation_in AFTER INSERT ON observation BEGIN
  UPDATE observation_space SET count = count + 1, bytes = bytes + new.bytes WHERE holder = new.holder;
END;
CREATE TRIGGER observation_kept BEFORE UPDATE ON observation BEGIN
  SELECT RAISE(ABORT, 'observations are never changed');
END;
CREATE TRIGGER observation_out AFTER DELETE ON observation BEGIN
  UPDATE observation_space SET count = count - 1, bytes = bytes - old.bytes, removed = removed + 1 WHERE holder = old.holder;
END;

-- body: the whole secret as it was put; what changes by use stands beside it.
CREATE TABLE secret (
  name TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  uses INTEGER,
  used INTEGER NOT NULL,
  is_canary INTEGER NOT NULL CHECK (is_canary IN (0, 1)),
  body TEXT NOT NULL
) STRICT;

CREATE TABLE setting (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;
