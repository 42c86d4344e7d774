// Approvals: the whole as JSON, and columns for what is searched and compared.

export const approvalTables: string = `
-- number: the order in which they were asked. receipt: the decision that uses it.
CREATE TABLE approval (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  digest TEXT NOT NULL,
  expires INTEGER NOT NULL,
  receipt TEXT,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX approval_state ON approval (state, number);
`;
