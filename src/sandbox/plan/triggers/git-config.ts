// A strict parser of git configuration text: which files and programs a repository's settings name. It accepts what git
// accepts and stops where git stops; text that does not parse is an error, never an empty configuration.
import { done, type Result, refuse } from "../../../core/base/result.ts";

export interface GitSetting {
  /** Section and key in lower case, the subsection as written: `core.hookspath`, `includeif.gitdir:~/w/.path`. */
  readonly section: string;
  readonly subsection: string | null;
  readonly key: string;
  /** Null for a key without `=`, which git reads as true. */
  readonly value: string | null;
}

export const gitConfigCharactersMax = 1_048_576;
const settingsMax = 20_000;
const SECTION = /^\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/;
const KEY = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*/;

export function readGitConfig(text: string): Result<readonly GitSetting[]> {
  if (text.length > gitConfigCharactersMax) return refuse("too_long", "a git configuration is too long to check");
  const settings: GitSetting[] = [];
  let section = "";
  let subsection: string | null = null;
  let rest = text.replace(/^\ufeff/, "").replace(/\r\n/g, "\n");
  for (;;) {
    rest = rest.replace(/^(?:[ \t\r\n]+|[#;][^\n]*)+/, "");
    if (rest === "") return done(settings);
    if (settings.length >= settingsMax) return refuse("too_long", "a git configuration has too many settings to check");
    const header = SECTION.exec(rest);
    if (header !== null) {
      const [whole, name = "", quotedName] = header;
      // The older form: `[section.subsection]`, in lower case.
      const dot = name.indexOf(".");
      section = (quotedName === undefined && dot > 0 ? name.slice(0, dot) : name).toLowerCase();
      subsection = quotedName?.replace(/\\(.)/g, "$1") ?? (dot > 0 ? name.slice(dot + 1).toLowerCase() : null);
      rest = rest.slice(whole.length);
      continue;
    }
    const [word, key = ""] = KEY.exec(rest) ?? [];
    if (word === undefined || section === "") return refuse("bad_value", "a git configuration cannot be parsed");
    rest = rest.slice(word.length);
    if (!rest.startsWith("=")) {
      // A comment needs a value before it: git refuses `key # comment`.
      if (rest !== "" && !rest.startsWith("\n")) return refuse("bad_value", "a git configuration cannot be parsed");
      settings.push({ section, subsection, key: key.toLowerCase(), value: null });
      continue;
    }
    const value = readValue(rest.slice(1));
    if (value === null) return refuse("bad_value", "a git configuration has a value that cannot be parsed");
    settings.push({ section, subsection, key: key.toLowerCase(), value: value.text });
    rest = value.rest;
  }
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["b", "\b"],
  ["\\", "\\"],
  ['"', '"'],
]);

/** Like git: quotes anywhere, a backslash continues the line, a comment ends it, surrounding white space is dropped. */
function readValue(text: string): { readonly text: string; readonly rest: string } | null {
  let value = "";
  /** The length without trailing white space. */
  let end = 0;
  let isQuoted = false;
  let isComment = false;
  let at = 0;
  for (; at < text.length && text[at] !== "\n"; at++) {
    const sign = text[at] as string;
    if (isComment) continue;
    if (sign === "\\") {
      const next = text[++at];
      if (next === "\n") {
        // White space before a continuation stays, also where nothing follows.
        end = value.length;
        continue;
      }
      const plain = next === undefined ? undefined : ESCAPES.get(next);
      if (plain === undefined) return null;
      value += plain;
      end = value.length;
    } else if (sign === '"') {
      isQuoted = !isQuoted;
      end = value.length;
    } else if (!isQuoted && (sign === "#" || sign === ";")) isComment = true;
    else if (isQuoted || !/[ \t\r]/.test(sign)) {
      value += sign;
      end = value.length;
    } else if (value !== "") value += sign;
  }
  if (isQuoted) return null;
  return { text: value.slice(0, end), rest: text.slice(at) };
}
