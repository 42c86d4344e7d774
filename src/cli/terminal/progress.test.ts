// The progress line of a long command: when it is drawn, its content, and that nothing of it remains.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { screenOf } from "../../../test/e2e/terminal.ts";
import { type Progress, progressOf, progressOn, SILENT } from "./progress.ts";

/** A clock that advances by this much whenever it is read. */
function drawn(tick: number, steps: number, columns = 80, firstShown?: number): readonly string[] {
  const written: string[] = [];
  let time = 0;
  const now = (): number => {
    time += tick;
    return time;
  };
  const progress = progressOn({ columns, now, write: (text) => written.push(text) }, firstShown);
  progress.over("reading agents", (step) => {
    for (let at = 1; at <= steps; at++) step(at, steps);
  });
  return written;
}

const ERASE = "\r\u001b[K";

describe("the line", () => {
  const rows: readonly (readonly [title: string, tick: number, steps: number, written: readonly string[]])[] = [
    ["a command that ends in time draws nothing", 1, 699, []],
    ["one that does not end in time draws once", 1, 700, [`${ERASE}reading agents: 700 of 700`, ERASE]],
    [
      "and again after a while, not at every step",
      50,
      17,
      [`${ERASE}reading agents: 14 of 17`, `${ERASE}reading agents: 16 of 17`, ERASE],
    ],
  ];
  test.each(rows)("%s", (_title, tick, steps, written) => {
    expect(drawn(tick, steps)).toEqual(written);
  });

  test("is narrower than the terminal, and nothing of it remains at the end", () => {
    fc.assert(
      fc.property(fc.nat(120), fc.integer({ min: 1, max: 300 }), fc.nat(50), (columns, tick, steps) => {
        const written = drawn(tick, steps, columns, 0);
        for (const one of written) expect(screenOf(one).length).toBeLessThan(Math.max(1, columns));
        expect(screenOf(written.join(""))).toBe("");
      }),
    );
  });

  test("is also removed when the work fails", () => {
    const written: string[] = [];
    const progress = progressOn({ columns: 80, now: () => 1000, write: (text) => written.push(text) });
    const work = (): unknown =>
      progress.over("reading", (step) => {
        step(1, 2);
        throw new Error("ours");
      });
    expect(work).toThrow("ours");
    expect(written.at(-1)).toBe(ERASE);
  });
});

describe("waiting for work elsewhere", () => {
  test.each([
    ["that ends in time draws nothing", 0, []],
    ["that does not draws how long it has taken, and takes it away", 701, [`${ERASE}loading: 0 s`, ERASE]],
  ] as const)("%s", async (_title, now, wanted) => {
    const written: string[] = [];
    const progress = progressOn({ columns: 80, now: () => now, write: (text) => written.push(text) });
    expect(await progress.wait("loading", Promise.resolve(7))).toBe(7);
    expect(written).toEqual(wanted);
  });

  test("that fails leaves nothing on the line either", async () => {
    const written: string[] = [];
    const progress = progressOn({ columns: 80, now: () => 1000, write: (text) => written.push(text) });
    await expect(progress.wait("loading", Promise.reject(new Error("theirs")))).rejects.toThrow("theirs");
    expect(written.at(-1)).toBe(ERASE);
  });
});

test("--json is silent, and without it the default is used", () => {
  const own: Progress = { over: (_what, work) => work(() => {}), wait: (_what, work) => work };
  expect(progressOf({ progress: own }, { json: true })).toBe(SILENT);
  expect(progressOf({ progress: own }, { json: false })).toBe(own);
});
