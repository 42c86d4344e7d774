import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Entry } from "../ports/commit.ts";
import { auditFile } from "./audit-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-audit-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ENTRY: Entry = {
  agent: "scout",
  tool: "proc_exec",
  requests: [],
  outcome: "allow",
  code: null,
  basis: [],
  charges: [],
};

const lines = (): unknown[] =>
  readFileSync(join(folder, "state", "audit.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

test("a decision is a line, private to the user, before it is answered", async () => {
  const { commit, settle } = auditFile(join(folder, "state"), () => 7);
  const written = await commit(ENTRY);
  expect(written.ok).toBe(true);
  const receipt = written.ok ? written.receipt : "";
  expect(lines()).toMatchObject([{ at: 7, kind: "decision", id: receipt, agent: "scout", outcome: "allow" }]);
  expect(statSync(join(folder, "state", "audit.jsonl")).mode & 0o777).toBe(0o600);
  expect(await settle({ receipt, ended: "exited 0", denials: [], enforcement: [], wallMicroseconds: 1 })).toBe(true);
  expect(lines()).toMatchObject([{ kind: "decision" }, { kind: "outcome", id: receipt, ended: "exited 0" }]);
});

test("two decisions have two receipts, and both stay", async () => {
  const { commit } = auditFile(join(folder, "state"), () => 7);
  const [one, other] = await Promise.all([commit(ENTRY), commit({ ...ENTRY, agent: "other" })]);
  expect(one).not.toEqual(other);
  expect(lines()).toHaveLength(2);
});

test("a limit that nobody counts is refused; without it the same call is written", async () => {
  const { commit } = auditFile(join(folder, "state"), () => 7);
  expect(await commit({ ...ENTRY, charges: [{ link: "a", grant: 0 }] })).toEqual({
    ok: false,
    code: "budget_exhausted",
  });
  expect(await commit(ENTRY)).toMatchObject({ ok: true });
});

test.each<[string, (state: string) => void]>([
  ["there is a file where the folder should be", (state) => writeFileSync(state, "")],
  [
    "the file is a link to another one",
    (state) => {
      mkdirSync(state);
      writeFileSync(join(folder, "elsewhere"), "");
      symlinkSync(join(folder, "elsewhere"), join(state, "audit.jsonl"));
    },
  ],
  [
    "the file is a pipe that nobody reads",
    (state) => {
      mkdirSync(state);
      spawnSync("mkfifo", [join(state, "audit.jsonl")]);
    },
  ],
  [
    "the file is a folder",
    (state) => {
      mkdirSync(join(state, "audit.jsonl"), { recursive: true });
      chmodSync(state, 0o700);
    },
  ],
])("nothing is decided where it cannot be written down: %s", async (_, arrange) => {
  arrange(join(folder, "state"));
  const { commit, settle } = auditFile(join(folder, "state"), () => 7);
  expect(await commit(ENTRY)).toEqual({ ok: false, code: "audit_unavailable" });
  expect(await settle({ receipt: "a", ended: "", denials: [], enforcement: [], wallMicroseconds: 0 })).toBe(false);
});

test("nor where there is no state folder at all", async () => {
  expect(await auditFile(null, () => 7).commit(ENTRY)).toEqual({ ok: false, code: "audit_unavailable" });
});
