// The lander is killed at every rename, removal and flush it makes; after recovery the root is as before or as wanted.
import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stepOf } from "../../src/sandbox/plan/drafts/land-request.ts";
import { nativeProgram } from "../files/native.ts";
import {
  type DraftFixture,
  draftFixture,
  landAll,
  newFolder,
  newWorker,
  places,
  scanDraft,
  snapshot,
  type Tree,
  temporaryNames,
} from "./fixture.ts";

const ROOT: Tree = { "a.txt": "a", "dir/b.txt": "b", "dir/c.txt": "c", l: { link: "a.txt" }, "old/x": "x" };
const UPPER: Tree = {
  "a.txt": "A",
  "dir/b.txt": "B",
  old: { whiteout: true },
  l: "file",
  "new/n.txt": "n",
  "new/m": { link: "n.txt" },
};

const canTrace = spawnSync("strace", ["-V"]).status === 0;

/** The worker under strace, which kills it at the n-th call of one name. */
function killedAt(call: string, when: number): string {
  const script = join(newFolder(), "killed");
  const trace = `strace -qq -f -o /dev/null -e trace=${call} -e inject=${call}:signal=KILL:when=${when}`;
  writeFileSync(script, `#!/bin/sh\nexec ${trace} "${nativeProgram}" "$@"\n`);
  chmodSync(script, 0o755);
  return script;
}

/** True if the worker was killed during the operation. */
async function interrupted(
  given: DraftFixture,
  request: "land" | "undo",
  call: string,
  when: number,
): Promise<boolean> {
  const steps = (await scanDraft(given)).changes.map(stepOf);
  const worker = newWorker(given.root, given.drafts, killedAt(call, when));
  const ready = await worker.ready;
  // Killed before its first request: the setup makes a rename as well.
  if ("status" in ready) return true;
  const result = request === "land" ? await worker.land(given.id, steps, given.start) : await worker.undo(given.id, 1);
  worker.close();
  return result.status === "lost";
}

describe.skipIf(!canTrace).each(places)("drafts on the %s", (_title, place) => {
  describe.each(["renameat2", "unlinkat", "fdatasync", "mkdirat"])("killed at each %s", (call) => {
    test("of a landing", async () => {
      for (let when = 1, goes = true; goes && when < 80; when++) {
        const given = await draftFixture({ root: ROOT, upper: UPPER, place });
        const before = snapshot(given.root);
        goes = await interrupted(given, "land", call, when);
        const recovered = await given.worker.recover(given.id);
        expect(recovered, `${call} ${when}`).toMatchObject({ status: "recovered" });
        expect(temporaryNames(given.root), `${call} ${when}`).toEqual([]);
        const [state] = recovered.status === "recovered" ? recovered.landings.map((landing) => landing.state) : [];
        if (state !== "done") {
          expect(snapshot(given.root), `${call} ${when}`).toEqual(before);
          // Nothing of the draft is lost: the same draft lands now.
          expect(await landAll(given), `${call} ${when}`).toMatchObject({ status: "landed", changed: 9 });
        }
        expect(snapshot(given.root), `${call} ${when}`).toEqual({
          "a.txt": "644 A",
          dir: "folder",
          "dir/b.txt": "644 B",
          "dir/c.txt": "644 c",
          l: "644 file",
          new: "folder",
          "new/m": "-> n.txt",
          "new/n.txt": "644 n",
        });
        given.worker.close();
      }
    });

    test("of an undo", async () => {
      for (let when = 1, goes = true; goes && when < 80; when++) {
        const given = await draftFixture({ root: ROOT, upper: UPPER, place });
        const before = snapshot(given.root);
        expect(await landAll(given)).toMatchObject({ status: "landed" });
        const after = snapshot(given.root);
        goes = await interrupted(given, "undo", call, when);
        const recovered = await given.worker.recover(given.id);
        expect(recovered, `${call} ${when}`).toMatchObject({ status: "recovered" });
        const [state] = recovered.status === "recovered" ? recovered.landings.map((landing) => landing.state) : [];
        expect(snapshot(given.root), `${call} ${when}`).toEqual(state === "done" ? after : before);
        expect(temporaryNames(given.root), `${call} ${when}`).toEqual([]);
        given.worker.close();
      }
    });
  });

  test("an interrupted draft is neither scanned nor landed before it is recovered", async () => {
    const given = await draftFixture({ root: ROOT, upper: UPPER, place });
    const steps = (await scanDraft(given)).changes.map(stepOf);
    expect(await interrupted(given, "land", "renameat2", 4)).toBe(true);
    expect(await given.worker.scan(given.id)).toMatchObject({ status: "refused", errno: 16 });
    expect(await given.worker.land(given.id, steps, given.start)).toMatchObject({ status: "refused", errno: 16 });
    expect(await given.worker.recover(given.id)).toMatchObject({ landings: [{ number: 1, state: "failed" }] });
  });

  test("recovery stops at a name that a person changed, and names it", async () => {
    let isTried = false;
    for (let when = 2; !isTried && when < 12; when++) {
      const given = await draftFixture({ root: { "a.txt": "a" }, upper: { "a.txt": "A", "z/new": "n" }, place });
      const { changes } = await scanDraft(given);
      const steps = [...changes].sort((one, other) => (one.path.join("/") < other.path.join("/") ? -1 : 1)).map(stepOf);
      const worker = newWorker(given.root, given.drafts, killedAt("renameat2", when));
      await worker.ready;
      const result = await worker.land(given.id, steps, given.start);
      if (result.status !== "lost" || snapshot(given.root)["a.txt"] !== "644 A") continue;
      isTried = true;
      writeFileSync(join(given.root, "a.txt"), "mine");
      const recovered = await given.worker.recover(given.id);
      expect(recovered).toMatchObject({ status: "stuck", stuck: { listed: [{ path: "a.txt", reason: "changed" }] } });
      expect(snapshot(given.root)["a.txt"]).toBe("644 mine");
    }
    expect(isTried).toBe(true);
  });
});
