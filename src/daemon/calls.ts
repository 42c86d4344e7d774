// Calls of a session: decided and written first, then carried out by the owner, run in a sandbox, or permitted to the asker.
import type { JsonObject } from "../authority/json.ts";
import { done, refuse } from "../authority/result.ts";
import { decideCall } from "../gate/call.ts";
import { readRequestText } from "../notation/request.ts";
import { requestText } from "../notation/request-printer.ts";
import type { CallDone, CallPermitted, DenialTold, ProgramDone, ProgramRefused } from "../ports/daemon-calls.ts";
import type { Answer } from "../ports/exchange.ts";
import type { RunDenial } from "../ports/process.ts";
import type { ToolLookup } from "../tool/known-tool.ts";
import { denialTold } from "./denials.ts";
import type { CallPorts, Gatekeeper, Waiting } from "./gatekeeper.ts";
import { agentScope } from "./generations.ts";
import type { Holding } from "./holding.ts";
import { numberOr, objectIn, textIn, textsIn } from "./input.ts";
import { type Carried, type OwnerTool, ownerLookup } from "./owner-tool.ts";
import type { DaemonParts } from "./parts.ts";
import { refusal } from "./refusal.ts";
import { secretUse } from "./secret-use.ts";
import type { Exchange } from "./serving.ts";
import type { Session, Sessions } from "./session.ts";

const waitMillisecondsMax = 24 * 3_600_000;
const requestsMax = 64;
const runningMax = 64;
const openReceiptsMax = 4096;

/** A call as it came in, with everything it is decided by. */
interface Asked {
  readonly session: Session;
  readonly holding: Holding;
  readonly tool: string;
  readonly input: JsonObject;
  readonly ports: CallPorts;
  readonly lookup: ToolLookup;
}

export class Calls {
  readonly #parts: DaemonParts;
  readonly #gatekeeper: Gatekeeper;
  readonly #sessions: Sessions;
  readonly #tools: readonly OwnerTool[];
  /** Permitted calls whose outcome is not known yet. */
  readonly #open = new Map<string, CallPorts>();

  constructor(parts: DaemonParts, gatekeeper: Gatekeeper, sessions: Sessions, tools: readonly OwnerTool[]) {
    this.#parts = parts;
    this.#gatekeeper = gatekeeper;
    this.#sessions = sessions;
    this.#tools = tools;
  }

  session({ value, connected }: Exchange): Session | null {
    return this.#sessions.get(textIn(value, "session") ?? "", connected);
  }

