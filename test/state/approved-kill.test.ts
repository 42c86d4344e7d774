// The daemon is killed at each write to the disk between the approval of a directive and its end: what was directed happens once,
// and where the approval was used up before, a person is asked again.
import { spawn } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sizeFor } from "../house/long.ts";
import { holdsWithin } from "../house/until.ts";
import { assistant, DirectedWalk } from "./directed.ts";

const walk = new DirectedWalk();
/**
 * With the large case more syncs to the disk than there are from the claim of the task to its end. Which of them is the one between the
 * use of the approval and the end is not fixed: writes share a sync. `test/crash/approved.test.ts` has that one, with a control.
 */
const syncsMax = sizeFor(6, 14);
const approvalsMax = 3;
const patienceMilliseconds = 60_000;

beforeAll(() => {
  walk.begin(
    "name: Org",
    "defaults: { client: claude }",
    "agents:",
    "  asker: { role: Asker, capabilities: { delegate: ask } }",
    "  helper: { role: Helper, reportsTo: asker }",
  );
});
afterAll(() => {
  walk.ambit("daemon", "stop");
});

const daemon = (): number => (JSON.parse(walk.ambit("daemon", "status", "--json").out) as { pid: number }).pid;
/** Kills the daemon when it enters its `number`th sync from now on. True if that came. */
async function killAt(number: number, act: () => void): Promise<boolean> {
  const pid = daemon();
  const calls = "fsync,fdatasync";
  const words = [
    "-f",
    "-p",
    String(pid),
    "-e",
    `trace=${calls}`,
    "-e",
    `inject=${calls}:signal=SIGKILL:when=${number}`,
  ];
  const tracer = spawn("strace", words, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  tracer.stderr.on("data", (bytes: Buffer) => {
    said += bytes.toString();
  });
  const ended = new Promise((give) => tracer.once("exit", give));
  expect(await holdsWithin(patienceMilliseconds, () => said.includes("attached"), 20)).toBe(true);
  act();
  tracer.kill("SIGTERM");
  await ended;
  return said.includes("killed by SIGKILL");
}

test("each moment: the directive is carried out once, whatever was used up", async () => {
  let killed = 0;
  for (let number = 1; number <= syncsMax; number++) {
    const id = walk.ran("asker", assistant(`DELEGATE[helper]: quiet.jsonl ${number}`));
    expect(walk.task(id)).toMatchObject({ state: "parked" });
    expect(walk.ambit("approve", "--yes").status).toBe(0);
    if (await killAt(number, () => walk.work())) killed++;
    for (let asked = 0; asked < approvalsMax && walk.task(id).state !== "done"; asked++) {
      walk.work();
      if (walk.task(id).state !== "parked") continue;
      // The approval was used, and the directive was not stored: nothing was done without a yes.
      expect(walk.madeBy(id)).toEqual([]);
      expect(walk.ambit("approve", "--yes").status).toBe(0);
    }
    expect([number, walk.task(id).state, walk.madeBy(id).length]).toEqual([number, "done", 1]);
  }
  expect(killed).toBeGreaterThan(2);
}, 300_000);
