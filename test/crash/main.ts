// A program that writes to a real store as fast as it can and prints a line for every acknowledged write. The tests kill and
// starve it and fake its disk; its output is what they compare the store with.
import { writeSync } from "node:fs";
import type { DurableResult } from "../../src/core/ports/stores/durable.ts";
import { openState, type State } from "../../src/store/state.ts";
import { pause } from "../house/pause.ts";
import { agent, charge, decision, digest, entryOf, noon } from "./entries.ts";
import { type Orders, ordersOf } from "./orders.ts";
import { scenes } from "./scenes.ts";

const openTriesMax = 40;
const openPauseMilliseconds = 100;

const orders: Orders = ordersOf(process.argv[2] ?? "");

async function run(): Promise<void> {
  const scene = orders.scene === null ? undefined : scenes[orders.scene];
  if (scene !== undefined) return scene(orders, say);
  const state = await opened();
  if (orders.isWeak) weaken(state);
  await prepared(state);
  say("opened");
  await Promise.all(Array.from({ length: orders.callers }, (_, caller) => calls(state, caller)));
  state.close();
  say("ended");
}

/** Unbuffered: the line is out before the next operation. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

async function opened(): Promise<State> {
  for (let tries = 1; ; tries++) {
    const { folder, program } = orders;
    const state = openState(folder, { digest, program });
    if (state.ok) return state.value;
    say(`closed ${state.code} ${state.message}`);
    if (tries === openTriesMax) process.exit(3);
    await pause(openPauseMilliseconds, "the store is tried again after a pause");
  }
}

/** A secret to be used; an earlier run may have stored it. */
async function prepared(state: State): Promise<void> {
  const binding = { tools: [], hosts: [], uses: null };
  const secret = { name: "secret", version: 1, sealed: "", keyId: "", binding, username: null, isCanary: false };
  for (let tries = 0; tries < openTriesMax && state.secrets.get("secret") === null; tries++) {
    const entry = entryOf(`put-${orders.name}-${tries}`, { kind: "secret", outcome: "set" });
    const kept = await state.secrets.put({ ...secret, used: 0, at: noon }, entry);
    if (kept.ok) return;
    say(`closed ${kept.code} ${kept.message}`);
    await pause(openPauseMilliseconds, "the store is tried again after a pause");
  }
}

/** As drivers open a database by default: for the proof that a test of power cuts can fail. */
function weaken(state: State): void {
  const weak = state.loop.readNow((connection) => {
    connection.exec("PRAGMA synchronous = NORMAL");
    return Object.values(connection.get("PRAGMA synchronous") ?? {})[0];
  });
  if (!weak.ok || weak.value !== 1) throw new Error("the database does not take a weaker setting");
}

async function calls(state: State, caller: number): Promise<void> {
  for (let step = 0; step < orders.count; step++) {
    const id = `${orders.name}-${caller}-${step}`;
    const kinds = orders.isMixed ? [...Object.keys(steps)] : ["decision"];
    const kind = kinds[(step + caller) % kinds.length] as keyof typeof steps;
    // Early acknowledgements are what the tests must detect.
    if (orders.isHasty) say(`kept ${kind} ${id} 1`);
    const kept = await steps[kind](state, id);
    if (orders.isHasty) continue;
    if (kept.ok) say(`kept ${kind} ${id} ${kept.value}`);
    else {
      say(`refused ${kind} ${id} ${kept.code}`);
      await pause(orders.refusedMilliseconds, "a refused caller tries again after a pause");
    }
  }
}

type Step = (state: State, id: string) => Promise<DurableResult<number>>;

/** One of everything that is stored; the number is the store's answer. */
const steps: Readonly<Record<"decision" | "memory" | "observation" | "setting" | "secret", Step>> = {
  decision: async (state, id) => {
    const decided = await state.ledger.decide(
      decision(id, [charge("account", null), charge(`of ${orders.name}`, null)]),
    );
    return mapped(decided, (value) => (value.ok ? value.place : 0));
  },
  memory: async (state, id) => {
    const write = {
      namespace: { kind: "session" as const, session: orders.name },
      key: id,
      value: "x".repeat(9_000),
      version: 0,
    };
    const kept = await state.memory.set({ ...write, expires: null, isClean: true, writer: agent, at: noon });
    return mapped(kept, (value) => (value.ok ? value.version : 0));
  },
  observation: async (state, id) => {
    const observation = { id, name: agent, session: null, at: noon, text: `saw ${id}`, tags: [], isClean: true };
    return mapped(await state.observations.append(observation), () => 1);
  },
  setting: async (state, id) => {
    const entry = entryOf(id, { kind: "control", outcome: "set" });
    return mapped(await state.settings.set(id, id, entry), () => 1);
  },
  secret: async (state, id) => {
    const entry = entryOf(id, { kind: "secret", outcome: "used" });
    return mapped(await state.secrets.use("secret", 1, entry), Number);
  },
};

function mapped<T>(kept: DurableResult<T>, to: (value: T) => number): DurableResult<number> {
  return kept.ok ? { ok: true, value: to(kept.value) } : kept;
}

void run();
