// The names a draft brings, folder by folder: what a folder holds when the draft has landed is what it holds now and these.
import type { ClassifiedChange } from "./classify.ts";
import { nameKey, pathKey } from "./spelling.ts";

type Path = readonly string[];

export class DraftNames {
  readonly #root: Path;
  readonly #folders = new Map<string, Set<string>>();
  readonly #targets = new Map<string, string>();
  /** Of folders as they are written: many names share one. */
  readonly #keys = new Map<string, string>();

  constructor(root: Path) {
    this.#root = root;
  }

  add({ kind, path, target }: ClassifiedChange): void {
    const name = path.at(-1);
    if (kind === "delete" || name === undefined) return;
    const parent = [...this.#root, ...path.slice(0, -1)];
    const written = parent.join("/");
    const folder = this.#keys.get(written) ?? pathKey(parent);
    this.#keys.set(written, folder);
    const names = this.#folders.get(folder) ?? new Set();
    names.add(nameKey(name));
    this.#folders.set(folder, names);
    if (kind === "link" && target !== undefined) this.#targets.set(`${written}/${name}`, target);
  }

  /** Whether the draft brings a name of this key into the folder. */
  has(folder: Path, key: string): boolean {
    return this.#folders.size > 0 && this.#folders.get(pathKey(folder))?.has(key) === true;
  }

  /** Of a link that the draft brings: its target. */
  target(path: Path): string | null {
    return this.#targets.size === 0 ? null : (this.#targets.get(path.join("/")) ?? null);
  }
}
