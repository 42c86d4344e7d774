// `ambit approvals watch`: questions as they come. On a terminal a list to answer from, elsewhere a line for each change.
import { isJsonObject, type Json } from "../../core/base/json.ts";
import type { ControlMessages } from "../../core/ports/daemon/daemon-control.ts";
import type { MessageClient } from "../../core/ports/daemon/exchange.ts";
import type { Approval } from "../../core/ports/stores/approval-store.ts";
import { type ControlWorld, tellRefusal } from "../control-world.ts";
import { shown } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import type { Asked } from "../terminal/problems.ts";
import { approvalsRefuse, approvalsShow, tellApprovalRefusal } from "./approvals.ts";
import { approve } from "./approve.ts";
import { Frame, type Key, terminalScreen, type WatchScreen } from "./screen.ts";
import { fitted, summaryText } from "./text.ts";
import { typedYes } from "./typed-answer.ts";

export interface WatchWorld extends ControlWorld {
  /** Absent: the terminal of this process. Null: there is none. */
  readonly screen?: WatchScreen | null;
}

/** Shown at once: as many as there are keys for. */
const shownMax = 9;
const redrawMilliseconds = 5000;
const BELL = "\u0007";

export async function approvalsWatch(world: WatchWorld, options: Asked): Promise<ExitCode> {
  const control = await world.control();
  if (!control.ok) return tellRefusal(world, control, options.json);
  try {
    const screen = options.json ? null : world.screen === undefined ? terminalScreen() : world.screen;
    return await (screen === null ? lines(world, control.value, options) : new Watch(world, screen).run(control.value));
  } finally {
    control.value.close();
  }
}

/** What a daemon tells; whatever else it says is passed over. */
function approvalIn(event: Json): Approval | null {
  const approval = isJsonObject(event) ? event["approval"] : undefined;
  return isJsonObject(approval) && typeof approval["id"] === "string" ? (approval as unknown as Approval) : null;
}

async function lines(world: WatchWorld, control: MessageClient<ControlMessages>, { json }: Asked): Promise<ExitCode> {
  const answer = await control.ask(
    "approvals.watch",
    {},
    {
      onEvent: (event) => {
        const approval = approvalIn(event);
        if (approval === null) return;
        world.print(json ? jsonLine({ approval }) : shown(summaryText(approval, world.now())));
      },
    },
  );
  return answer.ok ? EXIT.ok : tellApprovalRefusal(world, answer, json);
}

class Watch {
  readonly #world: WatchWorld;
  readonly #screen: WatchScreen;
  readonly #frame: Frame;
  /** Those that wait, oldest first. */
  readonly #waiting = new Map<string, Approval>();
  /** By its id: what is drawn elsewhere now must not be answered in its place. */
  #chosen: string | null = null;
  #said = "";
  /** A prompt is open: the screen is not drawn and keys are ignored. */
  #isBusy = false;
  #isOver = false;
  #stop: () => void = () => {};
  #unkey: () => void = () => {};

  constructor(world: WatchWorld, screen: WatchScreen) {
    this.#world = world;
    this.#screen = screen;
    this.#frame = new Frame(screen);
  }

  async run(control: MessageClient<ControlMessages>): Promise<ExitCode> {
    let isQuit = false;
    const quit = new Promise<null>((give) => {
      this.#stop = () => {
        isQuit = true;
        give(null);
      };
    });
    const cancel = new AbortController();
    const unclock = this.#screen.every(redrawMilliseconds, () => this.#draw());
    // Take the keyboard first: a key pressed at this screen must not reach another reader of the terminal.
    this.#listen();
    this.#draw();
    const asked = control.ask(
      "approvals.watch",
      {},
      {
        onEvent: (event) => this.#heard(approvalIn(event)),
        signal: cancel.signal,
      },
    );
    const answer = await Promise.race([asked, quit]);
    if (isQuit) cancel.abort();
    this.#isOver = true;
    unclock();
    this.#unkey();
    this.#frame.erase();
    return answer === null || answer.ok ? EXIT.ok : tellApprovalRefusal(this.#world, answer, false);
  }

