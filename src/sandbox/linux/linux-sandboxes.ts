// Sandboxes on Linux: a warm or prepared one where the owner has one, a new one otherwise, and a result that says what
// held and what changed.
import type { Judge } from "../../core/ports/judge.ts";
import type { RunRefusal, RunResult, SealedDraft, Sinks } from "../../core/ports/process.ts";
import { sha256 } from "../../platform/digest.ts";
import type { DraftFolder, DraftFolders } from "../drafts/draft-folders.ts";
import { linkedGitOf } from "../drafts/git/linked-git.ts";
import { seedLinkedGit } from "../drafts/git/linked-seed.ts";
import { runFrame } from "../plan/command.ts";
import { isForOneCommand, rootOverlay } from "../plan/overlay.ts";
import type { Plan } from "../plan/plan.ts";
import type { Command, CredentialSource, Sandboxes, SandboxOwner, Stop } from "../plan/sandboxes.ts";
import type { ControlGroups } from "./control-groups.ts";
import type { SandboxGround } from "./detect-sandbox.ts";
import { hostPath } from "./host-path.ts";
import { LiveSandbox } from "./live-sandbox.ts";
import type { NetworkBroker } from "./network.ts";
import { overlayRefusal } from "./overlay-refusals.ts";
import { POOL_BOUNDS, Pool, type PoolBounds, type PoolKey } from "./pool.ts";
import { codeOf, unavailable } from "./refusal.ts";
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
  readonly drafts: DraftFolders;
  readonly bounds?: PoolBounds;
}

type Found =
  | { readonly ok: true; readonly sandbox: LiveSandbox }
  | { readonly ok: false; readonly refused: RunRefusal };

type Drafted =
  | { readonly ok: true; readonly draft: DraftFolder | null }
  | { readonly ok: false; readonly refused: RunRefusal };

/** Started and waiting for their only command. */
const preparedPerKeyMax = 2;
/** Starting a process holds this one up: what the command wrote lands first. */
const preparedAfterMilliseconds = 30;

