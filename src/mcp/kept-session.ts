// The one session behind a server: opened when it is first needed, and again when the owner of the state is another one by then.
import type { DenialCode } from "../authority/decision.ts";
import type { Json, JsonObject } from "../authority/json.ts";
import { isJsonObject, member } from "../authority/json.ts";
import type { CallMessages, DenialTold, SessionOpened, SessionOpening, ToolShown } from "../ports/daemon-calls.ts";
import type { Along, Answer, Asking, Refusal } from "../ports/exchange.ts";
import { type CallResult, deniedResult, doneResult, refusedResult, unknownTool } from "./call-result.ts";
import { callsAtOnceMax } from "./limits.ts";
import { Turns } from "./turns.ts";
import type { Wanted } from "./wanted.ts";

export interface KeptSessionAsked {
  readonly opening: SessionOpening;
  /** How long a call waits for a person. */
  readonly waitMilliseconds: number;
  /** Connects, starting the owner where it is not running; `lost` rings when the connection is gone. */
  connect(lost: () => void): Promise<Answer<Asking<CallMessages>>>;
  /** A call of this tool reached nobody: there is no owner to write that down. */
  unserved?(tool: string, refusal: Refusal): void;
  /** A result as it is to be shown: what came from outside is made readable here. */
  present(tool: string, input: JsonObject, result: Json): Json | Promise<Json>;
  /** For the person who started us. */
  note(line: string): void;
}

interface Live {
  readonly calls: Asking<CallMessages>;
  readonly opened: SessionOpened;
}

export class KeptSession {
  readonly #asked: KeptSessionAsked;
  readonly #turns = new Turns(callsAtOnceMax);
  #live: Promise<Answer<Live>> | null = null;
  /** The same, as soon as it is there: a call waits for nothing then. */
  #now: Answer<Live> | null = null;
  /** The session before this one, where it was used: what it had read is still in somebody's mind. */
  #before: string | null = null;
  /** Names that were on the list at some time, or were called. */
  readonly #known = new Set<string>();
  /** Why there is never another one. */
  #over: Refusal | null = null;

  constructor(asked: KeptSessionAsked) {
    this.#asked = asked;
  }

  /** Opens it where there is none; a failure is not kept, so that the next one tries again. */
  async open(): Promise<Answer<SessionOpened>> {
    const live = await this.#session();
    return live.ok ? { ok: true, value: live.value.opened } : live;
  }

  async list(): Promise<Answer<readonly ToolShown[]>> {
    const live = await this.#session();
    if (!live.ok) return live;
    return this.#listWith(live.value);
  }

  /** The list where there is a session; null where that would open one. */
  async look(): Promise<readonly ToolShown[] | null> {
    const live = this.#live === null ? null : await this.#live;
    if (live === null || !live.ok) return null;
    const listed = await this.#listWith(live.value);
    return listed.ok ? listed.value : null;
  }

  /** Always a result: whatever goes wrong is told to the model. */
  async call(tool: string, input: JsonObject, wanted: Wanted): Promise<CallResult> {
    const turn = this.#turns.take(wanted);
    if (turn !== true && !(turn && (await turn))) return CANCELLED;
    try {
      const live = this.#over ?? this.#now ?? (await this.#session());
      if (live.ok) return await this.#callWith(live.value, tool, input, wanted);
      if (live !== CLOSED) this.#asked.unserved?.(tool, live);
      return refusedResult(tool, live);
    } finally {
      this.#turns.give();
    }
  }

