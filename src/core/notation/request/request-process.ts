// A process in a request: where it runs, whether it may change that folder, and its argument vector.
import { parseArgv } from "../../authority/axes/argv.ts";
import { parsePath, pathText } from "../../authority/axes/path.ts";
import { isRootWord, ROOT_WORDS_TEXT } from "../../authority/axes/root-word.ts";
import type { Value } from "../../authority/axes/scope.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { namedWords } from "./request-words.ts";

const KEYS: readonly string[] = ["in", "root"];

/** `[in=FOLDER] [root=ro|rw] -- argv`, or the argument vector alone. */
export function readProgram(words: readonly string[], reading: Reading): Result<readonly Value[]> {
  const dashes = words.indexOf("--");
  const before = namedWords(dashes < 0 ? [] : words.slice(0, dashes), KEYS);
  const isSplit = dashes >= 0 && before.ok && before.value.plain.length === 0;
  const argv = parseArgv(isSplit ? words.slice(dashes + 1) : words);
  if (!argv.ok) return argv;
  const where = readWhere(isSplit ? before.value.named : new Map(), reading);
  return where.ok ? done([where.value.root, argv.value, where.value.mode]) : where;
}

/** The text of a shell line is not an axis: a grant for one covers every line. */
export function readShell(words: readonly string[], reading: Reading): Result<readonly Value[]> {
  const split = namedWords(words, KEYS);
  if (!split.ok) return split;
  if (split.value.plain.length > 0)
    return refuse(
      "bad_value",
      `proc.eval does not accept ${quoteText(split.value.plain[0] as string)}: it covers any shell line or none`,
      "proc.eval",
    );
  const where = readWhere(split.value.named, reading);
  return where.ok ? done([where.value.root, where.value.mode]) : where;
}

function readWhere(
  named: ReadonlyMap<string, string>,
  { pathSettings, workingRoot }: Reading,
): Result<{ readonly root: Value; readonly mode: string }> {
  const mode = named.get("root") ?? "ro";
  if (!isRootWord(mode))
    return refuse("bad_value", `root= is ${ROOT_WORDS_TEXT}; the folder is written as in=`, "root=rw");
  const folder = workingRoot ?? pathSettings.base;
  if (folder === null && !named.has("in"))
    return refuse("not_absolute", "there is no working directory to run in", "in=/path");
  const root = parsePath(named.get("in") ?? pathText(folder ?? []), pathSettings);
  return root.ok ? done({ root: root.value, mode }) : root;
}