  #listen(): void {
    this.#unkey = this.#screen.onKey((key) => void this.#pressed(key));
  }

  #heard(approval: Approval | null): void {
    if (approval === null) return;
    const isNew = approval.state === "pending" && !this.#waiting.has(approval.id);
    if (approval.state === "pending") this.#waiting.set(approval.id, approval);
    else if (this.#waiting.delete(approval.id)) {
      this.#said = `${approval.id} is ${approval.state}`;
      if (this.#chosen === approval.id) this.#chosen = null;
    }
    // What comes alone needs no choosing; what is left alone does, or a key meant for another would answer it.
    if (isNew && this.#waiting.size === 1) this.#chosen = approval.id;
    // A bell in the middle of a question is heard, too.
    if (isNew) this.#screen.write(BELL);
    this.#draw();
  }

  #shown(): readonly Approval[] {
    const room = Math.max(1, Math.min(shownMax, this.#screen.rows - 5));
    return [...this.#waiting.values()].slice(0, room);
  }

  #draw(): void {
    if (this.#isBusy) return;
    const { paint } = this.#world;
    const columns = Math.max(20, this.#screen.columns - 1);
    const approvals = this.#shown();
    const rows = approvals.map((approval, at) => {
      const text = fitted(`${at + 1} ${summaryText(approval, this.#world.now())}`, columns - 2);
      return approval.id === this.#chosen ? paint.strong(`> ${text}`) : `  ${text}`;
    });
    const more = this.#waiting.size - approvals.length;
    const title = this.#waiting.size === 0 ? "no pending approvals" : `${this.#waiting.size} waiting`;
    this.#frame.draw([
      paint.strong(fitted(title, columns)),
      ...rows,
      ...(more > 0 ? [paint.dim(fitted(`  and ${more} more`, columns))] : []),
      ...(this.#said === "" ? [] : [paint.dim(fitted(this.#said, columns))]),
      paint.dim(fitted("number select, enter show, a approve, r refuse, q quit", columns)),
    ]);
  }

  async #pressed(key: Key): Promise<void> {
    if (this.#isBusy) return;
    const { kind } = key;
    switch (kind) {
      case "quit":
        return this.#stop();
      case "number":
        return this.#choose(key.number - 1);
      case "up":
      case "down":
        return this.#choose(this.#place() + (kind === "up" ? -1 : 1));
      case "show":
      case "approve":
      case "refuse": {
        const id = this.#chosen;
        return id === null ? undefined : this.#aside(() => this.#answer(kind, id));
      }
      default:
        return kind satisfies never;
    }
  }

  #place(): number {
    return this.#shown().findIndex(({ id }) => id === this.#chosen);
  }

  /** A place where nothing is changes nothing. */
  #choose(place: number): void {
    this.#chosen = this.#shown()[place]?.id ?? this.#chosen;
    this.#draw();
  }

  /** The frame and the keys give way to something that prints and asks; afterwards they are back. */
  async #aside(work: () => Promise<unknown>): Promise<void> {
    this.#isBusy = true;
    this.#unkey();
    this.#frame.erase();
    try {
      await work();
    } finally {
      this.#isBusy = false;
      this.#said = "";
      if (!this.#isOver) {
        this.#listen();
        this.#draw();
      }
    }
  }

  async #answer(kind: "show" | "approve" | "refuse", id: string): Promise<void> {
    const world = this.#world;
    if (kind === "show") await approvalsShow(world, id, { json: false, full: false });
    else if (kind === "approve") await approve(world, id, { json: false, yes: false });
    else if (await typedYes(world.terminal, `refuse ${shown(id)}`)) {
      const reason = await world.terminal.enter(`Reason for refusing ${shown(id)}? May be empty`, () => null);
      if (reason !== null) await approvalsRefuse(world, id, { json: false, reason });
    }
  }
}
