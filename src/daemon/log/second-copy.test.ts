import { createHash } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { entryOf } from "../../../test/audit/written-log.ts";
import { pause } from "../../../test/house/pause.ts";
import { until } from "../../../test/house/until.ts";
import type { ChainRow, ChainStore, CheckpointRow } from "../../core/ports/stores/chain-rows.ts";
import type { Sink, SinkPosition, SinkResult } from "../../core/ports/stores/sink.ts";
import { chainHash, ZERO_HASH } from "../../log/chain/chain.ts";
import { entryBody } from "../../log/chain/entry-body.ts";
import { SINK_BEHIND, SINK_CAUGHT_UP } from "../../log/verify/copy-lines.ts";
import { readExportLine } from "../../log/verify/export.ts";
import { copiedChain } from "./copied-chain.ts";
import { SecondCopy } from "./second-copy.ts";

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A log in memory. */
class Log {
  readonly entries: ChainRow[] = [];
  readonly notes: CheckpointRow[] = [];
  first = 1;

  add(count: number): void {
    for (let at = 0; at < count; at++) this.#put(JSON.stringify({ place: this.entries.length + 1 }));
  }

  tell(outcome: string): void {
    this.#put(entryBody(entryOf(this.entries.length, { kind: "daemon", outcome })));
  }

  #put(body: string): void {
    const before = this.entries.at(-1);
    const place = (before?.place ?? 0) + 1;
    this.entries.push({ place, body, hash: chainHash(digest, before?.hash ?? ZERO_HASH, body) });
  }

  get chain(): ChainStore {
    const given = async <T>(value: T): Promise<{ ok: true; value: T }> => ({ ok: true, value });
    return {
      rows: (from, count) =>
        given(this.entries.filter(({ place }) => place >= Math.max(from, this.first)).slice(0, count)),
      checkpoints: (from) => given(this.notes.filter(({ place }) => place >= from)),
      head: () => given(this.entries.at(-1) ?? { place: 0, hash: ZERO_HASH }),
      first: () => given(this.first),
      unindexed: () => given(null),
      keepCheckpoint: () => given(null),
      prune: (before) => given({ removed: before - this.first }),
    };
  }
}

/** Stores what it gets, unless told otherwise. */
class FakeSink implements Sink {
  readonly lines: string[] = [];
  trouble: string | null = null;
  refuses: string | null = null;
  isStuck = false;
  standing: SinkPosition = { place: null, hash: null, note: null, first: null, rotations: null };
  #release: (() => void)[] = [];

  async open(): Promise<SinkResult<SinkPosition>> {
    this.trouble = null;
    return this.refuses === null ? { ok: true, value: this.standing } : { ok: false, message: this.refuses };
  }

  look(): Promise<string | null> {
    return Promise.resolve(this.trouble);
  }

