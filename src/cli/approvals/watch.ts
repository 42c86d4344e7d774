// `ambit approvals watch`: questions as they come. On a terminal a list to answer from, elsewhere a line for each change.
import { isJsonObject, type Json } from "../../core/base/json.ts";
import type { ControlMessages } from "../../core/ports/daemon/daemon-control.ts";
import type { MessageClient } from "../../core/ports/daemon/exchange.ts";
import type { Approval } from "../../core/ports/stores/approval-store.ts";
import { type ControlPorts, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import type { JsonOption } from "../terminal/problems.ts";
import { approvalsRefuse, approvalsShow, tellApprovalRefusal } from "./approvals.ts";
import { approve } from "./approve.ts";
import { Frame, type Key, terminalScreen, type WatchScreen } from "./screen.ts";
import { fitLine, summaryText } from "./text.ts";
import { typedYes } from "./typed-answer.ts";

export interface WatchPorts extends ControlPorts {
  /** Absent: the terminal of this process. Null: there is none. */
  readonly screen?: WatchScreen | null;
}

/** Shown at once: as many as there are keys for. */
const shownMax = 9;
const redrawMilliseconds = 5000;
const BELL = "\u0007";

export async function approvalsWatch(ports: WatchPorts, options: JsonOption): Promise<ExitCode> {
  const control = await ports.control();
  if (!control.ok) return tellRefusal(ports, control, options.json);
  try {
    const screen = options.json ? null : ports.screen === undefined ? terminalScreen() : ports.screen;
    return await (screen === null ? lines(ports, control.value, options) : new Watch(ports, screen).run(control.value));
  } finally {
    control.value.close();
  }
}

/** What a daemon tells; whatever else it says is passed over. */
function approvalIn(event: Json): Approval | null {
  const approval = isJsonObject(event) ? event["approval"] : undefined;
  return isJsonObject(approval) && typeof approval["id"] === "string" ? (approval as unknown as Approval) : null;
}

async function lines(
  ports: WatchPorts,
  control: MessageClient<ControlMessages>,
  { json }: JsonOption,
): Promise<ExitCode> {
  // No terminal to draw on: without a question nothing else would be printed.
  if (!json) ports.printError(WAITING);
  const answer = await control.ask(
    "approvals.watch",
    {},
    {
      onEvent: (event) => {
        const approval = approvalIn(event);
        if (approval === null) return;
        ports.print(json ? jsonLine({ approval }) : visibleText(summaryText(approval, ports.now())));
      },
    },
  );
  return answer.ok ? EXIT.ok : tellApprovalRefusal(ports, answer, json);
}

const WAITING =
  "waiting for requests of agents; one line is printed for each change; answer with `ambit approve ID`; press Ctrl-C to end";

class Watch {
  readonly #ports: WatchPorts;
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

  constructor(ports: WatchPorts, screen: WatchScreen) {
    this.#ports = ports;
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
    return answer === null || answer.ok ? EXIT.ok : tellApprovalRefusal(this.#ports, answer, false);
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
    const { paint } = this.#ports;
    const columns = Math.max(20, this.#screen.columns - 1);
    const approvals = this.#shown();
    const rows = approvals.map((approval, at) => {
      const text = fitLine(`${at + 1} ${summaryText(approval, this.#ports.now())}`, columns - 2);
      return approval.id === this.#chosen ? paint.strong(`> ${text}`) : `  ${text}`;
    });
    const more = this.#waiting.size - approvals.length;
    const title = this.#waiting.size === 0 ? "no pending approvals" : `${this.#waiting.size} waiting`;
    this.#frame.draw([
      paint.strong(fitLine(title, columns)),
      ...rows,
      ...(more > 0 ? [paint.dim(fitLine(`  and ${more} more`, columns))] : []),
      ...(this.#said === "" ? [] : [paint.dim(fitLine(this.#said, columns))]),
      paint.dim(fitLine("number select, enter show, a approve, r refuse, q quit", columns)),
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
    const ports = this.#ports;
    if (kind === "show") await approvalsShow(ports, id, { json: false, full: false });
    else if (kind === "approve") await approve(ports, id, { json: false, yes: false });
    else if (await typedYes(ports.terminal, `refuse ${visibleText(id)}`)) {
      const reason = await ports.terminal.enter(`Reason for refusing ${visibleText(id)}? May be empty`, () => null);
      if (reason !== null) await approvalsRefuse(ports, id, { json: false, reason });
    }
  }
}
