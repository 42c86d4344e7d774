// Durable calls beside plain commits: one, sixteen and a hundred and twenty-eight at once, alternating.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Row } from "../row.ts";
import { CALLER, type StateFixture } from "./fixture.ts";
import { cpuOf, untilQuiet } from "./quiet.ts";
import { type Ran, Worker, type WorkerOptions } from "./worker.ts";

export const OURS = "ambit";
export const STORE = "ambit, the store alone";
export const PLAIN = "plain SQLite";

export const clientCounts: readonly number[] = [1, 16, 128];
export const P50 = ", p50";
export const P99 = ", p99";
export const CPU = ", CPU";

const roundsCount = 3;
const turnMilliseconds = 1500;
const warmMilliseconds = 2000;
/** A daemon runs for hours, and its code is compiled as it is used: this many calls come before those that count. */
const daemonWarmCalls = 20_000;
const daemonWarmMillisecondsMax = 30_000;

export function callCase(clients: number): string {
  return `call, ${clients} client${clients === 1 ? "" : "s"}`;
}

interface Subject {
  readonly name: string;
  readonly workers: readonly Worker[];
  /** The process whose CPU is counted if it is not the callers' own. */
  readonly owner: number | null;
}

interface Taken {
  latencies: number[];
  milliseconds: number;
  cpu: number;
}

export async function measureCalls(fixture: StateFixture): Promise<readonly Row[]> {
  const rows: Row[] = [];
  await warmDaemon(fixture);
  for (const clients of clientCounts) {
    const subjects = await startSubjects(fixture, clients);
    try {
      for (const subject of subjects) await turn(subject, warmMilliseconds);
      const taken = new Map(subjects.map((one): [Subject, Taken] => [one, { latencies: [], milliseconds: 0, cpu: 0 }]));
      for (let round = 0; round < roundsCount; round++)
        for (let place = 0; place < subjects.length; place++) {
          const subject = subjects[(place + round) % subjects.length] as Subject;
          add(taken.get(subject) as Taken, await turn(subject, turnMilliseconds));
        }
      for (const [{ name }, all] of taken) rows.push(...rowsOf(name, callCase(clients), all));
    } finally {
      for (const { workers } of subjects) for (const worker of workers) await worker.end();
    }
  }
  return rows;
}

async function warmDaemon(fixture: StateFixture): Promise<void> {
  const workers = await startLanes(fixture, Math.max(...clientCounts));
  const end = performance.now() + daemonWarmMillisecondsMax;
  let calls = 0;
  while (calls < daemonWarmCalls && performance.now() < end)
    for (const { latencies } of await Promise.all(workers.map((worker) => worker.run(turnMilliseconds))))
      calls += latencies.length;
  for (const worker of workers) await worker.end();
  await untilQuiet(fixture.pid);
}

/** The processes that the clients of the daemon share. */
function startLanes({ folder, project }: StateFixture, clients: number): Promise<readonly Worker[]> {
  const processes = Math.min(4, Math.ceil(clients / 8));
  const lane: WorkerOptions = { kind: "daemon", callers: clients / processes, folder, project, agent: CALLER };
  return Promise.all(Array.from({ length: processes }, () => Worker.start(lane)));
}

async function startSubjects(fixture: StateFixture, clients: number): Promise<readonly Subject[]> {
  const { base, project, pid } = fixture;
  const own = (kind: "plain" | "store"): WorkerOptions => {
    const place = join(base, `${kind}-${clients}`);
    mkdirSync(place, { mode: 0o700 });
    return { kind, callers: clients, folder: place, project, agent: CALLER };
  };
  return [
    { name: PLAIN, workers: [await Worker.start(own("plain"))], owner: null },
    { name: OURS, workers: await startLanes(fixture, clients), owner: pid },
    { name: STORE, workers: [await Worker.start(own("store"))], owner: null },
  ];
}

async function turn({ workers, owner }: Subject, milliseconds: number): Promise<Taken> {
  const before = owner === null ? 0 : cpuOf(owner);
  const began = performance.now();
  const ran: readonly Ran[] = await Promise.all(workers.map((worker) => worker.run(milliseconds)));
  const took = performance.now() - began;
  const own = ran.reduce((sum, { cpu }) => sum + cpu, 0);
  const cpu = owner === null ? own : cpuOf(owner) - before;
  for (const pid of owner === null ? workers.map((worker) => worker.pid) : [owner]) await untilQuiet(pid);
  return { latencies: ran.flatMap(({ latencies }) => latencies), milliseconds: took, cpu };
}

function add(taken: Taken, more: Taken): void {
  taken.latencies = taken.latencies.concat(more.latencies);
  taken.milliseconds += more.milliseconds;
  taken.cpu += more.cpu;
}

function rowsOf(subject: string, name: string, { latencies, milliseconds, cpu }: Taken): readonly Row[] {
  const sorted = [...latencies].sort((left, right) => left - right);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  const calls = Math.max(1, sorted.length);
  return [
    { subject, case: name, value: (milliseconds * 1e6) / calls, unit: "ns" },
    { subject, case: `${name}${P50}`, value: at(0.5), unit: "ns" },
    { subject, case: `${name}${P99}`, value: at(0.99), unit: "ns" },
    ...(Number.isNaN(cpu) ? [] : [{ subject, case: `${name}${CPU}`, value: cpu / calls, unit: "ns" as const }]),
  ];
}