  /** What it still runs ends with it: nothing outlives its connection. */
  close(): void {
    this.#over = CLOSED;
    void this.#live?.then((live) => {
      if (live.ok) live.value.calls.close();
    });
  }

  #session(): Promise<Answer<Live>> {
    if (this.#over !== null) return Promise.resolve(this.#over);
    if (this.#live !== null) return this.#live;
    const opening: Promise<Answer<Live>> = this.#open(() => this.#lose(opening)).then((live) => {
      if (!live.ok) this.#lose(opening);
      else if (this.#live === opening) this.#now = live;
      return live;
    });
    this.#live = opening;
    return opening;
  }

  #lose(lost: Promise<Answer<Live>>): void {
    if (this.#live !== lost) return;
    this.#live = null;
    this.#now = null;
  }

  async #open(lost: () => void): Promise<Answer<Live>> {
    const connected = await this.#asked.connect(lost);
    if (!connected.ok) return connected;
    const calls = connected.value;
    const opened = await calls.ask("session.open", this.#asked.opening);
    if (!opened.ok) {
      calls.close();
      return opened;
    }
    const { session, notes } = opened.value;
    // INVARIANT: no session is cleaner than the one it goes on from.
    if (this.#before !== null) {
      const tainted = await calls.ask("session.taint", { session, why: `goes on from ${this.#before}` });
      if (!tainted.ok) {
        calls.close();
        return tainted;
      }
    }
    if (this.#before === null) for (const note of notes) this.#asked.note(note);
    return { ok: true, value: { calls, opened: opened.value } };
  }

  async #listWith({ calls, opened }: Live): Promise<Answer<readonly ToolShown[]>> {
    const answer = await calls.ask("tools.list", { session: opened.session });
    if (!answer.ok) {
      this.#endedBy(answer);
      return answer;
    }
    const { tools } = answer.value;
    for (const { name } of tools) this.#known.add(name);
    return { ok: true, value: tools };
  }

  /** INVARIANT: what a person ended stays ended, until a person starts it again. */
  #endedBy({ code }: Refusal): void {
    if (code === "unknown_session") this.#over ??= ENDED;
  }

  async #callWith(live: Live, tool: string, input: JsonObject, wanted: Wanted): Promise<CallResult> {
    const { session } = live.opened;
    this.#before = session;
    const { waitMilliseconds, note } = this.#asked;
    const asks = { session, tool, input, requests: null, waitMilliseconds };
    const answer = await live.calls.ask("call.do", asks, new GoesAlong(wanted, note));
    if (!answer.ok) {
      this.#endedBy(answer);
      return refusedResult(tool, answer.code === "unknown_session" ? ENDED : answer);
    }
    const { value } = answer;
    if (value.outcome === "denied") return this.#denied(live, tool, value);
    this.#known.add(tool);
    const shown = this.#asked.present(tool, input, value.result);
    return doneResult(shown instanceof Promise ? await shown : shown);
  }

  async #denied(live: Live, tool: string, denial: DenialTold): Promise<CallResult> {
    const was = this.#known.has(tool);
    // Asked anew: what was granted or taken back since must not show in the answer either.
    const listed = await this.#listWith(live);
    // A list that could not be had tells nothing of a tool; one that was on it before is still told the truth.
    const isListed = listed.ok ? listed.value.some(({ name }) => name === tool) : was;
    // What is used up or over is no secret to whoever could call it.
    const isOver = was && OVER.has(denial.code);
    // The project's own text names what waits for trust, and a model that is not told cannot tell a person.
    const isKnown = isListed || isOver || denial.code === "untrusted_policy";
    return isKnown ? deniedResult(tool, denial) : unknownTool(tool, denial);
  }
}

/** What a call listens to while it lasts. */
class GoesAlong implements Along {
  readonly #wanted: Wanted;
  readonly #note: (line: string) => void;

  constructor(wanted: Wanted, note: (line: string) => void) {
    this.#wanted = wanted;
    this.#note = note;
  }

  onStop(ring: () => void): void {
    this.#wanted.onTakenBack(ring);
  }

  onEvent(event: Json): void {
    const waiting = isJsonObject(event) ? member(event, "waiting") : undefined;
    if (typeof waiting === "string") this.#note(`a person has to approve a call: ambit approve ${waiting}`);
  }
}

const OVER: ReadonlySet<DenialCode> = new Set<DenialCode>([
  "budget_exhausted",
  "expired",
  "revoked",
  "generation_stale",
]);

/** Nobody reads it: who cancelled a call gets no answer to it. */
const CANCELLED: CallResult = { content: [], structuredContent: {}, isError: true };

const CLOSED: Refusal = { ok: false, code: "not_available", message: "the server ends", fix: null };

const ENDED: Refusal = {
  ok: false,
  code: "revoked",
  message: "a person has ended this session",
  fix: "the person starts the server again",
};
