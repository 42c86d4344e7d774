// Names of refs that may be written to a person's repository. Prompts, status lines and completion scripts expand branch
// names, so the alphabet is that of ordinary branch names and nothing else: no quote, `$`, backquote, `;`, `%`, `!`, `#`,
// brace, parenthesis, space, control character or non-ASCII letter. Git's own rules (`check-ref-format`) hold on top.

const nameCharactersMax = 200;

/** Namespaces an import writes. Absent on purpose: `refs/replace`, `refs/bisect`, `refs/original`, `refs/worktree`. */
const NAMESPACES: readonly string[] = ["refs/heads/", "refs/tags/", "refs/remotes/", "refs/notes/"];

export const STASH = "refs/stash";

export type RefNameCheck = "imported" | "ignored" | "refused";

/** `ignored`: another namespace, never carried. `refused`: a namespace of ours with a name that is not allowed. */
export function checkRefName(name: string): RefNameCheck {
  if (name === STASH) return "imported";
  const namespace = NAMESPACES.find((prefix) => name.startsWith(prefix));
  if (namespace === undefined) return "ignored";
  return isPlainName(name.slice(namespace.length)) && name.length <= nameCharactersMax ? "imported" : "refused";
}

export function isBranchName(name: string): boolean {
  return name.startsWith("refs/heads/") && checkRefName(name) === "imported";
}

function isPlainName(name: string): boolean {
  if (!/^[A-Za-z0-9._/+@=,-]+$/.test(name)) return false;
  // A name that reads as an id or as a special ref would be taken for it.
  if (/^[0-9a-f]{40}$|^[0-9a-f]{64}$/i.test(name) || /^(HEAD|FETCH_HEAD|ORIG_HEAD|MERGE_HEAD|stash|@)$/i.test(name))
    return false;
  return name.split("/").every(isPlainComponent);
}

function isPlainComponent(part: string): boolean {
  if (part === "" || part.startsWith(".") || part.startsWith("-") || part.endsWith(".")) return false;
  return !part.includes("..") && !part.toLowerCase().endsWith(".lock");
}
