// The files of shared stores: `stores/WORKSPACE/NAME/NAME.json` in the state folder. They are copies of the database, and each is
// replaced as a whole. Sandboxes mount the folder of a store, so that a running program sees the newest file.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Digest } from "../../core/ports/digest.ts";
import { writeWhole } from "../../platform/write-whole.ts";

export class StoreFiles {
  readonly #folder: string;
  readonly #digest: Digest;

  constructor(state: string, digest: Digest) {
    this.#folder = join(state, "stores");
    this.#digest = digest;
  }

  folderOf(workspace: string, store: string): string {
    return join(this.#folder, this.#digest(workspace).slice(0, 24), store);
  }

  /** Replaces the file unless it has this text already. Any other text there is lost: the file is a copy. */
  write(workspace: string, store: string, text: string): boolean {
    const folder = this.folderOf(workspace, store);
    const path = join(folder, `${store}.json`);
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (current(path) !== text) writeWhole(path, text);
      return true;
    } catch {
      return false;
    }
  }
}

function current(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
