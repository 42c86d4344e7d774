// A growing log: the cost of a decision, the file size, the speed of verification and of searches.
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { makeCheckpoint } from "../../src/log/chain/checkpoint.ts";
import { signatureCheck } from "../../src/log/keys/key-text.ts";
import { type AuditKeys, openAuditKeys } from "../../src/log/keys/keys.ts";
import { verifyStore } from "../../src/log/verify/verify-store.ts";
import { sha256 } from "../../src/platform/digest.ts";
import { factsOf } from "../../src/store/log/fact-index.ts";
import { FactFiller } from "../../src/store/log/index-filler.ts";
import { fillWords } from "../../src/store/log/word-index.ts";
import { openState, type State } from "../../src/store/state.ts";
import { cpuNanoseconds } from "../clock.ts";
import { rootFolder } from "../place.ts";
import type { Row } from "../row.ts";
import { CPU, OURS } from "./calls.ts";
import { chargeOf, entryOf, numberedEntry } from "./entries.ts";
import { expectValue } from "./fixture.ts";
import { measureLog } from "./log-filters.ts";

const entriesPerNote = 1000;
const appendsAtOnce = 8;
const wordStepsAtOnce = 64;
const decideCallers = 128;
const decideCalls = 40;
const aloneCalls = 300;
const NODE = "bench";

export const SIZES: readonly number[] = [10_000, 100_000, 1_000_000];
export const longSize = 10_000_000;
/** Verified and searched at this size; and again at the largest. */
export const searchedSize = 1_000_000;

export const DECIDE = "decide, 128 callers";
export const ALONE = "decide, 1 caller";
export const BYTES = "file, an entry";
export const FILL = "append, an entry";
export const VERIFY = "verify, an entry";
export const FACTS = "index of facts, an entry left behind";
export const WORDS = "index of words, an entry";

export function at(what: string, size: number): string {
  return `${what}, ${size.toLocaleString("en")} entries`;
}

export async function measureGrowth(
  base: string,
  isLong: boolean,
  say: (what: string) => void,
): Promise<readonly Row[]> {
  const folder = join(base, "growth");
  mkdirSync(folder, { mode: 0o700 });
  const keys = openAuditKeys(folder);
  if (!keys.ok) throw new Error(keys.message);
  const state = expectValue(openState(folder, { digest: sha256, program: rootFolder }));
  const rows: Row[] = [];
  try {
    let last = 0;
    for (const size of isLong ? [...SIZES, longSize] : SIZES) {
      say(`${size.toLocaleString("en")} entries`);
      const filled = await timed(() => fill(state, keys.value, last, size));
      rows.push(
        row(at(FILL, size), filled.wall / (size - last)),
        row(at(FILL + CPU, size), filled.cpu / (size - last)),
      );
      // Deferred work of calls is not part of them.
      const before = expectValue(state.loop.readNow(factsOf));
      const facts = await timed(() => fillAllFacts(state));
      rows.push(row(at(FACTS + CPU, size), facts.cpu / (expectValue(state.loop.readNow(factsOf)) - before)));
      last = size;
      rows.push(...(await decideRows(state, size)));
      rows.push({ subject: OURS, case: at(BYTES, size), value: bytesOf(folder) / size, unit: "bytes" });
      if (size >= searchedSize) rows.push(...(await searchRows(state, keys.value, folder, size, say)));
    }
  } finally {
    state.close();
  }
  return rows;
}

async function fill(state: State, keys: AuditKeys, from: number, to: number): Promise<void> {
  for (let begin = from; begin < to; begin += entriesPerNote * appendsAtOnce) {
    const parts = Array.from({ length: appendsAtOnce }, (_, part) => begin + part * entriesPerNote).filter(
      (one) => one < to,
    );
    const appended = parts.map((part) =>
      state.ledger.append(
        Array.from({ length: Math.min(entriesPerNote, to - part) }, (_, at) => numberedEntry(part + at + 1)),
      ),
    );
    for (const one of appended) expectValue(await one);
    const { place, hash } = expectValue(await state.chain.head());
    const note = makeCheckpoint({ node: NODE, size: place, hash, at: place, next: null }, keys.signer);
    expectValue(await state.chain.keepCheckpoint({ place, text: note }));
  }
}

async function decideRows(state: State, size: number): Promise<readonly Row[]> {
  const many = await timed(() => decide(state, decideCallers, decideCalls));
  const calls = decideCallers * decideCalls;
  const latencies: number[] = [];
  const alone = await timed(async () => {
    for (let count = 0; count < aloneCalls; count++) latencies.push((await timed(() => decide(state, 1, 1))).wall);
  });
  const sorted = latencies.sort((left, right) => left - right);
  return [
    row(at(DECIDE, size), many.wall / calls),
    row(at(DECIDE + CPU, size), many.cpu / calls),
    row(at(ALONE, size), sorted[sorted.length >> 1] ?? Number.NaN),
    row(at(ALONE + CPU, size), alone.cpu / aloneCalls),
  ];
}

async function decide(state: State, callers: number, calls: number): Promise<void> {
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let count = 0; count < calls; count++) {
        const write = { entry: entryOf(), charges: [chargeOf()], claim: null, generations: [], links: [] };
        const written = expectValue(await state.ledger.decide(write));
        if (!written.ok) throw new Error(`the store refused: ${written.code}`);
      }
    }),
  );
}

async function searchRows(
  state: State,
  keys: AuditKeys,
  folder: string,
  size: number,
  say: (what: string) => void,
): Promise<readonly Row[]> {
  say("index of words");
  const words = await timed(() => fillAllWords(state));
  // Only now: the store would index words whenever there are no writes.
  say("verify");
  const { place } = expectValue(await state.chain.head());
  const ports = { digest: sha256, check: signatureCheck(), chain: state.chain, pause };
  const verified = await timed(async () => {
    const answer = expectValue(
      await verifyStore(ports, { key: keys.first, rotations: keys.rotations, node: null, head: null }),
    );
    if (answer.problems.length > 0) throw new Error(`the log does not verify: ${JSON.stringify(answer.problems[0])}`);
  });
  const rows = [
    row(at(VERIFY, size), verified.wall / place),
    row(at(VERIFY + CPU, size), verified.cpu / place),
    row(at(WORDS + CPU, size), words.cpu / place),
    { subject: OURS, case: at(`${BYTES}, with words`, size), value: bytesOf(folder) / place, unit: "bytes" } as const,
  ];
  say("log");
  return [...rows, ...(await measureLog(state.ledger, size))];
}

/** What the store does while idle, without waiting for that. */
async function fillAllFacts(state: State): Promise<void> {
  const filler = new FactFiller();
  while (expectValue(await state.loop.write((connection) => filler.step(connection)))) await pause();
}

async function fillAllWords(state: State): Promise<void> {
  for (let isMore = true; isMore; ) {
    const steps = Array.from({ length: wordStepsAtOnce }, () => state.loop.write(fillWords));
    isMore = (await Promise.all(steps)).map((step) => expectValue(step)).at(-1) === true;
  }
}

async function timed(work: () => Promise<void>): Promise<{ readonly wall: number; readonly cpu: number }> {
  const [began, before] = [performance.now(), cpuNanoseconds()];
  await work();
  return { wall: (performance.now() - began) * 1e6, cpu: cpuNanoseconds() - before };
}

function row(name: string, value: number): Row {
  return { subject: OURS, case: name, value, unit: "ns" };
}

function bytesOf(folder: string): number {
  return statSync(join(folder, "state.db")).size;
}

function pause(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
