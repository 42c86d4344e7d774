// Sandboxes on Linux: a warm one where the owner has one, a new one otherwise, and a result that says what held.
import type { Judge } from "../../ports/judge.ts";
import type { RunRefused, RunResult, Sinks } from "../../ports/process.ts";
import { runFrame } from "../../sandbox/command.ts";
import type { Plan } from "../../sandbox/plan.ts";
import type { Command, Sandboxes, SandboxOwner, Stop } from "../../sandbox/sandboxes.ts";
import { sha256 } from "../digest.ts";
import type { ControlGroups } from "./control-groups.ts";
import type { SandboxGround } from "./detect-sandbox.ts";
import { LiveSandbox } from "./live-sandbox.ts";
import type { NetworkBroker } from "./network.ts";
import { POOL_BOUNDS, Pool, type PoolBounds, type PoolKey } from "./pool.ts";
import { putAside, putBack } from "./quarantine.ts";
import { unavailable } from "./refusal.ts";
import { ranOf, STOPPED_BEFORE, toldSinks } from "./result.ts";
import type { Order } from "./running.ts";
import { SandboxNetwork } from "./sandbox-network.ts";
import { HeldTrees } from "./trees.ts";

export interface LinuxSandboxesParts {
  readonly ground: SandboxGround;
  /** Null: limits are those of single processes. */
  readonly groups: ControlGroups | null;
  /** Null: no sandbox has a network. */
  readonly broker: NetworkBroker | null;
  /** A folder of our own state; what appears under a pinned name goes there. */
  readonly quarantine: string;
  readonly bounds?: PoolBounds;
}

type Found =
  | { readonly ok: true; readonly sandbox: LiveSandbox }
  | { readonly ok: false; readonly refused: RunRefused };

export class LinuxSandboxes implements Sandboxes {
  readonly #parts: LinuxSandboxesParts;
  readonly #pool: Pool;
  /** Every sandbox that is not ended, with whose it is. */
  readonly #live = new Map<LiveSandbox, SandboxOwner>();
  /** Those whose generation is over while they still run a command. */
  readonly #retired = new WeakSet<LiveSandbox>();
  readonly #digests = new WeakMap<Plan, string>();
  #count = 0;

  constructor(parts: LinuxSandboxesParts) {
    this.#parts = parts;
    this.#pool = new Pool(parts.bounds ?? POOL_BOUNDS);
  }

  async run(
    owner: SandboxOwner,
    plan: Plan,
    command: Command,
    sinks: Sinks,
    judge: Judge,
    stop: Stop | null,
  ): Promise<RunResult> {
    const frame = runFrame({ ...plan, argv: command.argv, hasInput: command.input !== null }, encode);
    if (frame === null)
      return refuse({ code: "invalid_input", message: "the command is too long or holds a zero byte", fix: null });
    if (stop?.stopped === true) return { ok: true, ran: STOPPED_BEFORE };
    const held = HeldTrees.hold(plan);
    if (!held.ok) return refuse(held.refused);
    const key: PoolKey = { ...owner, digest: `${this.#digest(plan)} ${held.trees.mark}` };
    this.#retire(owner);
    const order: Order = { frame, input: command.input, sinks, stop };
    const found = (await this.#warm(key, held.trees)) ?? (await this.#new(owner, plan, held.trees));
    return found.ok ? this.#runIn(found.sandbox, key, order, judge) : refuse(found.refused);
  }

  /** Sandboxes that are there now, warm or running. */
  get count(): number {
    return this.#live.size;
  }

  async end(agent: string | null): Promise<void> {
    this.#pool.drain(agent);
    const ended = [...this.#live].filter(([, whose]) => agent === null || whose.agent === agent);
    await Promise.all(ended.map(([sandbox]) => sandbox.end()));
  }

  async #runIn(sandbox: LiveSandbox, key: PoolKey, order: Order, judge: Judge): Promise<RunResult> {
    const { network } = sandbox.parts;
    network?.judgedBy(judge);
    let isReusable = false;
    try {
      const outcome = await sandbox.run({ ...order, sinks: toldSinks(sandbox, order.sinks) });
      if (outcome.kind === "unavailable") return refuse(outcome.refused);
      const changed = sandbox.pins.changes();
      const denials = (await network?.denials()) ?? [];
      isReusable = outcome.kind === "done" && outcome.done.clean && changed.length === 0 && network?.isLost !== true;
      // INVARIANT: what is reported as over is over.
      if (!isReusable) await sandbox.end();
      for (const change of changed) {
        if (change.appeared || change.link !== null) putAside(change, this.#parts.quarantine);
        putBack(change);
      }
      return { ok: true, ran: ranOf(sandbox, outcome, denials, changed) };
    } finally {
      network?.judgedBy(null);
      if (isReusable && sandbox.isIdle && !this.#retired.has(sandbox))
        for (const surplus of this.#pool.put(key, sandbox)) void surplus.end();
      else await sandbox.end();
    }
  }

  /** One that is idle and still stands on the same ground; the others are ended. */
  async #warm(key: PoolKey, trees: HeldTrees): Promise<Found | null> {
    for (let sandbox = this.#pool.take(key); sandbox !== null; sandbox = this.#pool.take(key)) {
      const { trees: own, network } = sandbox.parts;
      const isSound =
        sandbox.isIdle && network?.isLost !== true && own.areUnchanged() && sandbox.pins.changes().length === 0;
      if (isSound) {
        trees.close();
        return { ok: true, sandbox };
      }
      await sandbox.end();
    }
    return null;
  }

  /** Another generation of the same session: what is idle ends now, what runs is not used again. */
  #retire(owner: SandboxOwner): void {
    for (const idle of this.#pool.stale(owner)) void idle.end();
    for (const [sandbox, { agent, session, generation }] of this.#live)
      if (agent === owner.agent && session === owner.session && generation !== owner.generation)
        this.#retired.add(sandbox);
  }

  async #new(owner: SandboxOwner, plan: Plan, trees: HeldTrees): Promise<Found> {
    const { ground, groups, broker } = this.#parts;
    let network: SandboxNetwork | null = null;
    if (plan.network !== null) {
      network =
        broker === null ? null : await SandboxNetwork.open(broker, plan.network, `sandbox-${++this.#count}`, owner);
      if (network === null) {
        trees.close();
        return { ok: false, refused: unavailable("the network broker could not be started") };
      }
    }
    const group = groups?.make(plan.limits) ?? null;
    const sandbox = new LiveSandbox({ ground, plan, trees, group, network });
    this.#live.set(sandbox, owner);
    void sandbox.ended.then(() => this.#live.delete(sandbox));
    return { ok: true, sandbox };
  }

  #digest(plan: Plan): string {
    const known = this.#digests.get(plan) ?? sha256(JSON.stringify(plan));
    this.#digests.set(plan, known);
    return known;
  }
}

const encode = (text: string): Uint8Array => Buffer.from(text, "utf8");

function refuse(refused: RunRefused): RunResult {
  return { ok: false, refused };
}
