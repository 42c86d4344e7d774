// Why a program could not change a protected name, in one line: it only saw a read-only or a busy file.
import { shown } from "./cells.ts";

const tailCharactersMax = 16_384;

/** Names that stay as they are in every sandbox, as programs complain about them. */
const NAMES =
  /(?:^|[\s'"`:(/])((?:[^\s'"`:()]*\/)?\.(?:git\/(?:config(?:\.worktree)?|hooks(?:\/[^\s'"`:]*)?)|git|ambit|vscode|idea|claude|codex|gemini|cursor|opencode|zed)(?:\/[^\s'"`:]*)?)/;
const OWN = /(?:^|\/)\.ambit(?:\/|$)/;
const COMPLAINT = /Read-only file system|Device or resource busy|EROFS|EBUSY/;

/** Listens to what a program says on its way to the terminal. */
export class ProtectedHint {
  #tail = "";

  hear(bytes: Uint8Array): void {
    this.#tail = (this.#tail + Buffer.from(bytes).toString("latin1")).slice(-tailCharactersMax);
  }

  /** Null where nothing of the kind was said. */
  get line(): string | null {
    for (const line of this.#tail.split("\n")) {
      if (!COMPLAINT.test(line)) continue;
      const name = NAMES.exec(line)?.[1];
      if (name !== undefined)
        return `${shown(name)} is protected: ${OWN.test(name) ? "it decides what agents may do" : "programs of yours outside run what it says"}, so no agent changes it; do that part yourself`;
    }
    return null;
  }
}
