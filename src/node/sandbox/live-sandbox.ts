// One sandbox from its start to its end: set up and looked over, then one command at a time.
import { constants } from "node:os";
import type { RunRefused } from "../../ports/process.ts";
import type { Answer, Ready } from "../../sandbox/answers.ts";
import { bubblewrapCommand } from "../../sandbox/bubblewrap.ts";
import { kernelPins } from "../../sandbox/kernel-pins.ts";
import type { Plan } from "../../sandbox/plan.ts";
import { setupFrames } from "../../sandbox/setup.ts";
import { Channel } from "./channel.ts";
import { complaintRefusal } from "./complaint.ts";
import type { ControlGroup } from "./control-groups.ts";
import type { SandboxGround } from "./detect-sandbox.ts";
import { Pins } from "./pins.ts";
import { codeOf, unavailable } from "./refusal.ts";
import { type Order, type Outcome, Running } from "./running.ts";
import type { SandboxNetwork } from "./sandbox-network.ts";
import { StartedProcess } from "./started-process.ts";
import type { HeldTrees } from "./trees.ts";

export interface SandboxParts {
  readonly ground: SandboxGround;
  readonly plan: Plan;
  readonly trees: HeldTrees;
  readonly group: ControlGroup | null;
  readonly network: SandboxNetwork | null;
}

const startMillisecondsMax = 30_000;
/** What most kernels of today say; a wrong guess costs the time of doing it again. */
const landlockGuess = 7;

const encode = (text: string): Uint8Array => Buffer.from(text, "utf8");

export class LiveSandbox {
  readonly parts: SandboxParts;
  /** As they were before anything ran. */
  readonly pins: Pins;
  #process: StartedProcess | null = null;
  #channel: Channel | null = null;
  #state: "starting" | "going" | "handing" | "ready" | "over" = "starting";
  #landlock: number | null = null;
  /** The pid that was put under the limits, as soon as it was there: the kernel takes its time over it. */
  #limited: Promise<number | null> = Promise.resolve(null);
  #isLimited = false;
  readonly #setup: { readonly landlock: number; readonly frames: Uint8Array };
  #ready: Ready | null = null;
  #failure: RunRefused | null = null;
  #running: Running | null = null;
  #timer: NodeJS.Timeout | undefined;
  #ending: Promise<void> | null = null;
  #tellEnd: () => void = () => {};
  readonly #given: Promise<void>[] = [];
  /** Kept when nothing of it is left, however that came. */
  readonly ended: Promise<void> = new Promise((resolve) => {
    this.#tellEnd = resolve;
  });