  async commit(exchange: Exchange): Promise<Answer<CallPermitted | DenialTold>> {
    const asked = this.#askedIn(exchange);
    if (!asked.ok) return asked;
    const { session, holding, tool, input, lookup, ports } = asked.value;
    const gate = await this.#gatekeeper.authorize(session, holding, { tool, input }, lookup, ports);
    if (!gate.ok) this.#tools.find(({ name }) => name === tool)?.denied?.(input, session);
    if (!gate.ok) return { ok: true, value: denialTold(session, gate) };
    const { receipt } = gate.warrant;
    if (this.#open.size < openReceiptsMax) this.#open.set(`${session.facts.id} ${receipt}`, ports);
    const left = session.left as CallPermitted["left"];
    return { ok: true, value: { outcome: "allowed", receipt, left } };
  }

  /** What became of a call that was permitted; heard once. */
  async settle(exchange: Exchange): Promise<Answer<object>> {
    const session = this.session(exchange);
    const { value } = exchange;
    const receipt = textIn(value, "receipt", 128);
    const ended = textIn(value, "ended", 256);
    const milliseconds = numberOr(value, "milliseconds", 0, 0, Number.MAX_SAFE_INTEGER);
    if (session === null || receipt === null || ended === null || milliseconds === null) return NO_SESSION;
    const key = `${session.facts.id} ${receipt}`;
    const ports = this.#open.get(key);
    this.#open.delete(key);
    if (ports === undefined) return refusal("invalid_input", "there is no call of this session with that receipt");
    if (value["isUntrusted"] === true) session.taint(`result of a call (${receipt})`);
    const wallMicroseconds = milliseconds * 1000;
    await ports.settle({ receipt, ended, denials: [], enforcement: [], wallMicroseconds });
    return { ok: true, value: {} };
  }

  async carry(exchange: Exchange): Promise<Answer<CallDone | DenialTold>> {
    const asked = this.#askedIn(exchange);
    if (!asked.ok) return asked;
    const { session, holding, tool, input, lookup, ports } = asked.value;
    const owner = this.#tools.find(({ name }) => name === tool);
    const gate = await this.#gatekeeper.authorize(session, holding, { tool, input }, lookup, ports);
    if (!gate.ok) owner?.denied?.(input, session);
    if (!gate.ok) return { ok: true, value: denialTold(session, gate) };
    const { receipt, requests, arguments: decided } = gate.warrant;
    const carried: Carried =
      owner === undefined
        ? { ok: false, code: "not_available", message: `${tool} is not carried out here` }
        : this.#holdsSecret(decided)
          ? {
              ok: false,
              code: "secret_refused",
              message: "a secret is used by its handle and never handed over itself",
            }
          : await owner.carry(decided, session, requests);
    if (carried.ok && carried.isUntrusted) session.taint(`${tool} (${receipt})`);
    const ended = carried.ok ? "done" : `failed ${carried.code}`;
    const refused = carried.ok ? undefined : carried.denied;
    const denials = refused === undefined ? [] : [deniedOnTheWay(refused)];
    void ports.settle({ receipt, ended, denials, enforcement: [], wallMicroseconds: 0 });
    if (!carried.ok && refused !== undefined) {
      const reason = this.#parts.redacting.text(carried.message);
      return { ok: true, value: denialTold(session, { ...refused, approval: null, reason, receipt }) };
    }
    if (!carried.ok) return refusal(carried.code, carried.message);
    return { ok: true, value: { outcome: "done", receipt, result: this.#parts.redacting.json(carried.value) } };
  }

  /** What is kept for an agent, or sent for one, must not hold a secret that somebody found. */
  #holdsSecret(input: JsonObject): boolean {
    const { redacting, canonical } = this.#parts;
    return canonical(redacting.json(input)) !== canonical(input);
  }

  async run(exchange: Exchange): Promise<Answer<ProgramDone | ProgramRefused | DenialTold>> {
    const asked = this.#askedIn(exchange);
    if (!asked.ok) return asked;
    const { session, holding, tool, input, ports } = asked.value;
    const { programs, kept } = this.#parts;
    if (!programs.isProgram(tool)) return refusal("not_available", `${tool} does not run a program`);
    if (session.running.size >= runningMax) return refusal("not_available", "this session runs too much at once");
    const stop = (): void => exchange.stop();
    session.running.add(stop);
    session.calls++;
    try {
      const { name, id, cwd, environment } = session.facts;
      const result = await programs.run(
        {
          caller: { agent: name.agent, authority: holding.authority },
          owner: agentScope(name),
          holds: () => {
            const by = session.isClosed ? null : this.#gatekeeper.holdings.of(session);
            return by === null || "refused" in by ? [] : by.authority;
          },
          session: id,
          generation: kept.ledger.generation("all"),
          cwd,
          environment,
          ground: holding.reading.ground,
          moment: ports.moment,
          approvals: ports.approvals,
          commit: async (entry) => {
            const written = await ports.commit(entry);
            // What a program reads is nobody's to know, and its output is heard while it runs: not to be believed from here on.
            if (entry.outcome === "allow" && written.ok) session.taint(`output of a program (${written.receipt})`);
            return written;
          },
          settle: ports.settle,
          useSecret: secretUse(session, holding, ports),
          tool,
          input,
          milliseconds: numberOr(exchange.value, "milliseconds", 0, 1, waitMillisecondsMax) || null,
        },
        exchange,
      );
      return { ok: true, value: programAnswer(session, result) };
    } finally {
      session.running.delete(stop);
    }
  }

  consider(exchange: Exchange): Answer<object> {
    const asked = this.#askedIn(exchange);
    if (!asked.ok) return asked;
    const { session, holding, tool, input, lookup, ports } = asked.value;
    const caller = { agent: session.facts.name.agent, authority: holding.authority };
    const { protectedPaths } = holding.reading.ground;
    const decision = decideCall(caller, { tool, input }, lookup, ports.moment(), protectedPaths);
    return { ok: true, value: { outcome: decision.outcome, code: decision.outcome === "deny" ? decision.code : null } };
  }

  #askedIn(exchange: Exchange): Answer<Asked> {
    const { value } = exchange;
    const session = this.session(exchange);
    if (session === null) return NO_SESSION;
    const tool = textIn(value, "tool", 256);
    const input = objectIn(value, "input");
    const wait = numberOr(value, "waitMilliseconds", 0, 0, waitMillisecondsMax);
    const requests = value["requests"] ?? null;
    const texts = requests === null ? null : textsIn(value, "requests", requestsMax);
    if (tool === null || input === null || wait === null || (requests !== null && texts === null))
      return refusal("invalid_input", "a call is the name of a tool and an object");
    const holding = this.#gatekeeper.holdings.of(session);
    if ("refused" in holding) return refusal("unknown_agent", holding.refused, holding.fix);
    const waiting: Waiting = {
      milliseconds: wait,
      onStop: (ring) => exchange.onStop(ring),
      asked: (approval) => exchange.tell({ waiting: approval }),
    };
    const ports = this.#gatekeeper.ports(session, holding, waiting);
    return { ok: true, value: { session, holding, tool, input, ports, lookup: this.#lookup(session, holding, texts) } };
  }

  /** Tools of ours by their own derivation; a tool of the asker's by what it says it asks for, which can only add. */
  #lookup(session: Session, holding: Holding, texts: readonly string[] | null): ToolLookup {
    const owner = ownerLookup(this.#tools, holding.reading, session);
    const ours = this.#parts.tools(holding.reading.ground);
    return (name) => {
      const known = owner(name) ?? ours(name);
      if (known !== null || texts === null) return known;
      return {
        name,
        requirement: null,
        requests: () => {
          const read = texts.map((text) => readRequestText(text, holding.reading));
          const requests = read.flatMap((one) => (one.ok ? [one.value] : []));
          return requests.length === texts.length ? done(requests) : refuse("bad_value", "a request is not understood");
        },
      };
    };
  }
}

function deniedOnTheWay({ code, request }: NonNullable<Extract<Carried, { ok: false }>["denied"]>): RunDenial {
  return { code, request: request === null ? "" : requestText(request), times: 1 };
}

const NO_SESSION = refusal("unknown_session", "this connection has no such session", "open a session first");

function programAnswer(
  session: Session,
  result: Awaited<ReturnType<DaemonParts["programs"]["run"]>>,
): ProgramDone | ProgramRefused | DenialTold {
  const request = result.request === null ? null : requestText(result.request);
  if (!result.ok) {
    const { code, message, fix } = result.refused;
    if (result.denial !== null) return denialTold(session, { code, request: result.request, ...result.denial });
    return { outcome: "refused", code, message, fix, request };
  }
  const { ending, usage, denials, enforcement, outputDropped } = result.ran;
  return {
    outcome: "ran",
    receipt: result.receipt,
    request: request ?? "",
    ending,
    usage,
    denials,
    enforcement,
    outputDropped,
  };
}
