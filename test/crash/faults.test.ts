// Every write, flush, truncation and opening of the store's files fails in turn: the caller gets an error, nothing stored is
// lost, all counts are consistent, and afterwards the store works again.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { isLong } from "../house/long.ts";
import { ownFolder, type Ran, removeFolder, start, writer } from "./child.ts";
import { type Fault, faultCommand, faultText, hasFailed } from "./faults.ts";
import { type Found, inspect } from "./inspect.ts";
import { canTrace } from "./trace.ts";

const nthMax = 5_000;
const [callers, count] = [4, 8];
const millisecondsMax = 30 * 60_000;

let program: string;
let folder = "";
beforeAll(async () => {
  [program, folder] = [await writer(), ownFolder()];
});
afterAll(() => {
  removeFolder(folder);
});

interface Tried {
  readonly ran: Ran;
  readonly found: Found;
  readonly hasFailed: boolean;
}

/** `isThere`: in an existing store, so that only writes into it can fail. */
async function tried(fault: Fault, isThere = false, isMixed = true): Promise<Tried> {
  const [state, log] = [join(folder, "state"), join(folder, "log")];
  removeFolder(state);
  const before = isThere ? await start(program, state, { callers, count: 2, name: "before" }).ended : null;
  // Longer than the store waits before it reopens a connection it no longer trusts.
  const orders = { callers, count, isMixed, refusedMilliseconds: 300 };
  const ran = await start(program, state, orders, faultCommand(fault, state, log)).ended;
  const found = await inspect(state, root, [...(before?.said ?? []), ...ran.said]);
  return { ran, found, hasFailed: hasFailed(log) };
}

const linesOf = (ran: Ran, word: string): readonly string[] => ran.said.filter((line) => line.startsWith(`${word} `));

/** `some`: the ones tried in the short run; the first hundreds are those that create the tables. */
const once: readonly (Omit<Fault, "nth" | "isForGood"> & {
  readonly some: readonly number[];
  /** A new store with one of everything, or decisions alone on an existing store. */
  readonly where: "a new store" | "decisions alone";
})[] = [
  { call: "pwrite64", error: "EIO", some: [1, 260, 310], where: "a new store" },
  { call: "pwrite64", error: "ENOSPC", some: [290], where: "a new store" },
  { call: "pwrite64", error: "EIO", some: [3, 5, 7], where: "decisions alone" },
  { call: "pwrite64", error: "ENOSPC", some: [4], where: "decisions alone" },
  { call: "fsync", error: "EIO", some: [2, 10, 14], where: "a new store" },
  { call: "fsync", error: "ENOSPC", some: [12], where: "a new store" },
  { call: "ftruncate", error: "EIO", some: [1], where: "a new store" },
  { call: "openat", error: "EMFILE", some: [1, 4], where: "a new store" },
  { call: "openat", error: "EIO", some: [1], where: "a new store" },
];

describe.skipIf(!canTrace())("one system call fails", () => {
  test.each(once)(
    "$call with $error, whichever it is: $where",
    async ({ call, error, some, where }) => {
      let [hits, refusals] = [0, 0];
      for (const nth of isLong ? all() : some) {
        const fault = { call, error, nth, isForGood: false };
        const { ran, found, hasFailed } = await tried(fault, where === "decisions alone", where === "a new store");
        // There were fewer calls than this: all of them have failed once by now.
        if (!hasFailed) break;
        hits += 1;
        expect([ran.status, ran.errors, ran.said.at(-1)], faultText(fault)).toEqual([0, "", "ended"]);
        expect(found.problems, faultText(fault)).toEqual([]);
        // The only other answer is a refusal with this code, and every request was answered.
        const [kept, refused] = [linesOf(ran, "kept"), linesOf(ran, "refused")];
        refusals += refused.length + linesOf(ran, "closed").length;
        expect(kept.length + refused.length, faultText(fault)).toBe(callers * count);
        expect(refused.filter((line) => !line.endsWith(" audit_unavailable"))).toEqual([]);
        // It failed once: at most the requests of that event-loop turn and during reopening are refused.
        expect(refused.length, faultText(fault)).toBeLessThanOrEqual(2 * callers);
        // A refused entry is not stored. Only if everything was written and the flush failed may it be: never executed, but
        // charged.
        expect(found.untold, faultText(fault)).toBeLessThanOrEqual(call === "fsync" ? callers : 0);
      }
      expect(hits).toBeGreaterThan(0);
      // Some failures need no error, such as a flush that is repeated; but not all of them.
      expect(refusals).toBeGreaterThan(0);
    },
    millisecondsMax,
  );
});

function* all(): Iterable<number> {
  for (let nth = 1; nth <= nthMax; nth++) yield nth;
}

const forGood: readonly Fault[] = [
  { call: "pwrite64", error: "ENOSPC", nth: 120, isForGood: true },
  { call: "pwrite64", error: "EROFS", nth: 120, isForGood: true },
  { call: "fsync", error: "EIO", nth: 5, isForGood: true },
];

describe.skipIf(!canTrace())("from some call on everything fails", () => {
  test.each(forGood)(
    "$call with $error: everything is refused from there on, and the process survives",
    async (fault) => {
      const { ran, found, hasFailed } = await tried(fault, true);
      expect(hasFailed).toBe(true);
      expect([ran.status, ran.errors, ran.said.at(-1)]).toEqual([0, "", "ended"]);
      expect(found.problems).toEqual([]);
      expect(linesOf(ran, "kept").length).toBeGreaterThan(0);
      const last = ran.said.slice(0, -1).slice(-callers);
      expect(last.every((line) => /^refused \w+ \S+ audit_unavailable$/.test(line))).toBe(true);
    },
  );
});
