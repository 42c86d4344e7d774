// Expands a pattern of a script: lists folders one after another, through a function that checks access.
import type { FileEntry, FilePath, FileResult } from "../../../core/ports/files.ts";
import { chosenNamesMax, folderNamesMax } from "../language/limits.ts";
import type { Word } from "../language/script.ts";
import { namePattern, patternText } from "./file-names.ts";
import type { PatternSearch } from "./pattern-search.ts";

/** The names of a folder; refused if it may not be listed. */
export type ListFolder = (folder: FilePath, entriesMax: number) => Promise<FileResult<readonly FileEntry[]>>;

export type ExpansionResult = { readonly ok: true; readonly words: readonly string[] } | ExpansionFailure;

export interface ExpansionFailure {
  readonly ok: false;
  /** `too_long`: a limit was exceeded, whatever the access. */
  readonly code: "bad_value" | "too_long";
  readonly message: string;
}

/** The start folder of a pattern, as written: the part before the first name with a wildcard. */
export function startOf(word: Word): string {
  const { isAbsolute, names } = namesOf(word);
  const star = names.findIndex(isChoosing);
  const start = names.slice(0, star < 0 ? names.length : star).map(plainName);
  return `${isAbsolute ? "/" : "./"}${start.join("/")}`;
}

/**
 * The words a shell would produce: sorted, and the word itself if nothing matches. INVARIANT: none of them begins with
 * a dash, which the program would take for an option.
 */
export async function expandPattern(
  word: Word,
  start: FilePath,
  look: ListFolder,
  search: PatternSearch,
): Promise<ExpansionResult> {
  const { isAbsolute, names } = namesOf(word);
  const star = names.findIndex(isChoosing);
  const rest = names.slice(star);
  if (rest.includes("..") || rest.includes(".")) return notChosen("`.` and `..` are not allowed after a wildcard");
  let found: FoundPath[] = [{ text: names.slice(0, star).map(plainName), path: start }];
  for (const [at, name] of rest.entries()) {
    const next = await step(found, name, { isFirst: at === 0, isLast: at === rest.length - 1 }, look, search);
    if ("ok" in next) return next;
    found = next;
  }
  const words = sorted(found.map(({ text }) => `${isAbsolute ? "/" : ""}${text.join("/")}`));
  if (words.some((one) => one.startsWith("-")))
    return notChosen("it matches a name that starts with a dash; put `./` before the pattern");
  return { ok: true, words: words.length === 0 ? [asWritten(word)] : words };
}

interface FoundPath {
  readonly text: readonly string[];
  readonly path: FilePath;
}

async function step(
  found: readonly FoundPath[],
  name: string,
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
  look: ListFolder,
  search: PatternSearch,
): Promise<FoundPath[] | ExpansionFailure> {
  const next: FoundPath[] = [];
  const isChosen = choosing(name, search);
  for (const { text, path } of found) {
    const why = search.over();
    if (why !== null) return notChosen(why, "too_long");
    // A trailing slash matches only folders, and everything that got here is one.
    const listed = await look(path, folderNamesMax + 1);
    if (!listed.ok && isFirst && listed.code !== "not_available") return notChosen("its folder may not be listed");
    // A subfolder that may not be listed counts as empty, as in a shell.
    if (!listed.ok) continue;
    if (listed.value.length > folderNamesMax) return notChosen("its folder has too many files", "too_long");
    if (name === "") {
      next.push({ text: [...text, ""], path });
      continue;
    }
    for (const entry of listed.value) {
      const reason = search.over();
      if (reason !== null) return notChosen(reason, "too_long");
      const turn = search.turn();
      if (turn !== null) await turn;
      const last = entry.path.at(-1) ?? "";
      const isFolder = entry.kind === "folder" || entry.kind === "link";
      if (!isChosen(last) || !(isLast || isFolder)) continue;
      next.push({ text: [...text, last], path: [...path, last] });
      if (next.length > chosenNamesMax)
        return notChosen(`the patterns match more than ${chosenNamesMax} names`, "too_long");
    }
  }
  return next;
}

/** Parsed once for all names of all folders. */
function choosing(name: string, search: PatternSearch): (other: string) => boolean {
  if (isChoosing(name)) return namePattern(name, search.count).chooses;
  const plain = plainName(name);
  return (other) => {
    search.count(1);
    return other === plain;
  };
}

function notChosen(message: string, code: ExpansionFailure["code"] = "bad_value"): ExpansionFailure {
  return { ok: false, code, message };
}

/** The names between the slashes; each still a pattern, with quoted characters escaped by backslashes. */
function namesOf(word: Word): { readonly isAbsolute: boolean; readonly names: readonly string[] } {
  const text = patternText(word) ?? "";
  const isAbsolute = text.startsWith("/");
  const names = (isAbsolute ? text.slice(1) : text).split("/");
  return { isAbsolute, names: names.filter((name, at) => name !== "" || at === names.length - 1) };
}

/** Whether it can match more than one name. */
function isChoosing(name: string): boolean {
  return /[*?[]/.test(name.replace(/\\[\s\S]/g, ""));
}

function plainName(name: string): string {
  return name.replace(/\\([\s\S])/g, "$1");
}

function asWritten({ parts }: Word): string {
  return parts.map((part) => (part.kind === "variable" ? "" : part.text)).join("");
}

/** By code points, which is the order of their bytes. */
function sorted(words: readonly string[]): readonly string[] {
  return words
    .map((word) => ({ word, bytes: Buffer.from(word, "utf8") }))
    .sort((left, right) => Buffer.compare(left.bytes, right.bytes))
    .map(({ word }) => word);
}
