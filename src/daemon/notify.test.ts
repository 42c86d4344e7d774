// A configured program notifies a person of pending approvals: once per burst, and only for pending ones.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import type { Approval } from "../core/ports/stores/approval-store.ts";
import { approvalNotifier } from "./notify.ts";

const folder = mkdtempSync(join(tmpdir(), "ambit-notify-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WAITING: Approval = {
  id: "a_1",
  state: "pending",
  who: { user: null, agent: "scout", workspace: null, chain: [], session: null, trace: null },
  tool: "proc_exec",
  pin: null,
  binding: null,
  digest: "d",
  generation: 0,
  level: 1,
  need: 1,
  of: null,
  arguments: {},
  requests: [],
  asking: ["proc.exec in=/p -- rm \u001b[2J"],
  asked: 0,
  expires: 1,
  scope: { kind: "exact" },
  usesLeft: 0,
  answers: [],
  reason: null,
  times: 1,
};

test("pending approvals are notified in one line without control characters, once a burst, and not at all without a configured program", async () => {
  const out = join(folder, "told");
  const script = join(folder, "tell");
  writeFileSync(script, `#!/bin/sh\nprintf '%s\\n' "$1-$2" >> ${out}\n`, { mode: 0o755 });
  let now = 0;
  const tell = approvalNotifier(
    () => [script, "hello"],
    () => now,
  );
  tell({ ...WAITING, state: "approved" });
  tell({ ...WAITING, times: 2 });
  tell(WAITING);
  tell({ ...WAITING, id: "a_2" });
  now = 5000;
  tell({ ...WAITING, id: "a_3" });
  approvalNotifier(
    () => [],
    () => now,
  )(WAITING);
  approvalNotifier(
    () => [join(folder, "absent")],
    () => now,
  )(WAITING);
  await vi.waitFor(() => expect(existsSync(out) && readFileSync(out, "utf8").split("\n")).toHaveLength(3), 60_000);
  const lines = readFileSync(out, "utf8").trimEnd().split("\n").sort();
  expect(lines[0]).toMatch(/^hello-scout asks: proc\.exec in=\/p -- rm .*\(ambit approve a_1\)$/);
  expect(lines[1]).toMatch(/a_3/);
  expect(lines.join("")).not.toContain("\u001b");
});
