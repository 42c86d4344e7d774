// The names a draft brings, folder by folder: what a folder holds when the draft has landed is what it holds now and these.
import type { ClassifiedChange } from "./classify.ts";
import { nameKey, pathKey } from "./spelling.ts";

type Path = readonly string[];

export interface DraftNames {
  /** Whether the draft brings a name of this key into the folder. */
  has(folder: Path, key: string): boolean;
  /** Of a link that the draft brings: its target. */
  target(path: Path): string | null;
}

export function draftNames(root: Path, changes: readonly ClassifiedChange[]): DraftNames {
  const folders = new Map<string, Set<string>>();
  const targets = new Map<string, string>();
  /** Of folders as they are written: many names share one. */
  const keys = new Map<string, string>();
  for (const { kind, path, target } of changes) {
    if (kind === "delete" || path.length === 0) continue;
    const whole = [...root, ...path];
    const parent = whole.slice(0, -1);
    const written = parent.join("/");
    const folder = keys.get(written) ?? pathKey(parent);
    keys.set(written, folder);
    const names = folders.get(folder) ?? new Set();
    names.add(nameKey(whole.at(-1) as string));
    folders.set(folder, names);
    if (kind === "link" && target !== undefined) targets.set(whole.join("/"), target);
  }
  return {
    has: (folder, key) => folders.size > 0 && folders.get(pathKey(folder))?.has(key) === true,
    target: (path) => (targets.size === 0 ? null : (targets.get(path.join("/")) ?? null)),
  };
}
