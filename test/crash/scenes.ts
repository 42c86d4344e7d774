// Scenes that only make sense inside the process: its disk is full, its folder is not writable, it has no file descriptors left.
// Each prints the store's answer, and that the process is still running.
import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openState, type State } from "../../src/store/state.ts";
import { pause } from "../house/pause.ts";
import { carryOutApproved } from "./approved.ts";
import { copyLog } from "./copied.ts";
import { approvedApproval, charge, claimOf, decision, digest } from "./entries.ts";
import { inspect } from "./inspect.ts";
import type { Orders } from "./orders.ts";
import { fire } from "./schedules.ts";
import { lives } from "./tasks.ts";

type Say = (line: string) => void;
type Scene = (orders: Orders, say: Say) => Promise<void>;

/** Longer than the store waits before it reopens a connection it no longer trusts. */
const reopenMilliseconds = 300;
const ballastBytes = 1024 * 1024;
const fullStepsMax = 20_000;
const descriptorsMax = 4_096;
const foreverMilliseconds = 60_000;

export const scenes: Readonly<Record<string, Scene>> = {
  full,
  shut,
  descriptors,
  spend,
  claim,
  copied: copyLog,
  tasks,
  schedules,
  approved,
};

/** Writes until the disk is full, continues to send requests, and gets room again. */
async function full(orders: Orders, say: Say): Promise<void> {
  const ballast = join(dirname(orders.folder), "ballast");
  writeFileSync(ballast, new Uint8Array(ballastBytes));
  const { said, tell } = told(say);
  const state = opened(orders);
  let refused = 0;
  for (let step = 0; step < fullStepsMax && refused < orders.count; step++) {
    if (await decided(state, `full-${step}`, tell)) continue;
    refused += 1;
    // Some immediately, some after reopening.
    if (refused % 10 === 0) await pause(reopenMilliseconds, "the store reopens after a pause of its own");
  }
  say("full");
  rmSync(ballast);
  await pause(reopenMilliseconds, "the store reopens after a pause of its own");
  for (let step = 0; step < 5; step++) await decided(state, `room-${step}`, tell);
  state.close();
  const { problems, untold } = await inspect(orders.folder, orders.program, said);
  say(`problems ${JSON.stringify(problems)} ${untold}`);
}

/** The store cannot even be opened. */
async function shut(orders: Orders, say: Say): Promise<void> {
  for (let tries = 0; tries < orders.count; tries++) {
    const { folder, program } = orders;
    const state = openState(folder, { digest, program });
    say(state.ok ? "opened" : `closed ${state.code}`);
    if (state.ok) await decided(state.value, `shut-${tries}`, say);
    if (state.ok) state.value.close();
  }
  say("alive");
}

/** All descriptors are taken: open files continue, opening is refused, until there are some again. */
async function descriptors(orders: Orders, say: Say): Promise<void> {
  const state = opened(orders);
  const taken: number[] = [];
  try {
    while (taken.length < descriptorsMax) taken.push(openSync("/dev/null", "r"));
  } catch {
    say("taken");
  }
  await decided(state, "open", say);
  const second = openState(orders.folder, { digest, program: orders.program });
  say(second.ok ? "opened" : `closed ${second.code}`);
  // An error on the connection: it is no longer trusted, and cannot be reopened.
  state.loop.readNow(() => {
    throw new Error("lost");
  });
  await decided(state, "lost", say);
  for (const descriptor of taken) closeSync(descriptor);
  await pause(reopenMilliseconds, "the store reopens after a pause of its own");
  await decided(state, "again", say);
  state.close();
  say("alive");
}

/** Every caller spends from one account until it is empty. */
async function spend(orders: Orders, say: Say): Promise<void> {
  const state = opened(orders);
  const calls = async (caller: number): Promise<void> => {
    for (let step = 0; step <= orders.count; step++) {
      const id = `${orders.name}-${caller}-${step}`;
      const kept = await state.ledger.decide(decision(id, [charge("shared", orders.count)]));
      if (!kept.ok) throw new Error(kept.message);
      if (!kept.value.ok) return;
      say(`kept decision ${id} ${kept.value.place}`);
    }
  };
  await Promise.all(Array.from({ length: orders.callers }, (_, caller) => calls(caller)));
  state.close();
}

/** Tasks from their first state to their last. */
async function tasks(orders: Orders, say: Say): Promise<void> {
  await lives(opened(orders), orders.name, orders.count, orders.isHasty, say);
}

async function schedules(orders: Orders, say: Say): Promise<void> {
  await fire(opened(orders), orders.name, orders.count, orders.isHasty, say);
}

async function approved(orders: Orders, say: Say): Promise<void> {
  await carryOutApproved(opened(orders), orders.name, orders.count, orders.isHasty, say);
}

/** Uses an approval and never finishes. */
async function claim(orders: Orders, say: Say): Promise<void> {
  const state = opened(orders);
  const kept = await state.ledger.decide(claimOf("claim", await approvedApproval(state, "claimed")));
  say(kept.ok && kept.value.ok ? "kept claim" : "refused claim");
  await pause(foreverMilliseconds, "it is killed meanwhile");
}

function opened({ folder, program }: Orders): State {
  const state = openState(folder, { digest, program });
  if (!state.ok) throw new Error(state.message);
  return state.value;
}

async function decided(state: State, id: string, say: Say): Promise<boolean> {
  const kept = await state.ledger.decide(decision(id, [charge("account", null)]));
  if (!kept.ok) say(`refused decision ${id} ${kept.code}`);
  else say(`kept decision ${id} ${kept.value.ok ? kept.value.place : 0}`);
  return kept.ok;
}

/** Prints it and remembers it. */
function told(say: Say): { readonly said: readonly string[]; readonly tell: Say } {
  const said: string[] = [];
  const tell = (line: string): void => {
    said.push(line);
    say(line);
  };
  return { said, tell };
}