export class LinuxSandboxes implements Sandboxes {
  readonly #parts: LinuxSandboxesParts;
  readonly #pool: Pool;
  /** Every sandbox that is not ended, with whose it is. */
  readonly #live = new Map<LiveSandbox, SandboxOwner>();
  /** Those whose generation is over while they still run a command. */
  readonly #retired = new WeakSet<LiveSandbox>();
  readonly #digests = new WeakMap<Plan, string>();
  /** Sandboxes that are to be prepared soon. */
  readonly #scheduled = new Map<NodeJS.Timeout, SandboxOwner>();
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
    const unheld = plan.root?.mode === "direct" && plan.masked.length > 0;
    if (unheld) return refuse(unavailable("names cannot be masked in a folder that is written directly"));
    const uncopied = plan.root?.mode === "live" && plan.root.copy === undefined;
    if (uncopied) return refuse(unavailable("there is no copy of the folder that a live root works on"));
    if (stop?.stopped === true) return { ok: true, ran: STOPPED_BEFORE };
    const held = HeldTrees.hold(plan);
    if (!held.ok) return refuse(held.refused);
    const key: PoolKey = { ...owner, digest: this.#keyDigest(plan, held.trees) };
    this.#retire(owner);
    const order: Order = { frame, input: command.input, sinks, stop };
    const found = (await this.#warm(key, held.trees)) ?? (await this.#new(owner, plan, held.trees));
    if (!found.ok) return refuse(found.refused);
    const seeded = seedGit(found.sandbox);
    if (seeded !== null) {
      await found.sandbox.end();
      return refuse(seeded);
    }
    try {
      this.#tellDraft(found.sandbox, command);
    } catch (error) {
      await found.sandbox.end();
      return refuse(unavailable(`the record of a draft cannot be written (${codeOf(error)})`));
    }
    const result = await this.#runIn(found.sandbox, key, order, judge, command.credential ?? null);
    if (result.ok && rootOverlay(plan) !== null) this.#schedule(owner, plan, key);
    return result;
  }

  /** Sandboxes that are there now, warm or running. */
  get count(): number {
    return this.#live.size;
  }

  async end(agent: string | null): Promise<void> {
    this.#pool.drain(agent);
    this.#unschedule((owner) => agent === null || owner.agent === agent);
    const ended = [...this.#live].filter(([, whose]) => agent === null || whose.agent === agent);
    await Promise.all(ended.map(([sandbox]) => sandbox.end()));
  }

  async #runIn(
    sandbox: LiveSandbox,
    key: PoolKey,
    order: Order,
    judge: Judge,
    credential: CredentialSource | null,
  ): Promise<RunResult> {
    const { network } = sandbox.parts;
    network?.judgedBy(judge, credential);
    let isReusable = false;
    try {
      const outcome = await sandbox.run({ ...order, sinks: toldSinks(sandbox, order.sinks) });
      if (outcome.kind === "unavailable") return refuse(outcome.refused);
      const denials = (await network?.denials()) ?? [];
      const isClean = outcome.kind === "done" && outcome.done.clean;
      // An overlay shows its root as it was at its start: never used twice.
      isReusable = isClean && network?.isLost !== true && !isForOneCommand(sandbox.parts.plan);
      // INVARIANT: what is reported as over is over.
      if (!isReusable) await sandbox.end();
      return { ok: true, ran: ranOf(sandbox, outcome, denials, await this.#sealed(sandbox)) };
    } finally {
      network?.judgedBy(null, null);
      if (isReusable && sandbox.isIdle && !this.#retired.has(sandbox))
        for (const surplus of this.#pool.put(key, sandbox)) void surplus.end();
      else await sandbox.end();
    }
  }

  /** One that is idle and still stands on the same ground; the others are ended. */
  async #warm(key: PoolKey, trees: HeldTrees): Promise<Found | null> {
    for (let sandbox = this.#pool.take(key); sandbox !== null; sandbox = this.#pool.take(key)) {
      const { trees: own, network } = sandbox.parts;
      if (sandbox.isIdle && network?.isLost !== true && own.areUnchanged()) {
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
    this.#unschedule((one) => isStale(one, owner));
    for (const [sandbox, whose] of this.#live) if (isStale(whose, owner)) this.#retired.add(sandbox);
  }

  async #new(owner: SandboxOwner, plan: Plan, trees: HeldTrees): Promise<Found> {
    const { ground, groups, broker } = this.#parts;
    const drafted = this.#draft(plan);
    if (!drafted.ok) {
      trees.close();
      return drafted;
    }
    const { draft } = drafted;
    let network: SandboxNetwork | null = null;
    if (plan.network !== null) {
      network =
        broker === null ? null : await SandboxNetwork.open(broker, plan.network, `sandbox-${++this.#count}`, owner);
      if (network === null) {
        trees.close();
        if (draft !== null) await this.#discard(draft);
        return { ok: false, refused: unavailable("the network broker could not be started") };
      }
    }
    const group = groups?.make(plan.limits) ?? null;
    const sandbox = new LiveSandbox({ ground, plan, trees, group, network, draft });
    this.#live.set(sandbox, owner);
    void sandbox.ended.then(async () => {
      this.#live.delete(sandbox);
      if (draft !== null && !sandbox.hasRun) await this.#discard(draft);
    });
    return { ok: true, sandbox };
  }

  /** A folder for the changes, where the root is a draft; refused where no overlay can be had. */
  #draft(plan: Plan): Drafted {
    const overlay = rootOverlay(plan);
    if (overlay === null || plan.root === null) return { ok: true, draft: null };
    const { drafts } = this.#parts;
    try {
      const draft = overlay === "draft" ? drafts.make() : null;
      const refused = overlayRefusal(hostPath(plan.root.path), draft === null ? null : drafts.folder);
      if (refused === null) return { ok: true, draft };
      if (draft !== null) void this.#discard(draft);
      return { ok: false, refused };
    } catch (error) {
      return { ok: false, refused: unavailable(`no folder for a draft can be made (${codeOf(error)})`) };
    }
  }

  #tellDraft({ parts: { plan, draft, trees } }: LiveSandbox, command: Command): void {
    const { rootIdentity } = trees;
    if (draft === null || plan.root === null || rootIdentity === null) return;
    const { device, inode } = rootIdentity;
    const { masked } = plan;
    command.onDraft?.({ id: draft.id, root: plan.root.path, masked, rootIdentity: { device, inode } });
  }

  /** Of a sandbox that has ended after its command. Where nothing was changed, nothing is kept. */
  async #sealed({ parts, ready, isSealed }: LiveSandbox): Promise<SealedDraft | null> {
    const { plan, draft, trees } = parts;
    if (plan.root?.copy !== undefined && trees.rootIdentity !== null) {
      const { device, inode } = trees.rootIdentity;
      const { copy, path } = plan.root;
      const rootIdentity = { device, inode };
      return { id: copy.draft, root: path, masked: plan.masked, rootIdentity, startNanoseconds: 0n, isSealed };
    }
    const [start, identity] = [ready?.startNanoseconds ?? null, trees.rootIdentity];
    if (draft === null || plan.root === null || start === null || identity === null) return null;
    if (isSealed && this.#parts.drafts.isEmpty(draft.id)) {
      await this.#discard(draft);
      return null;
    }
    if (isSealed) this.#parts.drafts.dropWork(draft.id);
    const { device, inode } = identity;
    return {
      id: draft.id,
      root: plan.root.path,
      masked: plan.masked,
      rootIdentity: { device, inode },
      startNanoseconds: start,
      isSealed,
    };
  }

  /** What cannot be removed stays in the list of drafts, and never lands. */
  async #discard({ id }: DraftFolder): Promise<void> {
    await this.#parts.drafts.remove(id).catch(() => {});
  }

  /** The next command of the same kind finds a sandbox that has been started already. */
  #schedule(owner: SandboxOwner, plan: Plan, key: PoolKey): void {
    const timer = setTimeout(() => {
      this.#scheduled.delete(timer);
      void this.#prepare(owner, plan, key);
    }, preparedAfterMilliseconds);
    timer.unref();
    this.#scheduled.set(timer, owner);
  }

  #unschedule(isWanted: (owner: SandboxOwner) => boolean): void {
    for (const [timer, owner] of this.#scheduled) {
      if (!isWanted(owner)) continue;
      clearTimeout(timer);
      this.#scheduled.delete(timer);
    }
  }

