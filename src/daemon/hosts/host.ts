// The daemon's side of a tool host. Its calls run side by side in one process; a host that disconnects, violates the protocol or
// takes too long is killed with all of them, and the next call gets a new one.
import { onAbort } from "../../core/base/abort.ts";
import { copyJson, isJsonList, isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import { type Result, refuse } from "../../core/base/result.ts";
import type { Enforcement } from "../../core/ports/enforcement.ts";
import { useCodeOf } from "../../runtime/context/use-result.ts";
import { readToolDescriptions, type ToolDescription } from "../../runtime/tool/hosted.ts";
import type { ToolOutcome } from "../../runtime/tool/tool-outcome.ts";
import type { HostProcess } from "../../sandbox/tool-host/host-process.ts";

export type HostDescription =
  | { readonly ok: true; readonly tools: readonly ToolDescription[] }
  | {
      readonly ok: false;
      readonly message: string /** Whether the tool itself is to blame. */;
      readonly isTools: boolean;
    };

type Message = Readonly<Record<string, unknown>>;

const describeMilliseconds = 30_000;
const deriveMilliseconds = 10_000;
const stopMilliseconds = 2_000;
/** Calls that run in one host, and calls that run or are queued. */
const callsAtOnceMax = 16;
const waitingMax = 64;
/** The description has no call of its own. */
const DESCRIPTION = 0;

export class ToolHost {
  readonly #process: HostProcess;
  readonly described: Promise<HostDescription>;
  readonly #listeners = new Map<number, (message: Message) => void>();
  readonly #queue: (() => void)[] = [];
  #running = 0;
  #call = DESCRIPTION;

  constructor(process: HostProcess) {
    this.#process = process;
    process.hear((message) => {
      const { call = DESCRIPTION } = message;
      const listener = typeof call === "number" ? this.#listeners.get(call) : undefined;
      if (listener === undefined) this.#late(message);
      else listener(message);
    });
    this.described = this.#until(DESCRIPTION, describeMilliseconds, (message): HostDescription | null => {
      if (message["kind"] === "failed")
        return { ok: false, message: String(message["message"]).slice(0, 2000), isTools: true };
      if (message["kind"] !== "described") return null;
      const tools = readToolDescriptions(message["tools"]);
      return tools === null ? { ok: false, message: "its export is not a tool", isTools: true } : { ok: true, tools };
    }).then((answer) => ("broken" in answer ? { ok: false, message: answer.broken, isTools: answer.isTools } : answer));
  }

  get isOver(): boolean {
    return this.#process.isOver;
  }

  /** Its enforcement, as its sandbox reports it; empty until the host has started. */
  get enforcement(): readonly Enforcement[] {
    return this.#process.enforcement;
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#queue.length === 0;
  }

  end(): void {
    this.#process.end();
  }

  /** The requests that the tool declares for a call, as plain data. */
  derive(tool: string, input: JsonObject): Promise<Result<readonly Json[]>> {
    return this.#inTurn(
      async () => {
        const described = await this.described;
        if (!described.ok) return refuse("bad_value", described.message.slice(0, 500));
        const call = ++this.#call;
        this.#process.say({ kind: "derive", call, tool, input });
        const answer = await this.#until(call, deriveMilliseconds, (message) =>
          message["kind"] === "derived" ? message : null,
        );
        if ("broken" in answer) return refuse("bad_value", String(answer.broken));
        const requests = copyJson(answer["requests"]);
        if (requests === undefined || !isJsonList(requests))
          return refuse(
            "bad_value",
            String(answer["message"] ?? "the arguments do not match the tool's input").slice(0, 500),
          );
        return { ok: true, value: requests };
      },
      refuse("bad_value", "too many calls of this tool are queued"),
    );
  }

  execute(
    tool: string,
    input: JsonObject,
    serve: (use: JsonObject) => Promise<Json>,
    signal: AbortSignal,
    milliseconds: number,
  ): Promise<ToolOutcome> {
    return this.#inTurn(async () => {
      const described = await this.described;
      if (!described.ok) return failed(described.message);
      const call = ++this.#call;
      let isDone = false;
      onAbort(signal, () => {
        this.#process.say({ kind: "stop", call });
        // A host that does not react to the stop is not waited for.
        setTimeout(() => isDone || this.#process.end(), stopMilliseconds).unref();
      });
      if (!this.#process.say({ kind: "execute", call, tool, input })) return failed("its host process exited");
      const answer = await this.#until(call, milliseconds, (message) => {
        if (message["kind"] === "use") void this.#serve(call, message, serve);
        return message["kind"] === "done" ? outcomeOf(message["outcome"]) : null;
      });
      isDone = true;
      return "broken" in answer ? failed(answer.broken) : answer;
    }, failed("too many calls of this tool are queued"));
  }

  /** For a call that has ended: every use is refused. */
  #late({ kind, call, use }: Message): void {
    if (kind === "use" && typeof use === "number")
      this.#process.say({
        kind: "used",
        call,
        use,
        answer: { ok: false, code: "revoked", verb: null, message: "the call has ended" },
      });
  }

  async #serve(call: number, { use, asked }: Message, serve: (use: JsonObject) => Promise<Json>): Promise<void> {
    const wanted = copyJson(asked);
    const answer: Json = isJsonObject(wanted)
      ? await serve(wanted)
      : { ok: false, code: "invalid_input", verb: null, message: "a use is an object" };
    if (typeof use === "number" && !this.#process.say({ kind: "used", call, use, answer }))
      this.#process.say({
        kind: "used",
        call,
        use,
        answer: { ok: false, code: "not_available", verb: null, message: "too long" },
      });
  }

  /** Waits for one message; kills a host that ends or times out. */
  async #until<T extends object>(
    call: number,
    milliseconds: number,
    read: (message: Message) => T | null,
  ): Promise<T | { readonly broken: string; readonly isTools: boolean }> {
    let timer: NodeJS.Timeout | undefined;
    try {
      return await Promise.race([
        new Promise<T>((give) => {
          this.#listeners.set(call, (message) => {
            const answer = read(message);
            if (answer !== null) give(answer);
          });
        }),
        new Promise<{ readonly broken: string; readonly isTools: boolean }>((give) => {
          timer = setTimeout(() => {
            this.#process.end();
            give({ broken: `it took more than ${milliseconds / 1000} seconds`, isTools: true });
          }, milliseconds);
        }),
        this.#process.ended.then((why) => ({
          broken: `its host process exited: ${why}`,
          isTools: /exited|signal|sent/.test(why),
        })),
      ]);
    } finally {
      clearTimeout(timer);
      this.#listeners.delete(call);
    }
  }

  /** Runs at once while there is room, else in turn. */
  async #inTurn<T>(act: () => Promise<T>, refused: T): Promise<T> {
    if (this.#running + this.#queue.length >= waitingMax) return refused;
    if (this.#running >= callsAtOnceMax) await new Promise<void>((go) => this.#queue.push(go));
    else this.#running++;
    try {
      return await act();
    } finally {
      // The next call takes over this one's place.
      const next = this.#queue.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

function failed(message: string): ToolOutcome {
  return { ok: false, code: "execution_failed", message };
}

function outcomeOf(value: unknown): ToolOutcome {
  const outcome = copyJson(value);
  if (!isJsonObject(outcome)) return failed("its result could not be read");
  const { ok, value: result, code, message } = outcome;
  if (ok === true && result !== undefined) return { ok, value: result };
  const known = useCodeOf(code) ?? "execution_failed";
  return { ok: false, code: known, message: String(message ?? "").slice(0, 2000) };
}
