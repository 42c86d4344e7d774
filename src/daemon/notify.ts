// Notifies a person of pending approvals by running a configured program with one line as its last argument.
import { spawn } from "node:child_process";
import { visible } from "../core/notation/visible.ts";
import type { Approval } from "../core/ports/stores/approval-store.ts";

const lineCharactersMax = 300;
/** A burst of requests causes one notification. */
const quietMilliseconds = 2000;

export function approvalNotifier(command: () => readonly string[], now: () => number): (approval: Approval) => void {
  let last = Number.NEGATIVE_INFINITY;
  return ({ state, times, answers, id, who, tool, asking }) => {
    if (state !== "pending" || times > 1 || answers.length > 0 || now() - last < quietMilliseconds) return;
    const [program, ...words] = command();
    if (program === undefined) return;
    last = now();
    const line = visible(`${who.agent} asks: ${asking.join("; ") || tool} (ambit approve ${id})`).slice(
      0,
      lineCharactersMax,
    );
    // Its output and exit status are ignored.
    const child = spawn(program, [...words, line], {
      stdio: "ignore",
      detached: true,
      env: { PATH: "/usr/bin:/bin" },
      cwd: "/",
    });
    child.on("error", () => undefined);
    child.unref();
  };
}
