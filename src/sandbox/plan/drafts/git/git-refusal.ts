// Why the git part of a draft does not land: a code for programs, a sentence for people.

export type GitRefusalCode =
  /** A merge, rebase, cherry-pick, revert or bisect is under way. */
  | "in_progress"
  /** The repository has a format or a layout that is not imported. */
  | "unsupported"
  /** A git file of the draft cannot be parsed. */
  | "malformed"
  | "too_large"
  /** A ref name or a path that is never written to a person's repository. */
  | "bad_name"
  /** The person's repository changed in the meantime. */
  | "conflict"
  /** Objects are missing, damaged or refused by `git fsck`. */
  | "bad_objects"
  /** Another git process holds a lock. */
  | "busy"
  /** The sandbox or git cannot run here. */
  | "unavailable";

export interface GitRefusal {
  readonly code: GitRefusalCode;
  readonly message: string;
}

export type GitResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly refusal: GitRefusal };

export function refuseGit(code: GitRefusalCode, message: string): { readonly ok: false; readonly refusal: GitRefusal } {
  return { ok: false, refusal: { code, message } };
}

export function value<Value>(of: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value: of };
}

/** Text from a draft, for a message: printable ASCII, at most 240 characters. */
export function printable(text: string): string {
  const plain = text.replace(/[^ -~]/g, (each) => `\\x${each.charCodeAt(0).toString(16).padStart(2, "0")}`);
  return plain.length > 240 ? `${plain.slice(0, 237)}...` : plain;
}
