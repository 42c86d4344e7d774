// The process that owns the state may be killed at any moment: nothing it acknowledged is lost, and all counts are consistent.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { sizeFor } from "../house/long.ts";
import { pause } from "../house/pause.ts";
import { ownFolder, removeFolder, start, writer } from "./child.ts";
import { inspect } from "./inspect.ts";

const rounds = sizeFor(12, 200);
const roundsPerFolder = 10;
const roundMillisecondsMax = 30_000;
const callers = 4;

let program: string;
const folders: string[] = [];
beforeAll(async () => {
  program = await writer();
});
afterAll(() => {
  for (const folder of folders) removeFolder(folder);
});

function newFolder(): string {
  const folder = ownFolder();
  folders.push(folder);
  return folder;
}

describe("killed at any moment", () => {
  test(
    `${rounds} rounds, ${callers} callers: nothing acknowledged is lost, and all counts are consistent`,
    async () => {
      // After a number of lines, then some microseconds: in the middle of whatever comes next.
      const moments = fc.sample(fc.tuple(fc.noBias(fc.nat(60)), fc.noBias(fc.nat(20_000))), rounds);
      let [folder, said, kept]: [string, string[], number] = ["", [], 0];
      for (const [round, [lines, microseconds]] of moments.entries()) {
        if (round % roundsPerFolder === 0) [folder, said] = [newFolder(), []];
        // Decisions alone, or one of everything.
        const running = start(program, folder, { name: `r${round}`, callers, isMixed: round % 2 === 0 });
        await running.until(1 + lines);
        await pause(microseconds / 1000, "it is killed at a random moment");
        running.kill();
        const ran = await running.ended;
        expect([ran.status, ran.errors]).toEqual([null, ""]);
        said.push(...ran.said);
        const found = await inspect(folder, root, said);
        expect(found.problems, `round ${round}, killed after ${lines} lines and ${microseconds} µs`).toEqual([]);
        // A killed process had at most one operation of each caller in flight.
        expect(found.untold).toBeLessThanOrEqual(callers * ((round % roundsPerFolder) + 1));
        kept += ran.said.filter((line) => line.startsWith("kept ")).length;
      }
      expect(kept).toBeGreaterThan(rounds * 15);
    },
    roundMillisecondsMax * rounds,
  );

  test("detects a program that acknowledges too early: this test can fail", async () => {
    const folder = newFolder();
    const hasty = start(program, folder, { callers, isHasty: true });
    await hasty.until(40);
    hasty.kill();
    const { said } = await hasty.ended;
    const found = await inspect(folder, root, said);
    expect(found.problems.filter((one) => one.startsWith("lost: ")).length).toBeGreaterThan(0);
  });

  test(
    "while it creates its tables for the first time: there is a store or there is none",
    async () => {
      const starts = rounds / 4;
      const moments = fc.sample(fc.noBias(fc.nat(400)), starts);
      for (const moment of moments) {
        const folder = newFolder();
        const running = start(program, folder, { callers });
        await pause(moment, "it is killed at a random moment of its start");
        running.kill();
        const { said } = await running.ended;
        const found = await inspect(folder, root, said);
        expect(found.problems, `killed after ${moment} ms`).toEqual([]);
      }
    },
    roundMillisecondsMax * rounds,
  );
});
