// A tool call of a client as the gate decides it: the requests that follow from its meaning, also for what is behind links, and the
// names that no tool may change.
import type { HookCall, ToolMeaning } from "../../clients/hooks/hook-call.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Request } from "../../core/authority/request.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { RequestsResult, ToolLookup } from "../../core/gate/known-tool.ts";
import { readRequest } from "../../core/notation/request/request.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import { patternsIn } from "../../tools/shell/admission.ts";
import { readShellInput } from "../../tools/shell/language/shell-input.ts";
import { ExchangeWait } from "../calls/call-input.ts";
import { markTriggers } from "../calls/call-outcome.ts";
import type { Calls } from "../calls/calls.ts";
import type { GatedCall, Gatekeeper } from "../calls/gatekeeper.ts";
import type { BlockReason, Holding } from "../calls/holding.ts";
import type { Contexts } from "../contexts/contexts.ts";
import type { Admission } from "../control/admission.ts";
import type { Opening } from "../opening.ts";
import type { DaemonParts } from "../parts.ts";
import type { Exchange, ProcessMark } from "../rpc/serving.ts";
import type { Session, Sessions } from "../session.ts";
import type { DaemonTools } from "../tools/daemon-tools.ts";
import type { HookOptions } from "./hook-options.ts";

/** What hooks need of the machine. */
export interface HookMachine {
  /** The words that start ambit on this machine. */
  readonly ambit: readonly string[];
  /** How tools of this session may change this path. */
  classOf(session: Session, path: readonly string[]): "free" | "ask" | "never";
  /** With links followed, as far as the path exists; null if that has no single answer. */
  realPath(path: readonly string[]): readonly string[] | null;
  isAlive(mark: ProcessMark): boolean;
}

export interface HooksOptions {
  readonly parts: DaemonParts;
  readonly gatekeeper: Gatekeeper;
  readonly calls: Calls;
  readonly tools: DaemonTools;
  readonly contexts: Pick<Contexts, "denied">;
  readonly opening: Opening;
  readonly sessions: Sessions;
  readonly admission: Admission;
  readonly machine: HookMachine;
}

/** One question with everything its decision needs. */
export interface HookQuestion {
  readonly exchange: Exchange;
  readonly options: HookOptions;
  readonly session: Session;
  readonly call: HookCall;
}

const CHANGING: ReadonlySet<string> = new Set(["fs.write", "fs.delete"]);
const PROC_EXEC = verbEntry("proc.exec");

const PROTECTED: BlockReason = {
  code: "self_modification",
  reason: "tools cannot change this path: programs on this machine obey it, or it contains grants",
};
const OF_AMBIT: BlockReason = { code: "self_modification", reason: "commands of ambit itself are for people" };

export class HookGate {
  readonly #options: HooksOptions;

  constructor(options: HooksOptions) {
    this.#options = options;
  }

