// A person and a landing at the same time, with random schedules from the seed of the run: the root has what the person wrote
// last, and everything else is as before or as wanted.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { beforeAll, describe, expect, test } from "vitest";
import { stepOf } from "../../src/sandbox/plan/drafts/land-request.ts";
import { bundleProgram } from "../e2e/bundle.ts";
import { nativeProgram } from "../files/native.ts";
import { sizeFor } from "../house/long.ts";
import { runSeed } from "../house/seed.ts";
import { draftFixture, newFolder, places, scanDraft, snapshot, type Tree, temporaryNames } from "./fixture.ts";
import { type PersonResult, randomOf } from "./person.ts";

const seed = runSeed();
const rounds = sizeFor(15, 1_000);

const canTrace = spawnSync("strace", ["-V"]).status === 0;

/** The worker with a pause before each rename, so that most edits fall between two steps. */
function slowed(): string {
  const script = join(newFolder(), "slowed");
  const trace = "strace -qq -f -o /dev/null -e trace=renameat2 -e inject=renameat2:delay_enter=2000";
  writeFileSync(script, `#!/bin/sh\nexec ${trace} "${nativeProgram}" "$@"\n`, { mode: 0o755 });
  return script;
}

let program: string;
beforeAll(async () => {
  program = await bundleProgram("test/draft/person.ts");
});

function person(data: object): { readonly go: () => Promise<PersonResult>; readonly ready: Promise<unknown> } {
  const thread = new Worker(program, { workerData: data });
  const ready = new Promise((resolve, reject) => {
    thread.once("message", resolve);
    thread.once("error", reject);
  });
  const go = (): Promise<PersonResult> =>
    new Promise((resolve, reject) => {
      thread.once("message", (left: PersonResult) => {
        void thread.terminate();
        resolve(left);
      });
      thread.once("error", reject);
      thread.postMessage("go");
    });
  return { go, ready };
}

describe.each(places)("drafts on the %s", (_title, place) => {
  test(`${rounds} schedules, seed ${seed}`, async () => {
    const outcomes: Record<string, number> = {};
    for (let round = 0; round < rounds; round++) {
      const random = randomOf(seed + round);
      const names = Array.from({ length: 30 }, (_, at) => `${at % 3 === 0 ? "dir/" : ""}f${at}`);
      const root: Tree = Object.fromEntries(names.slice(0, 24).map((name) => [name, `base ${name}\n`]));
      const upper: Tree = Object.fromEntries(
        names.map((name, at) => [name, at % 4 === 3 && at < 24 ? { whiteout: true as const } : `draft ${name}\n`]),
      );
      const given = await draftFixture({
        root,
        upper,
        place,
        ...(canTrace && random() < 0.8 ? { program: slowed() } : {}),
      });
      const steps = (await scanDraft(given)).changes.map(stepOf);
      // Names of which some are in the draft and some are not. In every fifth round none is, so that the landing succeeds; in another
      // the edits are over before it, so that it does not. What the rest shows depends on the machine.
      const own = names.filter(() => random() < 0.1);
      const touched = round % 5 === 0 ? ["other"] : round % 5 === 1 ? names.slice(0, 1) : [...own, "other"];
      const data = {
        root: given.root,
        names: touched,
        seed: seed + round,
        edits: 1 + Math.floor(random() * 6),
        delayMilliseconds: random() * 80,
      };
      const { ready, go } = person(data);
      await ready;
      const left = go();
      if (round % 5 === 1) await left;
      const landed = await given.worker.land(given.id, steps, given.start);
      outcomes[landed.status] = (outcomes[landed.status] ?? 0) + 1;
      const final = await left;
      const why = `seed ${seed}, round ${round}, ${JSON.stringify(landed)}, ${JSON.stringify(final)}`;
      const found = snapshot(given.root);
      for (const [name, text] of Object.entries(final)) {
        // A name that did not exist before, created and deleted by the person before the landing, is new for the draft.
        const isNewName = text === null && root[name] === undefined && found[name] === `644 draft ${name}\n`;
        if (text === null) expect(isNewName ? undefined : found[name], `${name} ${why}`).toBeUndefined();
        else if (text.endsWith("*")) {
          // Written through a descriptor that was opened before the landing: then the original in `bin` has it.
          const kept = Object.values(snapshot(join(given.drafts, given.id, "bin")));
          expect([found[name] ?? "", ...kept].join("\n"), `${name} ${why}`).toContain(text.slice(0, -1));
        } else expect((found[name] ?? "").slice(4), `${name} ${why}`).toBe(text);
      }
      const base = join(given.drafts, given.id);
      for (const name of names) {
        if (name in final) continue;
        const isNew = landed.status === "landed";
        const before = root[name] === undefined ? undefined : `644 ${root[name]}`;
        const after = typeof upper[name] === "string" ? `644 ${upper[name]}` : undefined;
        if (landed.status !== "stuck") expect(found[name], `${name} ${why}`).toBe(isNew ? after : before);
        // A draft that did not land still has its files.
        if (!isNew && landed.status === "conflict" && typeof upper[name] === "string") {
          expect(readFileSync(join(base, "upper", name), "utf8"), why).toBe(upper[name]);
        }
      }
      if (landed.status !== "stuck") expect(temporaryNames(given.root), why).toEqual([]);
      expect(["landed", "conflict", "stuck"], why).toContain(landed.status);
      if (landed.status === "stuck") expect(readdirSync(join(base, "journal")), why).toEqual(["1"]);
      given.worker.close();
    }
    console.log(`seed ${seed}: ${JSON.stringify(outcomes)}`);
    expect(Object.keys(outcomes)).toEqual(expect.arrayContaining(["landed", "conflict"]));
  });
});