  async keep(lines: string, last: number): Promise<SinkResult<null>> {
    if (this.isStuck) await new Promise<void>((go) => this.#release.push(go));
    this.lines.push(...lines.split("\n").slice(0, -1));
    if (last > 0) this.standing = { ...this.standing, place: last };
    return { ok: true, value: null };
  }

  release(): void {
    this.isStuck = false;
    for (const go of this.#release.splice(0)) go();
  }

  close(): void {}

  get places(): readonly number[] {
    return this.lines.flatMap((text) => {
      const line = readExportLine(text);
      return line?.kind === "entry" ? [line.place] : [];
    });
  }

  get kinds(): readonly string[] {
    return this.lines.map((text) => readExportLine(text)?.kind ?? text);
  }
}

/** Slower than the timeout, for every batch. */
class SlowSink extends FakeSink {
  override async keep(lines: string, last: number): Promise<SinkResult<null>> {
    await pause(80, "slower than the timeout");
    return super.keep(lines, last);
  }
}

let copy: SecondCopy;
const told: string[] = [];
function begin(
  log: Log,
  sink: Sink,
  timeoutMilliseconds = 10_000,
  rotations: readonly string[] = [],
  tell: (outcome: string) => void = () => undefined,
): SecondCopy {
  told.length = 0;
  copy = new SecondCopy({
    ...{ target: "here", sink, chain: log.chain, digest, timeoutMilliseconds },
    beginning: () => ({ header: "header", rotations }),
    changed: (isLate, problem) => {
      told.push(isLate ? `late ${problem}` : "well");
      tell(isLate ? SINK_BEHIND : SINK_CAUGHT_UP);
    },
    wentBack: (from, to) => told.push(`back ${from} ${to}`),
  });
  return copy;
}
afterEach(() => copy?.drop());

const patience = 10_000;

describe("a second copy of the log", () => {
  it("gets every entry once and in order, in batches, with each note after its entry", async () => {
    const [log, sink] = [new Log(), new FakeSink()];
    log.add(600);
    log.notes.push({ place: 300, text: "note" }, { place: 600, text: "note" });
    begin(log, sink);
    expect(await copy.has(600, patience)).toBe(true);
    log.add(1);
    copy.wake();
    expect(await copy.has(601, patience)).toBe(true);
    expect(sink.places).toEqual(Array.from({ length: 601 }, (_, at) => at + 1));
    expect([sink.kinds.indexOf("checkpoint"), sink.kinds.lastIndexOf("checkpoint")]).toEqual([300, 601]);
    expect(copy.shown()).toEqual({ target: "here", kept: 601, behind: 0, isDenying: false, problem: null });
  });

  it("a later note is passed on, and never twice", async () => {
    const [log, sink] = [new Log(), new FakeSink()];
    log.add(3);
    begin(log, sink);
    expect(await copy.has(3, patience)).toBe(true);
    log.notes.push({ place: 3, text: "note" });
    await copy.close();
    expect(sink.kinds).toEqual(["entry", "entry", "entry", "checkpoint"]);
  });

  it("continues where the sink really is", async () => {
    const [log, sink] = [new Log(), new FakeSink()];
    log.add(5);
    sink.standing = { place: 3, hash: log.entries[2]?.hash ?? "", note: null, first: 1, rotations: 0 };
    begin(log, sink);
    expect(await copy.has(5, patience)).toBe(true);
    expect(sink.places).toEqual([4, 5]);
  });

  it.each<readonly [string, Partial<SinkPosition>, number, string]>([
    ["it has more than the log", { place: 6 }, 1, "the log was truncated"],
    ["its last entry is another", { place: 3, hash: "0".repeat(64) }, 1, "differs from the log"],
    ["the entries it lacks are gone", { place: 1 }, 4, "were removed from the log before they were copied"],
    ["it begins elsewhere", { first: 3 }, 1, "it begins with entry 3"],
  ])("%s: refused, and nothing is passed on", async (_what, standing, first, problem) => {
    const [log, sink] = [new Log(), new FakeSink()];
    log.add(5);
    log.first = first;
    sink.standing = { ...sink.standing, ...standing };
    begin(log, sink, 50);
    expect(await copy.ready(300)).toBe(false);
    expect(copy.shown()).toMatchObject({ isDenying: true, problem: expect.stringContaining(problem) });
    expect(sink.lines).toEqual([]);
  });

  it("rows that do not continue one another are not passed on", async () => {
    const [log, sink] = [new Log(), new FakeSink()];
    log.add(5);
    log.entries.splice(2, 1);
    begin(log, sink, 50);
    expect(await copy.ready(300)).toBe(false);
    expect([sink.places, copy.shown().problem]).toEqual([[], expect.stringContaining("entry 3 of the log is missing")]);
  });

  it("stuck: callers wait no longer than their timeout; it falls behind once, and catches up once", async () => {
    const [log, sink] = [new Log(), new FakeSink()];
    log.add(1);
    begin(log, sink, 100);
    expect(await copy.has(1, patience)).toBe(true);
    sink.isStuck = true;
    log.add(1);
    copy.wake();
    expect(await copy.has(2, 20)).toBe(false);
    await until(() => copy.isLate, "it is late");
    expect(copy.shown()).toMatchObject({ kept: 1, isDenying: true, problem: "it does not respond in time" });
    log.add(2);
    sink.release();
    copy.wake();
    expect(await copy.has(4, patience)).toBe(true);
    await until(() => !copy.isLate, "it caught up");
    expect(sink.places).toEqual([1, 2, 3, 4]);
    expect(told).toEqual(["late null", "well"]);
  });

  it("one that is always slower than the timeout is reported once, however long nothing else happens", async () => {
    const [log, sink] = [new Log(), new SlowSink()];
    log.add(1);
    const tell = begin(log, sink, 20, [], (outcome) => {
      log.tell(outcome);
      setTimeout(() => tell.wake());
    });
    await expect.poll(() => told.length, { timeout: 60_000 }).toBe(2);
    // Long enough for several more batches, if there were any.
    await pause(300, "several more batches would be sent by then");
    expect(log.entries.length).toBe(3);
    expect([sink.places, told]).toEqual([
      [1, 2, 3],
      ["late null", "well"],
    ]);
  });

  it.each([
    [null, ["r1", "r2"]],
    [0, ["r1", "r2"]],
    [1, ["r2"]],
    [2, []],
  ])("has %j of the notes of keys already: gets %j", async (rotations, expected) => {
    const [log, sink] = [new Log(), new FakeSink()];
    log.add(1);
    sink.standing = { ...sink.standing, rotations };
    begin(log, sink, 10_000, ["r1", "r2"]);
    expect(await copy.has(1, patience)).toBe(true);
    expect(sink.lines.slice(0, -1)).toEqual(expected);
  });

  it("a log that begins right after its last entry continues it, or is refused", async () => {
    const [log, sink] = [new Log(), new FakeSink()];
    log.add(5);
    log.first = 4;
    sink.standing = { place: 3, hash: log.entries[2]?.hash ?? "", note: null, first: 1, rotations: 0 };
    begin(log, sink);
    expect(await copy.has(5, patience)).toBe(true);
    copy.drop();
    sink.standing = { place: 3, hash: "0".repeat(64), note: null, first: 1, rotations: 0 };
    begin(log, sink, 50);
    expect(await copy.ready(300)).toBe(false);
  });

  it("refused at first: retried until it is accepted", async () => {
    const [log, sink] = [new Log(), new FakeSink()];
    log.add(2);
    sink.refuses = "full";
    begin(log, sink);
    expect(await copy.has(2, 30)).toBe(false);
    expect(copy.shown().problem).toBe("full");
    sink.refuses = null;
    expect(await copy.has(2, patience)).toBe(true);
  });

  it("closing does not wait as long as a call would, if that is long", { timeout: 20_000 }, async () => {
    const [log, sink] = [new Log(), new FakeSink()];
    begin(log, sink, 60_000);
    expect(await copy.ready(patience)).toBe(true);
    sink.isStuck = true;
    log.add(1);
    await copy.close();
    expect(copy.kept).toBe(0);
  });

  it("dropped: waiting callers are denied", async () => {
    const [log, sink] = [new Log(), new FakeSink()];
    sink.isStuck = true;
    log.add(1);
    begin(log, sink);
    const waits = [copy.has(1, patience), copy.ready(patience)];
    copy.drop();
    expect(await Promise.all(waits)).toEqual([false, false]);
    expect(await copy.has(1, patience)).toBe(false);
  });

  it("retention removes nothing that it does not have", async () => {
    const [log, sink] = [new Log(), new FakeSink()];
    log.add(5);
    sink.refuses = "full";
    begin(log, sink);
    const chain = copiedChain(log.chain, { copy, refusal: null, isPlain: false });
    const prune = (before: number): Promise<unknown> => chain.prune(before, null as never);
    expect(await prune(3)).toMatchObject({ ok: false, message: expect.stringContaining("nothing was removed") });
    sink.refuses = null;
    expect(await copy.has(5, patience)).toBe(true);
    expect(await prune(6)).toMatchObject({ ok: true });
    expect(await prune(7)).toMatchObject({ ok: false });
    // It was emptied since the last write, and accepts nothing now: only the log has those entries.
    [sink.trouble, sink.refuses] = ["it was moved away", "full"];
    expect(await prune(6)).toMatchObject({ ok: false, message: expect.stringContaining("nothing was removed") });
    const plain = copiedChain(log.chain, { copy: null, refusal: null, isPlain: true });
    expect(await plain.prune(7, null as never)).toMatchObject({ ok: true });
  });
});
