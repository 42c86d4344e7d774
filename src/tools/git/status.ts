// Parses `git status --porcelain=v2 --branch -z`.
import type { JsonObject } from "../../core/base/json.ts";
import { fitItems } from "../files/fit-items.ts";

export interface StatusEntry {
  readonly path: string;
  /** For the next commit; null: nothing. */
  readonly staged: string | null;
  /** In the folder, besides that; null: nothing. */
  readonly unstaged: string | null;
  /** Its previous name. */
  readonly from: string | null;
}

const CHANGES: ReadonlyMap<string, string> = new Map([
  ["M", "modified"],
  ["T", "type_changed"],
  ["A", "added"],
  ["D", "deleted"],
  ["R", "renamed"],
  ["C", "copied"],
  ["U", "conflict"],
]);

const entriesMax = 5000;

/** `isCut`: the text is truncated; its last piece is unreliable. */
export function statusAnswer(text: string, isCut: boolean): JsonObject {
  const pieces = text.split("\0");
  pieces.pop();
  const entries: StatusEntry[] = [];
  const heads = new Map<string, string>();
  for (let at = 0; at < pieces.length; at++) {
    const piece = pieces[at] as string;
    if (piece.startsWith("# ")) {
      const [, name = "", value = ""] = /^# (\S+) (.*)$/s.exec(piece) ?? [];
      heads.set(name, value);
      continue;
    }
    const entry = entryOf(piece, pieces[at + 1]);
    if (entry?.from !== null && entry !== null) at++;
    if (entry !== null) entries.push(entry);
  }
  const [ahead, behind] = /^\+(\d+) -(\d+)$/.exec(heads.get("branch.ab") ?? "")?.slice(1) ?? [];
  const { items, more } = fitItems(entries, entriesMax, isCut, (entry) => ({ ...entry }));
  const [commit, head] = [heads.get("branch.oid"), heads.get("branch.head")];
  return {
    branch: head === undefined || head === "(detached)" ? null : head,
    commit: commit === undefined || commit === "(initial)" ? null : commit,
    upstream: heads.get("branch.upstream") ?? null,
    ahead: ahead === undefined ? null : Number(ahead),
    behind: behind === undefined ? null : Number(behind),
    isClean: entries.length === 0 && !isCut,
    entries: items,
    more,
  };
}

/** Fields are separated by single blanks; the last one is the path, which may contain blanks. */
function entryOf(piece: string, next: string | undefined): StatusEntry | null {
  const kind = piece.charAt(0);
  if (kind === "?") return { path: piece.slice(2), staged: null, unstaged: "untracked", from: null };
  const before = { "1": 8, "2": 9, u: 10 }[kind];
  const fields = piece.split(" ");
  if (before === undefined || fields.length <= before) return null;
  const path = fields.slice(before).join(" ");
  const [staged = ".", unstaged = "."] = fields[1] ?? "";
  if (kind === "u") return { path, staged: "conflict", unstaged: "conflict", from: null };
  return { path, staged: changeOf(staged), unstaged: changeOf(unstaged), from: kind === "2" ? (next ?? "") : null };
}

function changeOf(sign: string): string | null {
  return sign === "." ? null : (CHANGES.get(sign) ?? sign);
}
