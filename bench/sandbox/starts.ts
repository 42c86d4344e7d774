// The cost of starting a program that does nothing: bare, under plain bubblewrap, in our sandbox, in a peer's.
import type { SandboxEnvironment } from "../../src/sandbox/linux/detect-sandbox.ts";
import type { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import type { SandboxOwner } from "../../src/sandbox/plan/sandboxes.ts";
import type { Row } from "../row.ts";
import { newOwner, OURS, runInside } from "./ambit.ts";
import { BARE, BUBBLEWRAP, runBare, runBubblewrap } from "./bare.ts";
import type { Planned } from "./fixture.ts";
import { RUNTIME, RUNTIME_CLI, type SandboxRuntime } from "./sandbox-runtime.ts";
import { byTurns, type Contender, inFlight, timeRounds } from "./turns.ts";

const TRUE = "/usr/bin/true";
const turnsCount = 80;
/** For cases that take half a second each time. */
const slowTurnsCount = 12;
const flightTurnsCount = 6;
const lanesCount = 8;
const laneStartsCount = 4;

/** Our sandboxes where namespaces are refused. */
export const UNMOUNTED: string = `${OURS}, no namespaces`;

export const COLD = "start, cold";
export const COLD_ENDED = "start, cold, until it is gone";
export const COLD_NETWORK = "start, cold, with a network";
export const WARM = "start, warm";
export const CLI = "start, from the command line";
export const flight = (name: string): string => `${name}, 8 in flight`;

export interface StartsOptions {
  readonly ground: SandboxEnvironment;
  readonly planned: Planned;
  readonly networked: Planned;
  readonly sandboxes: LinuxSandboxes;
  /** Without control groups. */
  readonly ungrouped: LinuxSandboxes;
  /** Without namespaces. */
  readonly supervised: LinuxSandboxes;
  readonly runtime: SandboxRuntime | null;
}

export interface Measured {
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}

export async function measureStarts(asked: StartsOptions): Promise<Measured> {
  const { ground, planned, networked, sandboxes, ungrouped, supervised, runtime } = asked;
  const [warm, warmSupervised] = [newOwner(), newOwner()];
  const unmounted = withoutMounts(planned);
  const bare: Contender = { subject: BARE, turn: () => timeRounds(() => runBare(TRUE, [])) };
  const library: Contender[] = [];
  if (runtime !== null) library.push({ subject: RUNTIME, turn: () => timeRounds(() => runtime.run(TRUE)) });
  const bubblewrap = (plan: Planned["plan"]): Contender => ({
    subject: BUBBLEWRAP,
    turn: () => timeRounds(() => runBubblewrap(ground, plan, TRUE)),
  });
  const rows = [
    ...(await byTurns(COLD, turnsCount, [
      bare,
      bubblewrap(planned.plan),
      { subject: OURS, turn: () => cold(sandboxes, planned) },
      { subject: `${OURS}, no control groups`, turn: () => cold(ungrouped, planned) },
      { subject: UNMOUNTED, turn: () => cold(supervised, unmounted) },
      ...library,
    ])),
    ...(await byTurns(COLD_ENDED, turnsCount, [
      bubblewrap(planned.plan),
      { subject: OURS, turn: () => timeRounds(() => startAndEnd(sandboxes, planned)) },
    ])),
    ...(await byTurns(WARM, turnsCount * 2, [
      bare,
      { subject: OURS, turn: () => timeRounds(() => runInside(sandboxes, warm, planned, [TRUE])) },
      { subject: UNMOUNTED, turn: () => timeRounds(() => runInside(supervised, warmSupervised, unmounted, [TRUE])) },
    ])),
    ...(await byTurns(COLD_NETWORK, turnsCount, [
      bubblewrap(networked.plan),
      { subject: OURS, turn: () => cold(sandboxes, networked) },
    ])),
  ];
  const flights = await inFlights(asked);
  await sandboxes.end(null);
  const clis: Contender[] =
    runtime === null ? [] : [{ subject: RUNTIME_CLI, turn: () => timeRounds(() => runtime.runCli(TRUE)) }];
  return { rows: [...rows, ...flights.rows, ...(await byTurns(CLI, slowTurnsCount, clis))], notes: flights.notes };
}

/** The real folder, as a copy of it would be seen: making the copy is not part of a start. */
export function withoutMounts({ plan, judge }: Planned): Planned {
  const root: Planned["plan"]["root"] = plan.root === null ? null : { ...plan.root, mode: "ro" };
  return { plan: { ...plan, masked: [], root }, judge };
}

/** From the call to its result, in a new sandbox; its end is not part of the time. */
async function cold(sandboxes: LinuxSandboxes, planned: Planned): Promise<readonly number[]> {
  const owner = newOwner();
  const took = await timeRounds(() => runInside(sandboxes, owner, planned, [TRUE]));
  await sandboxes.end(owner.agent);
  return took;
}

async function startAndEnd(sandboxes: LinuxSandboxes, planned: Planned, owner = newOwner()): Promise<void> {
  await runInside(sandboxes, owner, planned, [TRUE]);
  await sandboxes.end(owner.agent);
}

/** A peer that fails when started concurrently is known for it: failures are counted, not measured. */
async function inFlights({ ground, planned, sandboxes, runtime }: StartsOptions): Promise<Measured> {
  const owners: readonly SandboxOwner[] = Array.from({ length: lanesCount }, newOwner);
  const all = async (work: (lane: number) => Promise<unknown>): Promise<readonly number[]> => [
    await inFlight(lanesCount, laneStartsCount, async (lane) => void (await work(lane))),
  ];
  let failed = 0;
  let tried = 0;
  const contenders: Contender[] = [
    { subject: BARE, turn: () => all(() => runBare(TRUE, [])) },
    { subject: BUBBLEWRAP, turn: () => all(() => runBubblewrap(ground, planned.plan, TRUE)) },
    { subject: OURS, turn: () => all(() => startAndEnd(sandboxes, planned)) },
  ];
  if (runtime !== null)
    contenders.push({
      subject: RUNTIME,
      turn: () =>
        all(async () => {
          tried++;
          await runtime.run(TRUE).catch(() => failed++);
        }),
    });
  const rows = [
    ...(await byTurns(flight(COLD), flightTurnsCount, contenders)),
    ...(await byTurns(flight(WARM), flightTurnsCount, [
      { subject: BARE, turn: () => all(() => runBare(TRUE, [])) },
      {
        subject: OURS,
        turn: () => all((lane) => runInside(sandboxes, owners[lane] as SandboxOwner, planned, [TRUE])),
      },
    ])),
  ];
  const notes = failed === 0 ? [] : [`${RUNTIME}, ${flight(COLD)}: ${failed} of ${tried} starts failed`];
  return { rows, notes };
}
