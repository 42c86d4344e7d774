// Refusals of file operations: a code, and a reason that discloses nothing the agent may not see.
import { constants } from "node:os";
import type { DenialCode } from "../../core/authority/decision.ts";
import type { FileRefusal } from "../../core/ports/files.ts";

export function fileRefusal(code: DenialCode, reason: string): FileRefusal {
  return { ok: false, code, reason };
}

export const WORKER_GONE: FileRefusal = fileRefusal("not_available", "the file worker ended");
/** One reason for every link that is not followed: whether its target exists is not disclosed. */
export const LINK_OUTSIDE: FileRefusal = fileRefusal("scope_violation", "link leads outside");
export const NO_TREE: FileRefusal = fileRefusal("scope_violation", "in none of the open trees");
export const NOT_NORMAL: FileRefusal = fileRefusal("invalid_input", "not an absolute, normal path");
export const PINNED: FileRefusal = fileRefusal("scope_violation", "pinned");

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(constants.errno).map(([name, code]) => [code, name]));
const { ELOOP, EMLINK, EROFS } = constants.errno as typeof constants.errno & { readonly EROFS: number };

/** Links and hard links are our own rules; everything else is the error of the system. */
export function refusedBy(errno: number, why: string): FileRefusal {
  if (errno === ELOOP)
    return why === "" || why.includes("nowhere") ? LINK_OUTSIDE : fileRefusal("scope_violation", why);
  if (errno === EMLINK) return fileRefusal("scope_violation", why);
  if (errno === EROFS && why !== "") return fileRefusal("scope_violation", why);
  const name = NAMES.get(errno) ?? `errno ${errno}`;
  return fileRefusal("not_available", why === "" ? name : `${name}: ${why}`);
}

export const severalHardLinks: number = EMLINK;
