// Accounts: the total spent, and the times that rates need. Generations beside them.

export const accountTables: string = `
-- is_left: its family went on without it. What it spent still counts for what stands in its place.
CREATE TABLE account (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  family TEXT NOT NULL,
  used INTEGER NOT NULL CHECK (used >= 0),
  at INTEGER NOT NULL,
  is_left INTEGER NOT NULL CHECK (is_left IN (0, 1))
) STRICT;
CREATE INDEX account_family ON account (family);
CREATE TRIGGER account_onward BEFORE UPDATE OF used ON account WHEN new.used < old.used BEGIN
  SELECT RAISE(ABORT, 'what was spent stays spent');
END;
CREATE TRIGGER account_stays BEFORE DELETE ON account BEGIN
  SELECT RAISE(ABORT, 'accounts are never removed');
END;

-- A stretch of calls of one account: how many, and when the last of them was.
CREATE TABLE stretch (
  account INTEGER NOT NULL REFERENCES account (number),
  number INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (account, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE generation (
  scope TEXT PRIMARY KEY,
  number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER generation_onward BEFORE UPDATE ON generation WHEN new.number <= old.number BEGIN
  SELECT RAISE(ABORT, 'a generation only goes up');
END;
CREATE TRIGGER generation_stays BEFORE DELETE ON generation BEGIN
  SELECT RAISE(ABORT, 'generations are never removed');
END;
`;

/**
 * Version 3. Before it, the newest counts of accounts were in the leaves that charged them (`leaf.accounts`, a list of
 * [number, used, at, is_left]); now they are always in the account table.
 */
export const accountsOfLeaves = `
UPDATE account SET used = newest.used, at = newest.at, is_left = newest.is_left
FROM (
  SELECT value ->> 0 AS number, value ->> 1 AS used, value ->> 2 AS at, value ->> 3 AS is_left, max(leaf.last)
  FROM leaf, json_each(leaf.accounts)
  WHERE leaf.last > (SELECT accounts FROM progress) AND leaf.accounts IS NOT NULL
  GROUP BY 1
) AS newest
WHERE account.number = newest.number;
DROP TRIGGER IF EXISTS leaf_stays;
ALTER TABLE leaf DROP COLUMN accounts;
ALTER TABLE progress DROP COLUMN accounts;
CREATE TRIGGER leaf_stays BEFORE DELETE ON leaf WHEN (SELECT old.last >= before FROM progress) BEGIN
  SELECT RAISE(ABORT, 'entries are never removed');
END;
DROP INDEX account_family;
CREATE INDEX account_family ON account (family, is_left);
ALTER TABLE stretch RENAME TO bucket;
`;

/** Version 5: what calls cost. A reservation is replaced by the cost, or stays. */
export const accountCosts = `
ALTER TABLE account ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0 CHECK (tokens >= 0);
ALTER TABLE account ADD COLUMN money INTEGER NOT NULL DEFAULT 0 CHECK (money >= 0);
CREATE TRIGGER account_cost_onward BEFORE UPDATE OF tokens, money ON account
  WHEN new.tokens < old.tokens OR new.money < old.money BEGIN
  SELECT RAISE(ABORT, 'what was spent stays spent');
END;
CREATE TABLE reservation (
  decision TEXT NOT NULL,
  account INTEGER NOT NULL REFERENCES account (number),
  tokens INTEGER NOT NULL CHECK (tokens >= 0),
  money INTEGER NOT NULL CHECK (money >= 0),
  PRIMARY KEY (decision, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX reservation_account ON reservation (account);
`;