  constructor(parts: SandboxParts) {
    this.parts = parts;
    const { plan, ground, network } = parts;
    try {
      const command = bubblewrapCommand(plan, ground.system, encode);
      this.#process = new StartedProcess(ground.bubblewrap, command, network !== null);
      this.#limited = this.#limit(this.#process);
      if (network !== null) this.#process.onHandle((message, handle) => this.#give(network, message, handle));
      this.#channel = new Channel(this.#process.control, {
        answered: (answer) => this.#answered(answer),
        ended: (odd) => void this.#ended(odd),
      });
      this.#timer = setTimeout(() => this.#fail("the sandbox did not get ready in time"), startMillisecondsMax);
    } catch (error) {
      this.#fail(`bubblewrap cannot be started (${codeOf(error)})`);
    }
    // While bubblewrap is at work, and long before the word to go on.
    this.pins = new Pins(plan);
    this.#setup = { landlock: landlockGuess, frames: this.#framesFor(landlockGuess) };
  }

  /** What holds it, once it has said so. */
  get ready(): Ready | null {
    return this.#ready;
  }

  /** Whether it stands ready for a command. */
  get isIdle(): boolean {
    return this.#state === "ready" && this.#running === null;
  }

  /** One at a time. Rejected only for what a sink threw. */
  async run(order: Order): Promise<Outcome> {
    if (this.#state === "over" || this.#channel === null) return this.#refusal();
    if (this.#running !== null) throw new Error("a sandbox runs one command at a time");
    const running = new Running(order, this.#channel);
    this.#running = running;
    this.#process?.hold(true);
    this.#send();
    try {
      return await running.outcome;
    } finally {
      this.#process?.hold(false);
    }
  }

  /** Kept when nothing of it is left. */
  end(): Promise<void> {
    // In a turn of its own: what it closes calls back here.
    this.#ending ??= Promise.resolve().then(() => this.#end());
    return this.#ending;
  }

  async #end(): Promise<void> {
    this.#state = "over";
    clearTimeout(this.#timer);
    this.#channel?.close();
    await this.#process?.end();
    const { group, network, trees } = this.parts;
    trees.close();
    await Promise.all([group?.remove(), network?.close()]);
    this.#tellEnd();
  }

  #answered(answer: Answer): void {
    const running = this.#ready !== null && this.#running?.isSent === true ? this.#running : null;
    switch (answer.kind) {
      case "hello":
        if (this.#landlock === null) void this.#prepare(answer.landlock);
        else this.#odd();
        break;
      case "failed":
        this.#fail(`the sandbox could not be set up: ${answer.stage} (${errnoName(answer.errno)})`);
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

  /**
   * The mounts are made and nothing has run: the last moment to see whether what was mounted is what was meant.
   * INVARIANT: the word to go on is given after that. The set-up is our own doing and needs no limits; a command is sent
   * only to a process that is under them.
   */
  async #prepare(landlock: number): Promise<void> {
    const { trees, group } = this.parts;
    this.#landlock = landlock;
    const first = this.#process?.firstProcess() ?? null;
    if (first === null) return this.#fail("the first process of the sandbox cannot be told");
    if (!trees.areUnchanged(`/proc/${first}/root`))
      return this.#fail("a folder was replaced by another while the sandbox started");
    if (this.#state !== "starting") return;
    this.#state = "going";
    this.#channel?.write(landlock === this.#setup.landlock ? this.#setup.frames : this.#framesFor(landlock));
    if (group !== null && (await this.#limited) !== first)
      return this.#fail("the sandbox could not be put under its limits");
    this.#isLimited = true;
    // Without a network the first command follows the set-up without waiting for an answer.
    this.#send();
  }

  async #limit(started: StartedProcess): Promise<number | null> {
    const { group } = this.parts;
    const first = await started.announced;
    return group !== null && first !== null && (await group.add(first)) ? first : null;
  }

  #framesFor(landlock: number): Uint8Array {
    const { plan, ground, group } = this.parts;
    const treeMemoryHeld = group?.holds.includes("memory") ?? false;
    return Buffer.concat(setupFrames(plan, ground.system, { landlock, treeMemoryHeld }, encode));
  }

  #give(network: SandboxNetwork, message: unknown, handle: unknown): void {
    const given = network.give(message, handle);
    // Looked at when all of them are out; until then nobody waits for it.
    given.catch(() => {});
    this.#given.push(given);
  }

  async #begin(ready: Ready): Promise<void> {
    const missing = missingIn(ready, this.parts, this.#landlock ?? 0);
    if (missing !== null) return this.#fail(`the sandbox came up without ${missing}`);
    clearTimeout(this.#timer);
    this.#ready = ready;
    this.pins.settle(ready.pins);
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
    const isTime = this.#state === "ready" || (this.#state === "going" && this.parts.network === null);
    if (isTime && this.#isLimited) this.#running?.send(this.parts.plan.limits.wallMilliseconds);
  }

  #odd(): void {
    this.#fail("the sandbox said something that is not understood");
  }

  #fail(message: string): void {
    this.#failure ??= unavailable(message);
    this.#state = "over";
    if (this.#channel === null) void this.#ended(false);
    else this.#channel.close();
  }

  async #ended(odd: boolean): Promise<void> {
    if (odd) this.#failure ??= unavailable("the sandbox said something that is not understood");
    const running = this.#running;
    // Nothing is run before the sandbox is ready, whatever was sent.
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

/** What was asked for and did not come; null when all is there. */
function missingIn(ready: Ready, { plan, ground }: SandboxParts, landlock: number): string | null {
  const { network, pinned } = plan;
  if (!ready.seccomp) return "its filter of system calls";
  if (landlock > 0 && !ready.landlock) return "Landlock";
  if (network !== null && ready.network === "none") return "its network";
  if (network === null && ready.network !== "none") return "leave to have a network";
  const pins = pinned.reduce((count, base) => count + base.pins.length, 0);
  const kernels = kernelPins(ground.system).reduce((count, base) => count + base.pins.length, 0);
  if (ready.pins.length !== pins + kernels) return "its pins";
  return ready.pins.slice(pins).includes("link") ? "its pins in /proc" : null;
}

function errnoName(errno: number): string {
  return Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? `errno ${errno}`;
}
