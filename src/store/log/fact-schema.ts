// The columns by which the log is searched. Filled in steps after the write path; newer entries are searched in the log
// itself.

/** Columns of an entry that a query can name, besides its verbs and its time. */
export const FACTS = ["user", "agent", "session", "code", "outcome", "kind"] as const;
export type Fact = (typeof FACTS)[number];

const numbers = FACTS.map((fact) => `${fact} INTEGER`).join(", ");
/** A covering index: a second condition is checked without reading the row. */
const index = (fact: Fact): string =>
  `CREATE INDEX fact_${fact} ON fact (${[fact, "place", "at", ...FACTS.filter((other) => other !== fact)].join(", ")}) WHERE ${fact} IS NOT NULL;`;

export const factTables: string = `
CREATE TABLE term (number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE fact (place INTEGER PRIMARY KEY, at INTEGER NOT NULL, ${numbers}) STRICT;
${FACTS.map(index).join("\n")}
CREATE TABLE fact_verb (
  verb INTEGER NOT NULL, place INTEGER NOT NULL, at INTEGER NOT NULL, ${numbers}, PRIMARY KEY (verb, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE fact_id (id TEXT PRIMARY KEY, place INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE fact_of (of TEXT NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (of, place)) STRICT, WITHOUT ROWID;
-- Between which moments the entries of a step lie: order is by place, and clocks jump.
CREATE TABLE span (last INTEGER PRIMARY KEY, first INTEGER NOT NULL, earliest INTEGER NOT NULL, latest INTEGER NOT NULL) STRICT;
CREATE VIRTUAL TABLE word USING fts5(token, content='', contentless_delete=1, detail=none, tokenize='ascii');
`;
