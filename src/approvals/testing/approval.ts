// Shared by the tests of this room: a new approval, and the members of an answer.
import type { Request } from "../../core/authority/request.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { readRequestText } from "../../core/notation/request/request.ts";
import type { LadderStep } from "../../core/ports/daemon/daemon-control.ts";
import type { Approval, ApproverAnswer } from "../../core/ports/stores/approval-store.ts";
import { type NewApproval, newApproval } from "../lifecycle.ts";

export const READING: Reading = {
  pathSettings: {
    home: ["home", "u"],
    base: ["work", "p"],
    protectedPaths: [
      ["home", "*", ".ssh"],
      ["work", "p", ".git", "hooks"],
    ],
  },
  toAscii: () => null,
  ceiling: null,
};

export function requestOf(text: string, reading: Reading = READING): Request {
  const request = readRequestText(text, reading);
  if (!request.ok) throw new Error(`${text}: ${request.message}`);
  return request.value;
}

export const LADDER: readonly LadderStep[] = [
  { name: "exact", words: "exactly this call", specs: null },
  { name: "file", words: "this file", specs: ["fs.write{in=/work/p,paths=[a.txt]}"] },
  { name: "folder", words: "this folder", specs: ["fs.write{in=/work/p,paths=[*]}"] },
];

export const ASKED_AT = 1_000_000;

export function approvalOf(changed: Partial<NewApproval> = {}): Approval {
  return newApproval({
    id: "a-1",
    who: { user: "ann", agent: "scout", workspace: "/work/p", chain: [], session: "s-1", trace: null },
    tool: "fs_write",
    pin: null,
    binding: null,
    digest: "d".repeat(64),
    generation: 3,
    level: 1,
    arguments: { path: "a.txt", content: "x" },
    requests: ["tool.invoke fs_write", "fs.write /work/p/a.txt"],
    asking: ["fs.write /work/p/a.txt"],
    asked: ASKED_AT,
    approvers: null,
    milliseconds: 3_600_000,
    ...changed,
  });
}

export function answerOf(changed: Partial<ApproverAnswer> = {}): ApproverAnswer {
  return {
    by: "ann",
    at: ASKED_AT + 1000,
    level: 1,
    terminal: true,
    step: "exact",
    uses: 1,
    milliseconds: 600_000,
    ...changed,
  };
}
