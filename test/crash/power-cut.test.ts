// The power may fail at any moment. The program's writes and flushes are known from its system calls; every disk that such a cut
// can leave behind must have everything that was acknowledged.
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { isLong } from "../house/long.ts";
import { ownFolder, removeFolder, start, writer } from "./child.ts";
import { Disk } from "./disk.ts";
import { inspect } from "./inspect.ts";
import type { Orders } from "./orders.ts";
import { canTrace, type DiskEvent, diskEvents, traceCommand } from "./trace.ts";

const cutsWanted = isLong ? Number.POSITIVE_INFINITY : 8;
/** Enough that the log is checkpointed into the database meanwhile. */
const count = 60;
const millisecondsMax = 10 * 60_000;

let program: string;
let folder = "";
beforeAll(async () => {
  [program, folder] = [await writer(), ownFolder()];
});
afterAll(() => {
  removeFolder(folder);
});

async function traced(name: string, orders: Partial<Orders>): Promise<readonly DiskEvent[]> {
  const [state, log] = [join(folder, name), join(folder, `${name}.log`)];
  const ran = await start(program, state, { count, ...orders }, traceCommand(log)).ended;
  expect([ran.status, ran.errors, ran.said.at(-1)]).toEqual([0, "", "ended"]);
  const happened = diskEvents(log, state);
  expect(saidIn(happened)).toEqual(ran.said);
  return happened;
}

function saidIn(happened: readonly DiskEvent[]): readonly string[] {
  const text = happened.map((one) => (one.kind === "said" ? one.text : "")).join("");
  return text.split("\n").slice(0, -1);
}

interface Cut {
  readonly place: number;
  readonly problems: readonly string[];
}

/** Cuts there, and inspects what is left. */
async function cuts(
  happened: readonly DiskEvent[],
  at: ReadonlySet<number>,
  lucks: readonly Luck[],
): Promise<readonly Cut[]> {
  const [disk, image, found]: [Disk, string, Cut[]] = [new Disk(), join(folder, "image"), []];
  for (const [place, one] of happened.entries()) {
    disk.happen(one);
    if (!at.has(place)) continue;
    for (const luck of lucks) {
      disk.writeTo(image, luck);
      const { problems } = await inspect(image, root, saidIn(happened.slice(0, place + 1)));
      found.push({ place, problems });
    }
  }
  expect(disk.syncs).toBeGreaterThan(0);
  return found;
}

/** Just after every k-th line of output. */
function lineEnds(happened: readonly DiskEvent[]): ReadonlySet<number> {
  const places = happened.flatMap(({ kind }, place) => (kind === "said" ? [place] : []));
  const every = Math.max(1, Math.floor(places.length / cutsWanted));
  return new Set(places.filter((_, line) => line % every === 0));
}

type Luck = () => boolean;
/** No unflushed write, or any part of them. */
const none: Luck = () => false;
function any(): Luck {
  const chances = fc.sample(fc.noBias(fc.boolean()), 100_000);
  let chance = 0;
  return () => chances[chance++ % chances.length] === true;
}

describe.skipIf(!canTrace())("a power cut", () => {
  test(
    "loses nothing that was acknowledged, whatever part of the unflushed writes the disk has",
    async () => {
      const happened = await traced("full", {});
      const syncs = happened.filter(({ kind }) => kind === "sync").length;
      // At least one per commit: every caller waits for one after another.
      expect(syncs).toBeGreaterThanOrEqual(count);
      // The log was also checkpointed into the database while it was written.
      expect(happened.filter((one) => one.kind === "write" && one.path.endsWith("/state.db")).length).toBeGreaterThan(
        50,
      );
      const found = await cuts(happened, lineEnds(happened), [none, any()]);
      expect(found.length).toBeGreaterThanOrEqual(isLong ? 2 * 4 * count : cutsWanted);
      expect(found.filter(({ problems }) => problems.length > 0)).toEqual([]);
    },
    millisecondsMax,
  );

  test(
    "loses no decision if only decisions are written",
    async () => {
      const happened = await traced("decisions", { isMixed: false });
      const writes = happened.filter((one) => one.kind === "write" && one.path.endsWith("/state.db-wal"));
      expect(writes.length).toBeGreaterThanOrEqual(count);
      const places = fc.sample(fc.noBias(fc.nat(happened.length - 1)), isLong ? 600 : 8);
      const found = await cuts(happened, new Set([...lineEnds(happened), ...places]), [none, any()]);
      expect(found.length).toBeGreaterThanOrEqual(isLong ? 2 * 4 * count : cutsWanted);
      expect(found.filter(({ problems }) => problems.length > 0)).toEqual([]);
    },
    millisecondsMax,
  );

  test(
    "between any two system calls leaves a store that opens and is consistent",
    async () => {
      const happened = await traced("between", {});
      const places = fc.sample(fc.noBias(fc.nat(happened.length - 1)), isLong ? 600 : 8);
      const found = await cuts(happened, new Set(places), [none, any()]);
      expect(found.length).toBeGreaterThanOrEqual(8);
      expect(found.filter(({ problems }) => problems.length > 0)).toEqual([]);
    },
    millisecondsMax,
  );

  test(
    "loses acknowledged writes without flushes: this test can fail",
    async () => {
      const happened = await traced("weak", { isWeak: true });
      const found = await cuts(happened, lineEnds(happened), [none]);
      expect(found.filter(({ problems }) => problems.some((one) => one.startsWith("lost: "))).length).toBeGreaterThan(
        found.length / 2,
      );
      // It loses data, but it never lies: what is there is still consistent.
      expect(found.flatMap(({ problems }) => problems).filter((one) => !one.startsWith("lost: "))).toEqual([]);
    },
    millisecondsMax,
  );
});