  /** The call as it is decided. `root`: what a shell command may do to its folder. */
  async call(
    question: HookQuestion,
    meaning: ToolMeaning,
    root: "ro" | "rw",
    isBare = false,
  ): Promise<Answer<GatedCall>> {
    const { exchange, session, options } = question;
    switch (meaning.kind) {
      case "shell": {
        const input = { script: meaning.script, in: meaning.in, root };
        const { calls, tools } = this.#options;
        const parsed = { tool: "shell", input, waitMilliseconds: options.waitMilliseconds, requests: null };
        const prepared = await calls.resolve(exchange, session, parsed, tools.ours("shell"));
        if (!prepared.ok) return prepared;
        return { ok: true, value: this.#guarded(question, prepared.value, isBare) };
      }
      case "requests":
        return this.#plain(question, meaning.tool, (holding) => this.#requests(meaning.requests, holding));
      case "named":
        // INVARIANT: never the name of a built-in tool: those are granted without being named.
        return this.#plain(question, `tool:${meaning.tool}`, () => done([]));
      case "unreadable":
        return this.#plain(question, `tool:${question.call.tool}`, () => refuse("bad_value", meaning.reason));
      default:
        throw new Error(`${meaning.kind} is not decided`);
    }
  }

  #plain(
    question: HookQuestion,
    tool: string,
    requests: (holding: Holding) => Result<readonly Request[]>,
  ): Answer<GatedCall> {
    const { gatekeeper } = this.#options;
    const { session, exchange, options, call } = question;
    const holding = gatekeeper.holding(session);
    if ("refused" in holding) return { ok: false, code: "unknown_agent", message: holding.refused, fix: holding.fix };
    const ports = gatekeeper.ports(session, holding, new ExchangeWait(exchange, options.waitMilliseconds), call.input);
    const lookup: ToolLookup = (name) => ({ name, requirement: null, requests: () => requests(holding) });
    const marked = markTriggers(lookup, (request) => this.#options.parts.isTrigger(session, request));
    return {
      ok: true,
      value: this.#guarded(question, { session, holding, tool, input: call.input, lookup: marked, ports }, false),
    };
  }

  /** By the path as it is named and, where a link leads elsewhere, by the file that it leads to. */
  #requests(asked: readonly (readonly string[])[], holding: Holding): Result<readonly Request[]> {
    const requests: Request[] = [];
    for (const words of asked) {
      const read = readRequest(words, holding.reading);
      if (!read.ok) return read;
      requests.push(read.value);
    }
    return this.#withTargets(requests, holding);
  }

  #withTargets(requests: readonly Request[], { reading }: Holding): Result<readonly Request[]> {
    const all = [...requests];
    for (const { verb, ...request } of requests) {
      const path = pathOf({ verb, ...request });
      if (path === null) continue;
      const real = this.#options.machine.realPath(path);
      if (real === null) return refuse("bad_value", `links in the path /${path.join("/")} cannot be followed`);
      if (real.length === path.length && real.every((name, at) => name === path[at])) continue;
      const target = readRequest([verb.verb, `/${real.join("/")}`], reading);
      if (!target.ok) return target;
      all.push(target.value);
    }
    return done(all);
  }

  /**
   * Names that no tool may change stay unchanged, whatever is granted. Outside of a sandbox (`isBare`) a script also needs what is
   * behind links, and cannot run ambit: its commands that widen are for people.
   */
  #guarded({ session }: HookQuestion, asked: GatedCall, isBare: boolean): GatedCall {
    const { machine } = this.#options;
    const known = asked.lookup(asked.tool);
    const derived = known?.requests(asked.input);
    if (known === null || derived === undefined || !derived.ok) return asked;
    const all: RequestsResult = !isBare
      ? derived
      : hasPatterns(asked)
        ? { ok: false, code: "unsupported", message: "a pattern is expanded by the client's shell; write the names" }
        : this.#withTargets(derived.value, asked.holding);
    const requests = all.ok ? all.value : derived.value;
    const isKept = requests.some((one) => {
      const path = CHANGING.has(one.verb.verb) ? pathOf(one) : null;
      return path !== null && machine.classOf(session, path) === "never";
    });
    const own = isBare && requests.some(isOfAmbit) ? OF_AMBIT : isKept ? PROTECTED : null;
    const lookup: ToolLookup = (name) => ({ ...known, name, requests: () => all });
    const holding = own === null ? asked.holding : { ...asked.holding, blocked: asked.holding.blocked ?? own };
    return { ...asked, lookup: isBare ? lookup : asked.lookup, holding };
  }
}

function pathOf({ verb, values }: Request): readonly string[] | null {
  const [value] = values;
  if (!verb.verb.startsWith("fs.")) return null;
  return typeof value === "object" && "segments" in value ? value.segments : null;
}

/** The client's shell expands patterns when it runs the script: to which names is not known before. */
function hasPatterns({ tool, input }: GatedCall): boolean {
  if (tool !== "shell") return false;
  const read = readShellInput(input);
  return !read.ok || patternsIn(read.script).length > 0;
}

function isOfAmbit({ verb, values }: Request): boolean {
  if (verb !== PROC_EXEC) return false;
  return values.some((value) => {
    if (typeof value !== "object" || !("segments" in value)) return false;
    return value.segments.some((word) => /(^|\/)ambit(-native)?$/.test(word));
  });
}
