// `npm run bench -- attack`: the attempts of test/attack made in other sandboxes beside ours, as an ordinary user. It measures
// nothing: it reports what each stops. "Open" means that the attempt succeeded, not that it was exploited.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Attempt, attempt, type Outcome, outcomesIn } from "../../test/attack/attempt.ts";
import { DRAFT_ATTEMPTS } from "../../test/attack/attempts/drafts.ts";
import { type CallerFacts, callers } from "../../test/attack/callers.ts";
import { type Compiled, compile } from "../../test/attack/compiled.ts";
import { installInto } from "../../test/attack/program.ts";
import { rowsFor } from "../../test/attack/rows.ts";
import { makeScene, plantCarriers, restoreRoot, rootOf, type Scene } from "../../test/attack/scene.ts";
import { machine } from "../machine.ts";
import { installPeers } from "../peers.ts";
import { rootFolder } from "../place.ts";
import { ambitCage, type Cage, PEERS } from "./cages.ts";
import { attackTable } from "./table.ts";

const UNCHANGED = "unchanged";

export interface CageResult {
  readonly name: string;
  readonly note: string;
  /** By attempt; a missing one was not reached. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** Its error output if not one attempt could be made. */
  readonly complaint: string | null;
}

/** The root afterwards counts, not what the program reports. */
const DRAFTS: readonly Attempt[] = DRAFT_ATTEMPTS.map(([word, tries]) => attempt(word, tries, "draft", UNCHANGED));

const runMilliseconds = 120_000;
const outputBytesMax = 16_777_216;

export async function attackBench(json: boolean): Promise<void> {
  installPeers();
  const who = callers().at(-1);
  if (who === undefined) throw new Error("there is no user to run as");
  const folder = mkdtempSync(join(tmpdir(), "ambit-bench-"));
  chmodSync(folder, 0o755);
  try {
    const programs = compile(folder, join(rootFolder, "test", "attack"));
    const start = await installInto(join(folder, "program"));
    const rows = [...rowsFor(who.caller).filter(isComparable), ...DRAFTS];
    const results: CageResult[] = [];
    for (const cage of [...PEERS, ambitCage(start)]) results.push(await attacked(cage, who, programs, rows, start));
    if (json) console.log(JSON.stringify(data(rows, results)));
    else console.log(attackTable(rows, results));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The streams are set by this benchmark; programs with privileges can only be made by root. */
function isComparable({ word }: Attempt): boolean {
  return word !== "streams" && (process.getuid?.() === 0 || !word.startsWith("carries="));
}

async function attacked(
  cage: Cage,
  who: CallerFacts,
  programs: Compiled,
  rows: readonly Attempt[],
  start: string,
): Promise<CageResult> {
  const scene = await makeScene(who, programs);
  try {
    if (process.getuid?.() === 0) plantCarriers(scene, programs.probe);
    run(scene, [...who.prefix, process.execPath, start, "trust", "--yes"]);
    const outcomes = new Map<string, Outcome>();
    const probe = (words: readonly string[]): string => {
      const argv = [join(scene.root, "probe"), join(scene.root, "scene"), ...words];
      const { said, complained } = run(scene, cage.command(scene, who, argv));
      const lines = said.split("\n");
      for (const one of outcomesIn(lines.filter((line) => line.startsWith("{")).join("\n")))
        outcomes.set(one.attempt, one);
      return complained;
    };
    let left = rows.filter((row) => !DRAFTS.includes(row)).map(({ word }) => word);
    for (let complaint = probe(left); outcomes.size < rows.length && left.length > 0; complaint = probe(left)) {
      if (outcomes.size === 0) return { name: cage.name, note: cage.note, outcomes, complaint };
      // If it fell silent, the current attempt ended the whole sandbox; the others are made in a new one.
      const [last, ...rest] = left.filter((word) => !outcomes.has(word));
      if (last === undefined) break;
      outcomes.set(last, { attempt: last, outcome: "open", how: "ended", detail: "the sandbox is gone" });
      left = rest;
    }
    // A successful one changes what the next one finds: each gets the original root.
    for (const { word } of DRAFTS) {
      restoreRoot(scene, who);
      const before = JSON.stringify(rootOf(scene));
      probe([word]);
      if (outcomes.has(word) && before === JSON.stringify(rootOf(scene)))
        outcomes.set(word, { attempt: word, outcome: "blocked", how: UNCHANGED, detail: "" });
    }
    return { name: cage.name, note: cage.note, outcomes, complaint: null };
  } finally {
    await scene.end();
  }
}

interface Ran {
  readonly said: string;
  readonly complained: string;
}

function run(scene: Scene, command: readonly string[]): Ran {
  const [program = "", ...words] = command;
  const { stdout, stderr, error } = spawnSync(program, words, {
    cwd: scene.root,
    // Peers look for their tools in the PATH of the person who runs the benchmark.
    env: { ...scene.environment, PATH: process.env["PATH"] },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: runMilliseconds,
    maxBuffer: outputBytesMax,
  });
  if (error !== undefined) throw error;
  return { said: stdout, complained: stderr.split("\n")[0] ?? "" };
}

function data(rows: readonly Attempt[], results: readonly CageResult[]): object {
  return {
    bench: "attack",
    machine: machine(),
    cages: results.map(({ name, note, complaint }) => ({ name, note, complaint })),
    rows: rows.map((row) => ({
      attempt: row.word,
      tries: row.tries,
      by: row.by,
      outcomes: results.map(({ outcomes }) => outcomes.get(row.word) ?? null),
    })),
  };
}
