// A folder of files and links on the real disk, built from the description in a vector file.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Layout {
  readonly root: string;
  readonly remove: () => void;
}

const ROOT = "<ROOT>";

/** `<ROOT>/a/{sub/,link->../b}, <ROOT>/file`: a last slash makes a folder, an arrow a link, anything else a file. */
export function buildLayout(words: string): Layout {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ambit-vectors-")));
  const remove = (): void => rmSync(root, { recursive: true, force: true });
  try {
    for (const entry of layoutEntries(words)) build(entry.replaceAll(ROOT, root), root);
  } catch (problem) {
    remove();
    throw problem;
  }
  return { root, remove };
}

/** One text for each folder, file and link. */
export function layoutEntries(words: string): readonly string[] {
  return splitOutside(words).flatMap(spelledOut);
}

export function placeText(text: string, root: string): string {
  return text.replaceAll(ROOT, root);
}

function build(entry: string, root: string): void {
  const [path, target] = entry.split("->").map((part) => part.trim()) as [string, string | undefined];
  if (path !== root && !path.startsWith(`${root}/`)) throw new Error(`the layout names ${path}, outside its root`);
  mkdirSync(dirname(path), { recursive: true });
  if (target !== undefined) symlinkSync(target, path);
  else if (path.endsWith("/")) mkdirSync(path, { recursive: true });
  else writeFileSync(path, "");
}

/** Split at commas that are not between braces. */
function splitOutside(words: string): string[] {
  const parts: string[] = [""];
  let depth = 0;
  for (const character of words) {
    if (character === "{") depth++;
    if (character === "}") depth--;
    if (character === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

function spelledOut(entry: string): string[] {
  const open = entry.indexOf("{");
  const close = entry.lastIndexOf("}");
  if (open < 0 || close < open) return [entry];
  const inner = splitOutside(entry.slice(open + 1, close));
  return [entry.slice(0, open), ...inner.flatMap(spelledOut).map((one) => entry.slice(0, open) + one)].map(
    (one) => one + entry.slice(close + 1),
  );
}
