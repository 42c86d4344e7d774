// Every attempt of the table, made by a real program in a real sandbox through the command line, as root and as an ordinary user.
// With namespaces, and behind a filter that refuses them: the second column. Each must have been made, must have got the answer that shows what stopped it, and must have left the machine as it was.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Executed } from "./ambit.ts";
import { type Attempt, type Outcome, outcomesIn } from "./attempt.ts";
import { inEngine, reasonNotInEngine } from "./attempts/in-engine.ts";
import { callers } from "./callers.ts";
import { AttackFixture } from "./fixture.ts";
import { rowsFor } from "./rows.ts";
import { plantCarriers, type Scene } from "./scene.ts";

/** What every machine can try; fewer means that rows were lost. */
const triedMin = 290;

const isRoot = process.getuid?.() === 0;

/** Why an attempt would prove nothing on this machine; null if it does. */
function reasonNot(row: Attempt): string | null {
  const { word } = row;
  const inContainer = reasonNotInEngine(row);
  if (inContainer !== null) return inContainer;
  if (word.startsWith("carries=")) return isRoot ? null : "only root can make such a program";
  const [, path] = /^(?:device|proc-read|proc-write)=(.+)$/.exec(word) ?? [];
  return path === undefined || existsSync(path) ? null : `this machine has no ${path}`;
}

/** Content, and everything that a change would leave behind. */
function canaryOf({ folder }: Scene): readonly unknown[] {
  const path = join(folder, "outside", "canary");
  const { mode, uid, gid, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return [readFileSync(path, "utf8"), mode, uid, gid, mtimeNs, ctimeNs];
}

let fixture: AttackFixture;
beforeAll(() => {
  fixture = new AttackFixture();
});
afterAll(() => fixture.remove());

describe.each([...callers(), ...callers("supervised")])("as $caller, by $backend", (who) => {
  // Features this machine lacks cannot be tested on it; `triedMin` limits how many may be skipped.
  const rows = inEngine(rowsFor(who.caller, who.backend)).filter((row) => reasonNot(row) === null);
  let scene: Scene;
  let ran: Executed;
  let outcomes: ReadonlyMap<string, Outcome>;
  let visits: Readonly<Record<string, number>>;
  let canary: readonly unknown[];
  let before: readonly unknown[];

  beforeAll(async () => {
    const made = await fixture.scene(who);
    scene = made.scene;
    if (isRoot && who.caller === "user") plantCarriers(scene, fixture.programs.probe);
    before = canaryOf(scene);
    ran = await made.ambit.probe(rows.map(({ word }) => word));
    outcomes = new Map(outcomesIn(ran.output).map((outcome) => [outcome.attempt, outcome]));
    canary = canaryOf(scene);
    visits = await scene.end();
  });

  test("the probe ran to its end", () => {
    expect(ran).toMatchObject({ outcome: "ran", status: 0, errors: "", changes: { landed: expect.any(Number) } });
    // The links it made lead out of the root: they do not land.
    const { denials } = ran as { readonly denials: readonly { readonly request: string }[] };
    expect(denials.filter(({ request }) => !/^fs\.write \S*\/attempt-(write-)?link$/.test(request))).toEqual([]);
  });

  test("every attempt was made", () => {
    const untried = rows.filter(
      ({ word }) => outcomes.get(word)?.outcome !== "blocked" && outcomes.get(word)?.outcome !== "open",
    );
    expect(untried.map(({ word }) => outcomes.get(word) ?? word)).toEqual([]);
    expect(outcomes.size).toBe(rows.length);
    expect(outcomes.size).toBeGreaterThanOrEqual(triedMin);
  });

  const titled = rows.map((row): [string, Attempt] => [`${row.tries} (${row.word}): ${row.by}`, row]);
  test.each(titled)("%s", (_title, row) => {
    const { outcome, how, detail } = outcomes.get(row.word) as Outcome;
    expect({ outcome, how: row.how.includes(how) ? row.how : how, detail }).toEqual({
      outcome: row.by === "unblocked" ? "open" : "blocked",
      how: row.how,
      detail,
    });
  });

  test("no connection reached the machine's sockets, and the file beside the root is unchanged", () => {
    expect(Object.entries(visits).filter(([, count]) => count > 0)).toEqual([]);
    expect(Object.keys(visits).length).toBeGreaterThanOrEqual(8);
    expect(canary).toEqual(before);
    expect(canary[0]).toBe("as it was\n");
  });

  test("the report names this sandbox", () => {
    const { enforcement } = ran as Executed & { readonly enforcement: readonly { readonly note: string }[] };
    const notes = enforcement.map(({ note }) => note).join("; ");
    expect(notes.includes("without namespaces")).toBe(who.backend === "supervised");
  });

  test("the secret is nowhere in the program's output", () => {
    expect(ran.output + ran.errors).not.toContain(scene.token);
  });
});
