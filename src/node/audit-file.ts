// Decisions and outcomes as lines of one file that is only ever appended to, each on disk before anything happens.
// A first keeper behind the port: the daemon's store takes its place and brings the chain of hashes.
import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, fsyncSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { requestText } from "../notation/request-printer.ts";
import type { Commit, Settle } from "../ports/commit.ts";

const NAME = "audit.jsonl";
const lineBytesMax = 262_144;

export interface AuditFile {
  readonly commit: Commit;
  readonly settle: Settle;
}

/** `folder` is our state folder; null where there is none, and then nothing can be written and nothing runs. */
export function auditFile(folder: string | null, now: () => number): AuditFile {
  const write = (entry: object): boolean => folder !== null && append(folder, { at: now(), ...entry });
  return {
    commit: async ({ agent, tool, requests, outcome, code, basis, charges }) => {
      // There is no account to charge yet, and a limit that nobody counts is not a limit.
      if (outcome === "allow" && charges.length > 0) return { ok: false, code: "budget_exhausted" };
      const receipt = randomBytes(12).toString("hex");
      const asked = requests.map(requestText);
      const done = write({ kind: "decision", id: receipt, agent, tool, requests: asked, outcome, code, basis });
      return done ? { ok: true, receipt } : { ok: false, code: "audit_unavailable" };
    },
    settle: async ({ receipt, ...outcome }) => write({ kind: "outcome", id: receipt, ...outcome }),
  };
}

/** One write of one line: several programs may append at once, and a line is never torn by another. */
function append(folder: string, entry: object): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const {
      O_APPEND,
      O_CREAT,
      O_WRONLY,
      O_NOFOLLOW,
      // A pipe in its place would wait for somebody to read it.
      O_NONBLOCK,
      O_CLOEXEC = 0,
    } = constants as typeof constants & { O_CLOEXEC?: number };
    const file = openSync(
      join(folder, NAME),
      O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
      0o600,
    );
    try {
      if (!fstatSync(file).isFile()) return false;
      const line = Buffer.from(`${JSON.stringify(entry)}\n`, "utf8");
      if (line.length > lineBytesMax) return false;
      if (writeSync(file, line) !== line.length) return false;
      fsyncSync(file);
      return true;
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}
