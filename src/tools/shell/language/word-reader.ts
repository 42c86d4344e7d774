// Parses one word: plain text, quotes, backslashes and variables, up to the next blank or operator.
import { type Construct, refusal, type ShellRefusal } from "./refusal.ts";
import type { Part, Word } from "./script.ts";

/** The read position, moved by the word reader and by the parser. */
export interface Cursor {
  readonly text: string;
  at: number;
}

/** Characters that end an unquoted word. */
const ENDS: ReadonlySet<string> = new Set([" ", "\t", "\n", "|", "&", ";", "<", ">", "(", ")"]);

/** Invisible characters, and those that look like a blank, would mislead an approver; quotes make them text. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Z}]/u;

export function endsWord(character: string): boolean {
  return character === "" || ENDS.has(character);
}

/** Null if no word begins here. */
export function readWord(cursor: Cursor): Word | ShellRefusal | null {
  const { text } = cursor;
  const start = cursor.at;
  const parts: Part[] = [];
  while (!endsWord(text.charAt(cursor.at))) {
    const problem = readPart(cursor, parts);
    if (problem !== null) return problem;
  }
  return parts.length === 0 ? null : { parts, range: { start, end: cursor.at } };
}

function readPart(cursor: Cursor, parts: Part[]): ShellRefusal | null {
  const { text, at } = cursor;
  switch (text[at]) {
    case "'":
      return readSingleQuoted(cursor, parts);
    case '"':
      return readDoubleQuoted(cursor, parts);
    case "$":
      return readVariable(cursor, parts);
    case "`":
      return refused("command_substitution", at, 1);
    case "\\": {
      const character = characterAt(text, at + 1);
      if (character === "") return refused("trailing_backslash", at, 1);
      cursor.at += 1 + character.length;
      add(parts, "quoted", character);
      return null;
    }
    default: {
      const character = characterAt(text, at);
      if (HIDDEN.test(character)) return refused("hidden_character", at, character.length);
      cursor.at += character.length;
      add(parts, "plain", character);
      return null;
    }
  }
}

function readSingleQuoted(cursor: Cursor, parts: Part[]): ShellRefusal | null {
  const end = cursor.text.indexOf("'", cursor.at + 1);
  if (end < 0) return refused("open_quote", cursor.at, 1);
  add(parts, "quoted", cursor.text.slice(cursor.at + 1, end));
  cursor.at = end + 1;
  return null;
}

/** In double quotes a backslash escapes only characters that are special there. */
function readDoubleQuoted(cursor: Cursor, parts: Part[]): ShellRefusal | null {
  const { text } = cursor;
  const start = cursor.at++;
  add(parts, "quoted", "");
  for (;;) {
    const character = text.charAt(cursor.at);
    if (character === "") return refused("open_quote", start, 1);
    if (character === "`") return refused("command_substitution", cursor.at, 1);
    if (character === '"') {
      cursor.at++;
      return null;
    }
    if (character === "$") {
      const problem = readVariable(cursor, parts);
      if (problem !== null) return problem;
    } else if (character === "\\" && /^[$`"\\]$/.test(text.charAt(cursor.at + 1))) {
      add(parts, "quoted", text.charAt(cursor.at + 1));
      cursor.at += 2;
    } else {
      add(parts, "quoted", character);
      cursor.at++;
    }
  }
}

/** `$NAME` or `${NAME}`; everything else that begins with a dollar is refused. */
function readVariable(cursor: Cursor, parts: Part[]): ShellRefusal | null {
  const { text, at } = cursor;
  if (text.startsWith("$((", at)) return refused("arithmetic", at, 3);
  if (text[at + 1] === "(") return refused("command_substitution", at, 2);
  const isBraced = text[at + 1] === "{";
  const end = isBraced ? text.indexOf("}", at) : -1;
  if (isBraced && end < 0) return refused("open_variable", at, 2);
  const name = nameAt(text, at + (isBraced ? 2 : 1));
  if (isBraced && (name === "" || at + 2 + name.length !== end)) return refused("variable_form", at, end + 1 - at);
  if (name === "") return refused("bare_dollar", at, 1);
  cursor.at = isBraced ? end + 1 : at + 1 + name.length;
  parts.push({ kind: "variable", name });
  return null;
}

function nameAt(text: string, at: number): string {
  const name = /[A-Za-z_][A-Za-z0-9_]*/y;
  name.lastIndex = at;
  return name.exec(text)?.[0] ?? "";
}

function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? "" : String.fromCodePoint(code);
}

/** Text is appended to the previous part if that is quoted alike. An empty quote differs from no part. */
function add(parts: Part[], kind: "plain" | "quoted", text: string): void {
  const last = parts[parts.length - 1];
  if (last?.kind === kind) parts[parts.length - 1] = { kind, text: last.text + text };
  else parts.push({ kind, text });
}

function refused(construct: Construct, start: number, length: number): ShellRefusal {
  return refusal(construct, { start, end: start + length });
}
