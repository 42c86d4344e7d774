// Why changes did not land, in sentences for people and models.
import { constants } from "node:os";
import type { UnlandedChange } from "../../core/ports/drafts.ts";
import type { Change, DraftScan } from "../plan/drafts/change.ts";
import type { LandProblem } from "../plan/drafts/land-answer.ts";
import type { UnlandedDecision } from "../plan/drafts/landing.ts";
import type { LandConflict, LandRefusal } from "./lander/land-result.ts";

export function problemText(result: LandConflict | LandRefusal): string {
  if (result.status === "refused" || result.status === "lost") return result.reason;
  const [first] = result.conflicts.listed;
  const stuck = result.status === "stuck" ? "; some files could not be restored: see `ambit changes list`" : "";
  return first === undefined ? `the project changed${stuck}` : `${first.path}: ${reasonText(first)}${stuck}`;
}

const REASONS: Readonly<Record<LandProblem["reason"], string>> = {
  changed: "it was changed in the project while the program ran",
  gone: "it was deleted in the project while the program ran",
  parent: "its folder was deleted or replaced in the project while the program ran",
  other_kind: "the project now has a different kind of file there",
  not_empty: "the project has files in that folder that the change does not include",
  kept: "a file was created there while it landed, and is stored next to the draft",
  system_error: "the file system refused it",
};

function reasonText({ reason, errno }: LandProblem): string {
  const name =
    errno === 0 ? "" : ` (${Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? errno})`;
  return `${REASONS[reason]}${name}`;
}

export function notLanded(change: Change, result: LandConflict | LandRefusal): UnlandedDecision {
  if (result.status === "refused" || result.status === "lost")
    return { change, code: "not_landed", reason: result.reason };
  const own = result.conflicts.listed.find(({ path }) => path === change.path.join("/"));
  if (own !== undefined)
    return { change, code: own.reason === "system_error" ? "not_landed" : "draft_conflict", reason: reasonText(own) };
  return { change, code: "not_landed", reason: `waits for a conflicting change: ${problemText(result)}` };
}

const UNLANDABLE: Readonly<Record<DraftScan["unlandable"][number]["reason"], string>> = {
  name_not_text: "its name is not valid UTF-8",
  target_not_text: "the target of the link is not valid UTF-8",
  special_file: "devices, sockets and pipes never land",
  base_unreadable: "the file of this name in the project cannot be read",
  other_file_system: "it lies on another file system that is mounted in the project",
};

export function unlandable({ path, reason }: DraftScan["unlandable"][number]): UnlandedChange {
  return { path, kind: "write", code: "not_landed", reason: UNLANDABLE[reason] };
}
