// One sandbox from start to end: started, set up, then one command at a time. A sandbox whose root is an overlay waits
// before its set-up for the only command it runs.

import { constants } from "node:os";
import { errorCode } from "../../core/base/error-code.ts";
import type { RunRefusal } from "../../core/ports/process.ts";
import type { DraftFolder } from "../drafts/draft-folders.ts";
import { kernelPins } from "../plan/kernel/kernel-pins.ts";
import { LOWER_LAYER, type RootOverlay, rootOverlay } from "../plan/overlay.ts";
import type { Plan } from "../plan/plan.ts";
import type { Answer, Ready } from "../plan/start/answers.ts";
import { type BubblewrapCommand, bubblewrapCommand, CONTROL_FD, HANDLES_FD } from "../plan/start/bubblewrap.ts";
import { type StartFacts, setupFrames } from "../plan/start/setup.ts";
import { supervisedFrames } from "../plan/supervised/supervised-setup.ts";
import { complaintRefusal } from "./bubblewrap-error.ts";
import { Channel } from "./channel.ts";
import type { ControlGroup } from "./control-groups.ts";
import type { SandboxEnvironment } from "./detect-sandbox.ts";
import { hostPath } from "./host-path.ts";
import { overlayFailure } from "./overlay-refusals.ts";
import type { PrivateFolder } from "./private-folders.ts";
import { unavailable } from "./refusal.ts";
import { type CommandOrder, type Outcome, RunningCommand } from "./running-command.ts";
import type { SandboxNetwork } from "./sandbox-network.ts";
import { StartedProcess } from "./started-process.ts";
import type { OpenTrees } from "./trees.ts";

export interface SandboxParts {
  readonly environment: SandboxEnvironment;
  readonly plan: Plan;
  readonly trees: OpenTrees;
  readonly group: ControlGroup | null;
  readonly network: SandboxNetwork | null;
  /** For a draft root only. */
  readonly draft: DraftFolder | null;
  /** Without namespaces only: `plan` is in its terms. */
  readonly private: PrivateFolder | null;
}

const startMillisecondsMax = 30_000;
type KernelFacts = Pick<StartFacts, "landlock" | "connects">;
/** What most kernels have today; a wrong guess costs a second set-up. */
const kernelGuess: KernelFacts = { landlock: 7, connects: true };

const encode = (text: string): Uint8Array => Buffer.from(text, "utf8");

export class RunningSandbox {
  readonly parts: SandboxParts;
  #process: StartedProcess | null = null;
  #channel: Channel | null = null;
  #state: "starting" | "prepared" | "going" | "handing" | "ready" | "over" = "starting";
  #kernel: KernelFacts | null = null;
  /** The pid that was put into the control group, as soon as it existed: the kernel takes its time over it. */
  #limited: Promise<number | null> = Promise.resolve(null);
  #isLimited = false;
  readonly #setup: { readonly kernel: KernelFacts; readonly frames: Uint8Array };
  #ready: Ready | null = null;
  #hasSent = false;
  #isSealed = false;
  #failure: RunRefusal | null = null;
  #running: RunningCommand | null = null;
  #timer: NodeJS.Timeout | undefined;
  #ending: Promise<void> | null = null;
  #tellEnd: () => void = () => {};
  readonly #given: Promise<void>[] = [];
  /** Resolves when no process of it is left, for any reason. */
  readonly ended: Promise<void> = new Promise((resolve) => {
    this.#tellEnd = resolve;
  });

