// The stash list is the log of `refs/stash`. The stashes a draft pushed are the lines of its log after the person's
// own.
import { isObjectId, type ObjectFormat } from "./object-id.ts";

export interface StashPush {
  readonly id: string;
  /** Printable ASCII alone. */
  readonly message: string;
}

export const stashLogBytesMax: number = 4 * 1_048_576;
const pushesMax = 32;
const messageCharactersMax = 200;

/**
 * Null: stashes were dropped or rewritten, or there are too many; such a list is not imported. Texts are byte strings. Lines are
 * compared by their ids: a stash that landed has another author and time in the person's log.
 */
export function stashPushes(real: string, draft: string, format: ObjectFormat): readonly StashPush[] | null {
  if (!(draft === "" || draft.endsWith("\n"))) return null;
  const [known, own] = [linesOf(real), linesOf(draft)];
  if (own.length < known.length || known.some((line, at) => idOf(line) !== idOf(own[at] ?? ""))) return null;
  const lines = own.slice(known.length);
  if (lines.length > pushesMax) return null;
  const pushes: StashPush[] = [];
  for (const line of lines) {
    const tab = line.indexOf("\t");
    const id = idOf(line);
    if (!isObjectId(id, format)) return null;
    const message = tab < 0 ? "" : line.slice(tab + 1).replace(/[^ -~]/g, "?");
    pushes.push({ id, message: message.slice(0, messageCharactersMax).trim() || "stash" });
  }
  return pushes;
}

function linesOf(log: string): readonly string[] {
  return log.split("\n").filter((line) => line !== "");
}

/** The id after the update. */
function idOf(line: string): string {
  return line.split(" ", 2)[1] ?? "";
}
