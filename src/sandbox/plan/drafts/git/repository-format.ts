// Parses a repository's `config` for its object format and for features that the import does not support. Only what git
// reads before everything else is used; includes do not count there.

import { type GitRefusal, printable } from "./git-refusal.ts";
import type { ObjectFormat } from "./object-id.ts";

export const configBytesMax = 1_048_576;

/** Extensions that change nothing an import relies on. */
const HARMLESS: readonly string[] = ["noop", "preciousobjects", "worktreeconfig", "relativeworktrees"];

export interface RepositoryFormat {
  readonly format: ObjectFormat;
  /** Objects may be missing; git would fetch them, an import never does. */
  readonly isPartial: boolean;
  /** It has no worktree of its own. */
  readonly isBare: boolean;
  /** Why nothing is imported into such a repository. */
  readonly obstacle: GitRefusal | null;
}

export function parseRepositoryFormat(config: string): RepositoryFormat {
  let format: ObjectFormat = "sha1";
  let obstacle: string | null = null;
  let isBare = false;
  let isPartial = false;
  let section = "";
  for (const line of config.split("\n")) {
    const head = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)$/.exec(line);
    if (head !== null) section = head[2] === undefined ? (head[1] ?? "").toLowerCase() : `${head[1]?.toLowerCase()}.*`;
    const setting = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*?))?\s*$/.exec(head === null ? line : (head[3] ?? ""));
    if (setting === null) continue;
    const key = `${section}.${setting[1]?.toLowerCase()}`;
    const text = (setting[2] ?? "true")
      .replace(/\s*[#;].*$/, "")
      .replace(/^"(.*)"$/, "$1")
      .toLowerCase();
    if (key === "core.bare") isBare = !/^(false|no|off|0|)$/.test(text);
    if (key === "core.repositoryformatversion" && text !== "0" && text !== "1")
      obstacle ??= `the repository has the unknown format version ${printable(text)}`;
    if (key === "remote.*.promisor" || key === "remote.*.partialclonefilter" || key === "extensions.partialclone")
      isPartial = true;
    if (!key.startsWith("extensions.")) continue;
    const extension = key.slice("extensions.".length);
    if (extension === "objectformat" && (text === "sha1" || text === "sha256")) format = text;
    else if (extension === "refstorage" && text === "files") continue;
    else if (!HARMLESS.includes(extension) && extension !== "partialclone")
      obstacle ??= `the repository uses the extension ${printable(extension)} = ${printable(text)}`;
  }
  return { format, isBare, isPartial, obstacle: obstacle === null ? null : { code: "unsupported", message: obstacle } };
}
