// Sandboxes on Linux: reuses a warm or prepared one of the owner, else starts a new one. The result reports what was
// enforced and what changed.
import { dirname } from "node:path";
import { errorCode } from "../../core/base/error-code.ts";
import type { Judge } from "../../core/ports/judge.ts";
import type { RunFailure, RunRefusal, RunResult, SealedDraft, Sinks } from "../../core/ports/process.ts";
import { sha256 } from "../../platform/digest.ts";
import type { DraftFolder, DraftFolders } from "../drafts/draft-folders.ts";
import { linkedGitOf } from "../drafts/git/linked-git.ts";
import { seedLinkedGit } from "../drafts/git/linked-seed.ts";
import { runFrame } from "../plan/command.ts";
import { isForOneCommand, rootOverlay } from "../plan/overlay.ts";
import type { Plan } from "../plan/plan.ts";
import type { Command, Sandboxes, SandboxOwner } from "../plan/sandboxes.ts";
import { supervisedArgv, supervisedPlan } from "../plan/supervised/supervised-plan.ts";
import { accountThreads } from "./account-threads.ts";
import type { ControlGroups } from "./control-groups.ts";
import type { Backend, SandboxEnvironment } from "./detect-sandbox.ts";
import { hostPath } from "./host-path.ts";
import type { NetworkBroker } from "./network.ts";
import { overlayRefusal } from "./overlay-refusals.ts";
import { POOL_BOUNDS, Pool, type PoolBounds, type PoolKey } from "./pool.ts";
import { PrivateFolderMaker } from "./private-folders.ts";
import { unavailable } from "./refusal.ts";
import { ranOf, reportingSinks, STOPPED_BEFORE } from "./result.ts";
import type { CommandOrder } from "./running-command.ts";
import { RunningSandbox, type SandboxParts } from "./running-sandbox.ts";
import { SandboxNetwork } from "./sandbox-network.ts";
import { OpenTrees } from "./trees.ts";

export interface LinuxSandboxesParts {
  readonly environment: SandboxEnvironment;
  /** Null: limits apply to single processes only. */
  readonly groups: ControlGroups | null;
  /** Null: no sandbox has a network. */
  readonly broker: NetworkBroker | null;
  readonly drafts: DraftFolders;
  readonly bounds?: PoolBounds;
}

type SandboxResult = { readonly ok: true; readonly sandbox: RunningSandbox } | RunFailure;

type PrivateResult = { readonly ok: true; readonly parts: Pick<SandboxParts, "plan" | "private"> } | RunFailure;

type DraftFolderResult = { readonly ok: true; readonly draft: DraftFolder | null } | RunFailure;

/** Started and waiting for their only command. */
const preparedPerKeyMax = 2;
/** Starting a process blocks this one: the changes of the previous command land first. */
const preparedAfterMilliseconds = 30;

export class LinuxSandboxes implements Sandboxes {
  readonly #parts: LinuxSandboxesParts;
  readonly #pool: Pool;
  /** Every sandbox that has not ended, with its owner. */
  readonly #live = new Map<RunningSandbox, SandboxOwner>();
  /** Sandboxes of an outdated generation that still run a command. */
  readonly #retired = new WeakSet<RunningSandbox>();
  readonly #digests = new WeakMap<Plan, string>();
  /** Sandboxes that are to be prepared soon. */
  readonly #scheduled = new Map<NodeJS.Timeout, SandboxOwner>();
  /** Null with namespaces. */
  readonly #folders: PrivateFolderMaker | null;
  #count = 0;

  constructor(parts: LinuxSandboxesParts) {
    this.#parts = parts;
    this.#pool = new Pool(parts.bounds ?? POOL_BOUNDS);
    const { backend, system } = parts.environment;
    const state = dirname(parts.drafts.folder);
    this.#folders = backend.kind === "supervised" ? new PrivateFolderMaker(state, system) : null;
  }

  /** What keeps its programs apart. */
  get backend(): Backend {
    return this.#parts.environment.backend;
  }