  async #prepare(owner: SandboxOwner, plan: Plan, key: PoolKey): Promise<void> {
    if (this.#pool.count(key) >= preparedPerKeyMax) return;
    const held = HeldTrees.hold(plan);
    if (!held.ok) return;
    if (key.digest !== this.#keyDigest(plan, held.trees)) return held.trees.close();
    const found = await this.#new(owner, plan, held.trees);
    if (!found.ok) return;
    if (this.#retired.has(found.sandbox)) return found.sandbox.end();
    for (const surplus of this.#pool.put(key, found.sandbox)) void surplus.end();
  }

  #keyDigest(plan: Plan, trees: HeldTrees): string {
    return `${this.#digest(plan)} ${trees.mark}`;
  }

  #digest(plan: Plan): string {
    const known = this.#digests.get(plan) ?? sha256(JSON.stringify(plan));
    this.#digests.set(plan, known);
    return known;
  }
}

/**
 * The private git folder of a linked worktree or submodule, made in the draft before the overlay is mounted: at the last
 * moment, so that the command sees HEAD and refs as they are now. Null where all is well.
 */
function seedGit({ parts: { plan, draft } }: LiveSandbox): RunRefusal | null {
  if (draft === null || plan.root === null || plan.linkedGit === undefined) return null;
  const linked = linkedGitOf(hostPath(plan.root.path));
  if (!linked.ok) return unavailable(linked.stay.message);
  if (linked.value === null || linked.value.common !== hostPath(plan.linkedGit.common))
    return unavailable("the git folder of this worktree changed while the sandbox started");
  const seeded = seedLinkedGit(draft.path, linked.value);
  return seeded.ok ? null : unavailable(seeded.stay.message);
}

/** The same session, by another generation of its grants. */
function isStale(one: SandboxOwner, { agent, session, generation }: SandboxOwner): boolean {
  return one.agent === agent && one.session === session && one.generation !== generation;
}

const encode = (text: string): Uint8Array => Buffer.from(text, "utf8");

function refuse(refused: RunRefusal): RunResult {
  return { ok: false, refused };
}
