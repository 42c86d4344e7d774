// Refusals of file operations in words for models and authors of tools. The port's reasons are short and reveal nothing
// that is not granted.
import type { FileRefusal } from "../../core/ports/files.ts";
import { type UseDenial, useDenial } from "./use-result.ts";

const WORDS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "no such file or folder"],
  ["ENOTDIR", "a part of the path is a file, not a folder"],
  ["EISDIR", "it is a folder; use fs_list"],
  ["EINVAL", "it is not a regular file"],
  ["EACCES", "permission denied by the operating system"],
  ["EPERM", "the operating system does not permit this change"],
  ["ENOTEMPTY", "the folder is not empty; delete its content first"],
  ["EBUSY", "it is a mount point in use"],
  ["ENAMETOOLONG", "the path is too long"],
  ["ENOSPC", "no space left on device"],
  ["EDQUOT", "the disk quota of this user is exceeded"],
  ["EFBIG", "the file would exceed the maximum file size"],
  ["EROFS", "the file system is read-only"],
  ["link leads outside", "a symbolic link in the path leads outside your grants"],
  ["in none of the open trees", "it is outside the folders you may access"],
  ["the file worker ended", "the file worker exited; try again"],
]);

export function fileFailure(verb: string, { code, reason }: FileRefusal): UseDenial {
  if (code === "self_modification") return useDenial(code, verb, PROTECTED);
  if (code === "approval_required") return useDenial(code, verb, UNASKED);
  const told = code === "not_available" && errnoIn(reason) === "ENOENT" ? "not_found" : code;
  return useDenial(told, verb, WORDS.get(reason) ?? WORDS.get(errnoIn(reason)) ?? reason);
}

export function isErrno({ reason }: FileRefusal, name: string): boolean {
  return errnoIn(reason) === name;
}

const PROTECTED = "this path is protected from tools: policy files, git's own files and settings that start programs";

const UNASKED = "this needs approval; call the tool with the real path of the file, so that approval can be requested";

function errnoIn(reason: string): string {
  return /^[A-Z0-9]+/.exec(reason)?.[0] ?? "";
}
