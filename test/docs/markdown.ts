// Markdown files of the repository, and what a reader can follow or type in them.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** Installed packages, built files, the copies that the web site is built from, and folders that are not documentation. */
const SKIPPED = new Set(["node_modules", "dist", ".git", "coverage", "pages"]);

/** Paths from `root`, without installed packages and builds. */
export function markdownFiles(root: string): readonly string[] {
  const found: string[] = [];
  const open = [root];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop())
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) open.push(path);
      else if (entry.isFile() && entry.name.endsWith(".md")) found.push(relative(root, path));
    }
  return found.sort();
}

export interface Link {
  readonly line: number;
  readonly target: string;
}

/** Inline links outside code; links in code are not followed. */
export function linksOf(text: string): readonly Link[] {
  return proseLines(text).flatMap(([number, line]) =>
    [...line.replace(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => ({ line: number, target })),
  );
}

/** As GitHub names the headings of a page in links. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const counts = new Map<string, number>();
  for (const [, line] of proseLines(text)) {
    const heading = /^#{1,6}\s+(.*?)\s*$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`);
  }
  return anchors;
}

/** Lines outside fenced blocks, with their numbers. */
function proseLines(text: string): readonly (readonly [number, string])[] {
  let fence: string | null = null;
  return text.split("\n").flatMap((line, at): (readonly [number, string])[] => {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1] ?? null;
    if (fence !== null) {
      if (mark?.startsWith(fence) === true) fence = null;
      return [];
    }
    fence = mark;
    return mark === null ? [[at + 1, line]] : [];
  });
}

/** The text of each fenced block of a language. */
export function blocksOf(text: string, language: string): readonly string[] {
  return [...text.matchAll(/^```([a-z]*)\n(.*?)^```$/gms)].flatMap(([, name, block = ""]) =>
    name === language ? [block] : [],
  );
}

export function read(root: string, file: string): string {
  return readFileSync(join(root, file), "utf8");
}