  get #isSupervised(): boolean {
    return this.#folders !== null;
  }

  async run(
    owner: SandboxOwner,
    plan: Plan,
    command: Command,
    sinks: Sinks,
    judge: Judge,
    signal: AbortSignal | null,
  ): Promise<RunResult> {
    const { argv, input, terminal = null } = command;
    if (terminal !== null && plan.hasTerminals !== true) return refuse(unavailable("this sandbox has no terminals"));
    const unheld = plan.root?.mode === "direct" && plan.masked.length > 0;
    if (unheld) return refuse(unavailable("names cannot be masked in a folder that is written directly"));
    const uncopied = plan.root?.mode === "live" && plan.root.copy === undefined;
    if (uncopied) return refuse(unavailable("the live root has no copy of its folder"));
    const unmounted = this.#isSupervised ? supervisedFault(plan) : null;
    if (unmounted !== null) return refuse(unmounted);
    if (signal?.aborted === true) return { ok: true, ran: STOPPED_BEFORE };
    const trees = OpenTrees.open(this.#isSupervised ? atCopy(plan) : plan);
    if (!trees.ok) return refuse(trees.refused);
    const key: PoolKey = { ...owner, digest: this.#keyDigest(plan, trees.trees) };
    this.#retire(owner);
    const found = (await this.#warm(key, trees.trees)) ?? (await this.#new(owner, plan, trees.trees));
    if (!found.ok) return refuse(found.refused);
    const size = terminal?.size ?? null;
    const { private: folders } = found.sandbox.parts;
    const words = folders === null ? argv : supervisedArgv(plan, argv, folders, this.#parts.environment.system);
    const frame = runFrame(
      { ...found.sandbox.parts.plan, argv: words, hasInput: input !== null, terminal: size },
      encode,
    );
    if (frame === null) {
      await found.sandbox.end();
      return refuse({ code: "invalid_input", message: "the command is too long or contains a NUL byte", fix: null });
    }
    const order: CommandOrder = { frame, input, terminal, sinks, signal };
    const seeded = seedGit(found.sandbox);
    if (seeded !== null) {
      await found.sandbox.end();
      return refuse(seeded);
    }
    try {
      this.#tellDraft(found.sandbox, command);
    } catch (error) {
      await found.sandbox.end();
      return refuse(unavailable(`the record of a draft cannot be written (${errorCode(error)})`));
    }
    const result = await this.#runIn(found.sandbox, key, order, judge, command);
    if (result.ok && !this.#isSupervised && rootOverlay(plan) !== null) this.#schedule(owner, plan, key);
    return result;
  }

  /** Sandboxes that exist now, warm or running. */
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
    sandbox: RunningSandbox,
    key: PoolKey,
    order: CommandOrder,
    judge: Judge,
    command: Command,
  ): Promise<RunResult> {
    const { network } = sandbox.parts;
    network?.judgedBy(judge, command);
    let isReusable = false;
    try {
      const outcome = await sandbox.run({ ...order, sinks: reportingSinks(sandbox, order.sinks) });
      if (outcome.kind === "unavailable") return refuse(outcome.refused);
      const denials = (await network?.denials()) ?? [];
      const isClean = outcome.kind === "done" && outcome.done.clean;
      // An overlay shows its root as of its start: never reused.
      isReusable = isClean && network?.isLost !== true && !isForOneCommand(sandbox.parts.plan);
      // INVARIANT: a command is reported as ended only once it has ended.
      if (!isReusable) await sandbox.end();
      return { ok: true, ran: ranOf(sandbox, outcome, denials, await this.#sealed(sandbox)) };
    } finally {
      network?.judgedBy(null, {});
      if (isReusable && sandbox.isIdle && !this.#retired.has(sandbox))
        for (const surplus of this.#pool.put(key, sandbox)) void surplus.end();
      else await sandbox.end();
    }
  }

  /** An idle sandbox whose trees are still the same; the others are ended. */
  async #warm(key: PoolKey, trees: OpenTrees): Promise<SandboxResult | null> {
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

  /** A new generation of the session: idle sandboxes end now, running ones are not reused. */
  #retire(owner: SandboxOwner): void {
    for (const idle of this.#pool.stale(owner)) void idle.end();
    this.#unschedule((one) => isStale(one, owner));
    for (const [sandbox, whose] of this.#live) if (isStale(whose, owner)) this.#retired.add(sandbox);
  }

  async #new(owner: SandboxOwner, plan: Plan, trees: OpenTrees): Promise<SandboxResult> {
    const { environment, groups, broker } = this.#parts;
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
    const made = this.#private(plan);
    if (!made.ok) {
      trees.close();
      await network?.close();
      return made;
    }
    const group = groups?.make(plan.limits) ?? null;
    const sandbox = new RunningSandbox({ environment, trees, group, network, draft, ...made.parts });
    this.#live.set(sandbox, owner);
    void sandbox.ended.then(async () => {
      this.#live.delete(sandbox);
      if (draft !== null && !sandbox.hasRun) await this.#discard(draft);
    });
    return { ok: true, sandbox };
  }

  /** The folders of a sandbox without mounts, and the plan in their terms. */
  #private(plan: Plan): PrivateResult {
    if (this.#folders === null) return { ok: true, parts: { plan, private: null } };
    const { system } = this.#parts.environment;
    try {
      const folder = this.#folders.make(plan);
      const limits = { ...plan.limits, processes: plan.limits.processes + accountThreads(process.getuid?.() ?? 0) };
      return { ok: true, parts: { plan: { ...supervisedPlan(plan, folder, system), limits }, private: folder } };
    } catch (error) {
      return { ok: false, refused: unavailable(`a private folder cannot be created (${errorCode(error)})`) };
    }
  }

  /** Creates the folder for changes, where the root is a draft; refused where no overlay is possible. */
  #draft(plan: Plan): DraftFolderResult {
    const overlay = this.#isSupervised ? null : rootOverlay(plan);
    if (overlay === null || plan.root === null) return { ok: true, draft: null };
    const { drafts } = this.#parts;
    try {
      const draft = overlay === "draft" ? drafts.make() : null;
      const refused = overlayRefusal(hostPath(plan.root.path), draft === null ? null : drafts.folder);
      if (refused === null) return { ok: true, draft };
      if (draft !== null) void this.#discard(draft);
      return { ok: false, refused };
    } catch (error) {
      return { ok: false, refused: unavailable(`a folder for the draft cannot be created (${errorCode(error)})`) };
    }
  }

  #tellDraft({ parts: { plan, draft, trees } }: RunningSandbox, command: Command): void {
    const { rootIdentity } = trees;
    if (draft === null || plan.root === null || rootIdentity === null) return;
    const { device, inode } = rootIdentity;
    const { masked } = plan;
    command.onDraft?.({ id: draft.id, root: plan.root.path, masked, rootIdentity: { device, inode } });
  }

  /** The draft of a sandbox that has ended. Where nothing changed, no draft remains. */
  async #sealed({ parts, ready, isSealed }: RunningSandbox): Promise<SealedDraft | null> {
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

  /** A folder that cannot be removed remains in the list of drafts, and never lands. */
  async #discard({ id }: DraftFolder): Promise<void> {
    await this.#parts.drafts.remove(id).catch(() => {});
  }

  /** Prepares a sandbox for the next command of the same kind. */
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
    const trees = OpenTrees.open(plan);
    if (!trees.ok) return;
    if (key.digest !== this.#keyDigest(plan, trees.trees)) return trees.trees.close();
    const found = await this.#new(owner, plan, trees.trees);
    if (!found.ok) return;
    if (this.#retired.has(found.sandbox)) return found.sandbox.end();
    for (const surplus of this.#pool.put(key, found.sandbox)) void surplus.end();
  }

  #keyDigest(plan: Plan, trees: OpenTrees): string {
    return `${this.#digest(plan)} ${trees.mark}`;
  }

  #digest(plan: Plan): string {
    const known = this.#digests.get(plan) ?? sha256(JSON.stringify(plan));
    this.#digests.set(plan, known);
    return known;
  }
}

/**
 * Creates the private git folder of a linked worktree or submodule in the draft before the overlay is mounted: as late
 * as possible, so that the command sees the current HEAD and refs. Null on success.
 */
function seedGit({ parts: { plan, draft } }: RunningSandbox): RunRefusal | null {
  if (draft === null || plan.root === null || plan.linkedGit === undefined) return null;
  const linked = linkedGitOf(hostPath(plan.root.path));
  if (!linked.ok) return unavailable(linked.refusal.message);
  if (linked.value === null || linked.value.common !== hostPath(plan.linkedGit.common))
    return unavailable("the git folder of this worktree changed while the sandbox started");
  const seeded = seedLinkedGit(draft.path, linked.value);
  return seeded.ok ? null : unavailable(seeded.refusal.message);
}

/** What a plan asks for that only mounts could give. */
function supervisedFault({ root, masked }: Plan): RunRefusal | null {
  const hasCopy = root?.copy !== undefined;
  if (root?.mode === "draft" && !hasCopy)
    return unavailable("without namespaces programs write to a copy of the folder, and this folder has no copy");
  if (masked.length > 0 && !hasCopy)
    return unavailable("without namespaces names are hidden by a copy of the folder, and this folder has no copy");
  return null;
}

/** Without mounts a copy is seen where it is. */
function atCopy(plan: Plan): Plan {
  const { root } = plan;
  return root?.copy === undefined ? plan : { ...plan, root: { ...root, path: root.copy.path } };
}

/** The same session with another generation of its grants. */
function isStale(one: SandboxOwner, { agent, session, generation }: SandboxOwner): boolean {
  return one.agent === agent && one.session === session && one.generation !== generation;
}

const encode = (text: string): Uint8Array => Buffer.from(text, "utf8");

function refuse(refused: RunRefusal): RunResult {
  return { ok: false, refused };
}