  constructor(parts: SandboxParts) {
    this.parts = parts;
    const { network } = parts;
    try {
      const { program, ...command } = startOf(parts);
      this.#process = new StartedProcess(program, command, network !== null);
      this.#limited = this.#limit(this.#process);
      if (network !== null) this.#process.onHandle((message, handle) => this.#give(network, message, handle));
      this.#channel = new Channel(this.#process.control, {
        answered: (answer) => this.#answered(answer),
        ended: (odd) => void this.#ended(odd),
      });
      this.#watchStart();
    } catch (error) {
      this.#fail(`the sandbox cannot be started (${errorCode(error)})`);
    }
    if (this.#isOverlay) this.#process?.hold(false);
    // While bubblewrap starts.
    this.#setup = { kernel: kernelGuess, frames: this.#framesFor(kernelGuess) };
  }

  /** What is enforced, once the sandbox has reported it. */
  get ready(): Ready | null {
    return this.#ready;
  }

  /** Whether it accepts a command: ready for the next one, or prepared for its only one. */
  get isIdle(): boolean {
    if (this.#running !== null) return false;
    if (!this.#isOverlay) return this.#state === "ready";
    return !this.#hasSent && (this.#state === "starting" || this.#state === "prepared");
  }

  /** Whether a command may have run in it. */
  get hasRun(): boolean {
    return this.#ready !== null && this.#hasSent;
  }

  /** After its end: whether every process of it is gone for certain. */
  get isSealed(): boolean {
    return this.#isSealed;
  }

  get #isOverlay(): boolean {
    return overlayOf(this.parts) !== null;
  }

  /** One command at a time. Rejects only with what a sink threw. */
  async run(order: CommandOrder): Promise<Outcome> {
    if (this.#state === "over" || this.#channel === null) return this.#refusal();
    if (this.#running !== null) throw new Error("a sandbox runs one command at a time");
    const running = new RunningCommand(order, this.#channel);
    this.#running = running;
    this.#process?.hold(true);
    if (this.#state === "prepared") void this.#go();
    else this.#send();
    try {
      return await running.outcome;
    } finally {
      this.#process?.hold(false);
    }
  }

  /** Resolves when no process of it is left. */
  end(): Promise<void> {
    // Deferred to its own microtask: closing calls back here.
    this.#ending ??= Promise.resolve().then(() => this.#end());
    return this.#ending;
  }

  async #end(): Promise<void> {
    this.#state = "over";
    clearTimeout(this.#timer);
    this.#channel?.close();
    await this.#process?.end();
    const { group, network, trees, private: folder } = this.parts;
    trees.close();
    const [isGroupEmpty] = await Promise.all([group === null ? true : group.remove(), network?.close()]);
    if (this.hasRun) this.#isSealed = isGroupEmpty && (await this.#isEmpty());
    await folder?.remove();
    this.#tellEnd();
  }

  /** Without namespaces the guard has ended everything where it exits by itself; where it was killed, nothing is certain. */
  async #isEmpty(): Promise<boolean> {
    if ((await this.#process?.isEmpty()) !== true) return false;
    return this.parts.private === null || this.#process?.status === 0;
  }

  #answered(answer: Answer): void {
    const running = this.#ready !== null && this.#running?.isSent === true ? this.#running : null;
    switch (answer.kind) {
      case "hello":
        if (this.#kernel === null) void this.#prepare(answer);
        else this.#odd();
        break;
      case "failed":
        this.#fail(this.#setupFailure(answer.stage, answer.errno));
        break;
      case "ready":
        if (this.#state === "going") void this.#begin(answer.ready);
        else this.#odd();
        break;
      case "output":
      case "errors":
        if (running === null) this.#odd();
        else running.pass(answer.kind, answer.bytes);
        break;
      case "halted":
        if (running === null) this.#odd();
        else running.halted();
        break;
      case "done":
        if (running === null) this.#odd();
        else {
          this.#running = null;
          running.settle({ kind: "done", done: answer.done });
        }
        break;
      default:
        answer satisfies never;
    }
  }

  /** The mounts exist and nothing has run: the last moment to verify that the mounted trees are the planned ones. */
  async #prepare(kernel: KernelFacts): Promise<void> {
    this.#kernel = { landlock: kernel.landlock, connects: kernel.connects };
    const first = this.#process?.firstProcess() ?? null;
    if (first === null) return this.#fail("the first process of the sandbox cannot be determined");
    if (this.parts.private !== null) return this.#state === "starting" ? this.#go() : undefined;
    if (!this.parts.trees.areShownIn(`/proc/${first}/root`, this.#isOverlay ? hostPath(LOWER_LAYER) : null))
      return this.#fail("a folder was replaced while the sandbox started");
    this.parts.trees.close();
    if (this.#state !== "starting") return;
    this.#state = "prepared";
    if (this.#isOverlay && this.#running === null) clearTimeout(this.#timer);
    else await this.#go();
  }

  /**
   * INVARIANT: the go frame is sent after the mounts were verified. The set-up is our own code and needs no limits; a
   * command is sent only to a process that is in its control group.
   */
  async #go(): Promise<void> {
    const { group } = this.parts;
    const kernel = this.#kernel ?? { landlock: 0, connects: false };
    const { landlock, connects } = this.#setup.kernel;
    const isGuessed = kernel.landlock === landlock && kernel.connects === connects;
    this.#state = "going";
    this.#watchStart();
    this.#channel?.write(isGuessed ? this.#setup.frames : this.#framesFor(kernel));
    const first = this.#process?.firstProcess() ?? null;
    if (group !== null && (first === null || (await this.#limited) !== first))
      return this.#fail("the limits of the sandbox could not be set");
    this.#isLimited = true;
    // The first command may follow the set-up without waiting for an answer.
    this.#send();
  }

  #watchStart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail("the sandbox was not ready in time"), startMillisecondsMax);
    this.#timer.unref();
  }

  #setupFailure(stage: string, errno: number): RunRefusal {
    const { root } = this.parts.plan;
    const overlay = root === null ? null : overlayFailure(stage, errno, hostPath(root.path));
    return overlay ?? unavailable(`the sandbox could not be set up: ${stage} (${errnoName(errno)})`);
  }

  async #limit(started: StartedProcess): Promise<number | null> {
    const { group } = this.parts;
    const first = await started.announced;
    return group !== null && first !== null && (await group.add(first)) ? first : null;
  }

  #framesFor(kernel: KernelFacts): Uint8Array {
    const { plan, environment, group, private: folder } = this.parts;
    const start = { ...kernel, treeMemoryHeld: group?.holds.includes("memory") ?? false };
    if (folder === null) return Buffer.concat(setupFrames(plan, environment.system, start, encode));
    const frames = supervisedFrames(plan, folder, environment.system, start, encode);
    // An empty set-up is no set-up: the supervisor waits, and the sandbox fails.
    if (frames === null) this.#fail("this kernel cannot scope signals (needs Landlock 6, Linux 6.12 or later)");
    return Buffer.concat(frames ?? []);
  }

  #give(network: SandboxNetwork, message: unknown, handle: unknown): void {
    if (this.parts.private !== null) {
      // Closed where it is not accepted; no command waits for more.
      network.connect(message, handle).catch(() => {});
      return;
    }
    const given = network.give(message, handle);
    // Verified once all mounts are reported; no caller waits for it until then.
    given.catch(() => {});
    this.#given.push(given);
  }

  async #begin(ready: Ready): Promise<void> {
    const missing = missingIn(ready, this.parts, this.#kernel?.landlock ?? 0);
    if (missing !== null) return this.#fail(`the sandbox started without ${missing}`);
    // Its rules are made: they are about the planned folders if their names still lead there.
    if (this.parts.private !== null && !this.parts.trees.areUnchanged())
      return this.#fail("a folder was replaced while the sandbox started");
    clearTimeout(this.#timer);
    this.#ready = ready;
    this.#state = "handing";
    try {
      if (this.#given.length > 0) await Promise.all(this.#given);
    } catch {
      return this.#fail("the network's sockets could not be handed over");
    }
    if (this.#state !== "handing") return;
    this.#state = "ready";
    this.#send();
  }

  #send(): void {
    // A failed set-up reports its reason; with a command in flight the report could be lost, so an overlay's set-up is
    // awaited.
    const { network, private: folder } = this.parts;
    const isAhead = this.#state === "going" && network === null && folder === null && !this.#isOverlay;
    const isTime = this.#state === "ready" || isAhead;
    if (!isTime || !this.#isLimited || this.#running === null) return;
    this.#hasSent = true;
    this.#running.send(this.parts.plan.limits.wallMilliseconds);
  }

  #odd(): void {
    this.#fail("the sandbox sent an invalid message");
  }

  #fail(why: string | RunRefusal): void {
    this.#failure ??= typeof why === "string" ? unavailable(why) : why;
    this.#state = "over";
    if (this.#channel === null) void this.#ended(false);
    else this.#channel.close();
  }

  async #ended(odd: boolean): Promise<void> {
    if (odd) this.#failure ??= unavailable("the sandbox sent an invalid message");
    const running = this.#running;
    // The native program runs nothing before the sandbox is ready, whatever was sent.
    const hasBegun = this.#ready !== null && running?.isSent === true;
    await this.end();
    this.#running = null;
    if (running !== null)
      running.settle(hasBegun ? { kind: "broken", because: running.because } : await this.#refusal());
  }

  async #refusal(): Promise<Outcome> {
    await this.end();
    return { kind: "unavailable", refused: this.#failure ?? complaintRefusal(this.#process?.complaint ?? "") };
  }
}

/** Requested restrictions that are missing; null when all are in place. */
function missingIn(ready: Ready, parts: SandboxParts, landlock: number): string | null {
  const { plan, environment } = parts;
  const { network } = plan;
  if (!ready.seccomp) return "its system call filter";
  if (landlock > 0 && !ready.landlock) return "Landlock";
  if (network !== null && ready.network === "none") return "its network";
  if (network === null && ready.network !== "none") return "its ban on network access";
  if ((overlayOf(parts) !== null) !== (ready.startNanoseconds !== null)) return "the overlay of its root";
  if (parts.private !== null) return ready.landlock ? null : "Landlock";
  return ready.pins.length === kernelPins(environment.system).length ? null : "its pins in /proc";
}

/** Without namespaces there are no overlays: a root that is written is a copy. */
function overlayOf({ plan, private: folder }: SandboxParts): RootOverlay | null {
  return folder === null ? rootOverlay(plan) : null;
}

function startOf({
  plan,
  environment,
  draft,
  network,
}: SandboxParts): BubblewrapCommand & { readonly program: string } {
  const { backend, system } = environment;
  if (backend.kind === "namespaces")
    return { program: backend.bubblewrap, ...bubblewrapCommand(plan, system, encode, draft?.path ?? null) };
  const argv = ["supervised", String(CONTROL_FD), network === null ? "-" : String(HANDLES_FD)];
  return { program: hostPath(system.program), argv, data: [] };
}

function errnoName(errno: number): string {
  return Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? `errno ${errno}`;
}
