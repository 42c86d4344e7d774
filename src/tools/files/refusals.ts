// Refusals of file tools for models. The port's reasons are short and reveal nothing that is not granted.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { FileRefusal } from "../../core/ports/files.ts";
import type { FileAnswer } from "./file-call.ts";

const WORDS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "there is no such file or folder"],
  ["ENOTDIR", "a part of the path is a file and not a folder"],
  ["EISDIR", "it is a folder; fs_list shows what is in it"],
  ["EINVAL", "it is not a plain file"],
  ["EACCES", "the machine does not let it be opened"],
  ["EPERM", "the machine does not let it be changed"],
  ["ENOTEMPTY", "the folder is not empty; delete what is in it first"],
  ["EBUSY", "it is in use as a mount"],
  ["ENAMETOOLONG", "the path is longer than a path may be"],
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "the disk is full for this user"],
  ["EFBIG", "the file would become longer than a file may be here"],
  ["EROFS", "the disk cannot be written"],
  ["link leads outside", "a link on the way leads to where you may not go"],
  ["in none of the open trees", "it lies in no folder that is open to you"],
  ["the file worker ended", "the files could not be reached; try again"],
]);

export function failed(code: DenialCode, message: string): FileAnswer {
  return { ok: false, code, message };
}

export function refusedWith({ code, reason }: FileRefusal): FileAnswer {
  if (code === "self_modification") return failed(code, KEPT);
  if (code === "approval_required") return failed(code, UNASKED);
  return failed(code, WORDS.get(reason) ?? WORDS.get(errnoIn(reason)) ?? reason);
}

export function isErrno({ reason }: FileRefusal, name: string): boolean {
  return errnoIn(reason) === name;
}

const KEPT = "it stays as it is: what decides about agents, git's own files and settings that start programs";

const UNASKED = "a person has to agree to this; call the tool with the file's own path, so that the person is asked";

function errnoIn(reason: string): string {
  return /^[A-Z0-9]+/.exec(reason)?.[0] ?? "";
}
