// Questions of clients' hooks: each tool call of a client is decided and logged like a call of our own tools, and answered in the
// client's own words. INVARIANT: whatever goes wrong, the answer is a denial.

import { SERVER_NAME } from "../../clients/connect/server-entry.ts";
import {
  blockAnswer,
  CANARY_TOOL,
  denialText,
  type HookAnswer,
  type HookCall,
  type HookVerdict,
  leftToClient,
  PASSED,
  SHADOW_CANARY,
  type ToolMeaning,
} from "../../clients/hooks/hook-call.ts";
import { rewrittenCommand } from "../../clients/hooks/rewrite.ts";
import type { Request } from "../../core/authority/request.ts";
import { parseAgentId } from "../../core/base/agent-id.ts";
import { textIn, textsIn } from "../../core/base/fields.ts";
import { isJsonObject } from "../../core/base/json.ts";
import type { CallDecision } from "../../core/gate/call-decision.ts";
import { chargesOf } from "../../core/gate/decide.ts";
import { parseJson } from "../../core/notation/json-reader.ts";
import { compactText } from "../../core/notation/printer.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import { denialOf, previewCall } from "../calls/call-outcome.ts";
import type { GatedCall } from "../calls/gatekeeper.ts";
import type { Holding } from "../calls/holding.ts";
import { enforcementOf } from "../log/call-report.ts";
import type { Exchange } from "../rpc/serving.ts";
import type { Session } from "../session.ts";
import { HookGate, type HookQuestion, type HooksOptions } from "./hook-gate.ts";
import { type HookOptions, readHookOptions } from "./hook-options.ts";
import { type HookConversation, HookSessions } from "./hook-sessions.ts";
import { isWithinCeilings } from "./shadow.ts";

const wordsMax = 16;
const heldShownMax = 6;

export class Hooks {
  readonly #asked: HooksOptions;
  readonly #gate: HookGate;
  readonly sessions: HookSessions;

  constructor(asked: HooksOptions) {
    const { opening, sessions, admission, machine } = asked;
    this.#asked = asked;
    this.#gate = new HookGate(asked);
    this.sessions = new HookSessions(opening, sessions, admission, (mark) => machine.isAlive(mark));
  }

  /** Channel 1 is the hook's output, 2 its errors, 3 its exit status: the program that asks reads no JSON. */
  async decide(exchange: Exchange): Promise<Answer<object>> {
    let answer: HookAnswer;
    try {
      answer = await this.#answer(exchange);
    } catch (error) {
      this.#asked.parts.note(
        `a hook failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
      answer = blockAnswer("ambit: the call is blocked: this is a mistake in ambit; see `ambit daemon logs`\n");
    }
    if (answer.stdout !== "") await exchange.send(1, Buffer.from(answer.stdout));
    if (answer.stderr !== "") await exchange.send(2, Buffer.from(answer.stderr));
    await exchange.send(3, Uint8Array.of(answer.status));
    return { ok: true, value: {} };
  }

  async #answer(exchange: Exchange): Promise<HookAnswer> {
    const { value } = exchange;
    const [cwd, words] = [textIn(value, "cwd", 4096), textsIn(value, "words", wordsMax)];
    const text = textIn(value, "text", inputCharactersMax);
    if (cwd === null || !cwd.startsWith("/") || words === null || text === null) return unread("it is not a tool call");
    const options = readHookOptions(words);
    if (!options.ok) return unread(options.message);
    const { dialect } = options.value;
    const parsed = parseJson(text);
    if (!parsed.ok || !isJsonObject(parsed.value))
      return unread(`the input is not one JSON object${parsed.ok ? "" : `: ${parsed.message}`}`);
    const event = dialect.read(parsed.value);
    if (!event.ok) return unread(event.message);
    if (event.value.kind !== "call") return PASSED;
    const call = event.value;
    if (call.meaning.kind === "inner") return dialect.answer(call, { outcome: "none" });
    const left = await this.#leftToServer(exchange, options.value, call, cwd);
    if (left !== null) return dialect.answer(call, left);
    const opened = await this.#session(exchange, options.value, call, cwd);
    if (!opened.ok) {
      const reason = `ambit: the call is blocked: ${opened.message}${opened.fix === null ? "" : `; ${opened.fix}`}\n`;
      return dialect.answer(call, { outcome: "deny", reason });
    }
    const question: HookQuestion = { exchange, options: options.value, session: opened.value, call };
    const answer = dialect.answer(call, await this.#verdict(question));
    // The process that tries a hook is no client: a session would keep its terminal from being a person's.
    if (call.session === CANARY_TOOL) await this.sessions.end(exchange, options.value, conversationOf(call));
    return answer;
  }

  /**
   * A sub-agent that is called like a record has that record, within what the client's agent holds; every other one has the
   * session of the client's agent.
   */
  async #session(exchange: Exchange, options: HookOptions, call: HookCall, cwd: string): Promise<Answer<Session>> {
    const { subagent } = call;
    const conversation = conversationOf(call);
    const opened = await this.sessions.of(exchange, options, conversation, cwd);
    // One session for a trial, which ends with its answer.
    if (conversation.isTrial) return opened;
    if (!opened.ok || subagent === null || !this.#hasOwnRecord(options, call, opened.value.facts.cwd)) return opened;
    const own = await this.sessions.of(exchange, { ...options, agent: subagent }, conversation, cwd);
    if (own.ok) this.#asked.gatekeeper.holdings.confine(own.value, opened.value);
    return own;
  }

  #hasOwnRecord(options: HookOptions, { subagent }: HookCall, cwd: string): boolean {
    if (subagent === null || subagent === options.agent || !parseAgentId(subagent).ok) return false;
    return this.#asked.parts.records.record(cwd, subagent).ok;
  }

  /**
   * A call of our own MCP server, which decides it; null for every other call. INVARIANT: the rest of the name is exactly a tool of that
   * server, and where the client names the server, it is ours. Where it does not, and another server's name and its tool's could read
   * the same, the client's own rules have the answer. A sub-agent with a record of its own is judged by it: the server has only that
   * of the client's agent.
   */
  async #leftToServer(
    exchange: Exchange,
    options: HookOptions,
    call: HookCall,
    cwd: string,
  ): Promise<HookVerdict | null> {
    const prefix = options.dialect.serverTools;
    if (call.meaning.kind !== "named" || prefix === null || !call.tool.startsWith(prefix)) return null;
    const server = this.sessions.ownServer(exchange, options);
    if (server === null || this.#hasOwnRecord(options, call, options.folder ?? cwd)) return null;
    const rest = call.tool.slice(prefix.length);
    const tool = await this.#asked.tools.named(server, rest);
    if (tool?.name !== rest) return null;
    if (call.server !== undefined && (call.server.server !== SERVER_NAME || call.server.tool !== rest)) return null;
    // Without the separator in the rest there is one way to read the name.
    const [separator = ""] = /[_-]+$/.exec(prefix) ?? [];
    const isCertain = call.server !== undefined || !rest.includes(separator);
    return isCertain ? { outcome: "allow", input: null } : { outcome: "none" };
  }

  async #verdict(question: HookQuestion): Promise<HookVerdict> {
    const { options, call } = question;
    const { meaning } = call;
    const { rewrites } = options.dialect;
    // In the sandbox a command could fail that shadow mode must not stop.
    if (meaning.kind === "shell" && options.isConfined && rewrites !== null && this.#shadow(question) === null)
      return this.#confined(question, meaning, rewrites);
    const asked = await this.#gate.call(question, meaning, "rw", true);
    if (!asked.ok) return { outcome: "deny", reason: `ambit: ${asked.message}\n` };
    return this.#decided(question, asked.value);
  }

  /**
   * The command becomes a call of our `shell` tool, which decides, charges and logs it, and runs it in the agent's sandbox. Here
   * it is only looked at, so that what cannot be allowed is denied at once; a writable root is used where the grants have one.
   */
  async #confined(
    question: HookQuestion,
    meaning: Extract<ToolMeaning, { readonly kind: "shell" }>,
    rewrites: string,
  ): Promise<HookVerdict> {
    const { options, call, session } = question;
    for (const root of ["rw", "ro"] as const) {
      const asked = await this.#gate.call(question, meaning, root);
      if (!asked.ok || previewCall(asked.value, asked.value.lookup).outcome === "deny") continue;
      if (call.isPrompting) return { outcome: "none" };
      const command = rewrittenCommand(this.#asked.machine.ambit, {
        agent: session.facts.asked,
        session: session.facts.id,
        input: { script: meaning.script, in: meaning.in, root },
        waitSeconds: Math.floor(options.waitMilliseconds / 1000),
      });
      return { outcome: "allow", input: { ...call.input, [rewrites]: command } };
    }
    // Denied either way: by the smaller of the two requests.
    const asked = await this.#gate.call(question, meaning, "ro");
    if (!asked.ok) return { outcome: "deny", reason: `ambit: ${asked.message}\n` };
    return this.#decided(question, asked.value);
  }

  /** INVARIANT: after its end, and without a valid configuration of the user, calls are enforced. */
  #shadow({ session }: HookQuestion): { readonly root: readonly string[] | null } | null {
    const { records, now } = this.#asked.parts;
    const shadow = records.shadow?.(session.facts.name.agent) ?? null;
    return shadow !== null && now() < shadow.end ? shadow : null;
  }

  /** Recorded as a denial that would have been; what cannot be recorded is denied. */
  async #shadowed(asked: GatedCall, isCanary: boolean): Promise<HookVerdict> {
    const ports = portsOf(asked);
    const gate = await this.#asked.gatekeeper.permit({
      ...asked,
      ports: {
        ...ports,
        approvals: async () => ({ kind: "unavailable", reason: "shadow mode requests no approvals" }),
        commit: (entry) => ports.commit(entry.outcome === "deny" ? { ...entry, isShadow: true } : entry),
      },
    });
    // The one who tries the hook is told why it blocks nothing.
    if (isCanary) return { outcome: "deny", reason: `${SHADOW_CANARY}: calls are recorded and not blocked\n` };
    if (gate.ok || gate.receipt !== null) return { outcome: "none" };
    return { outcome: "deny", reason: "ambit: the decision cannot be recorded, so the call is blocked\n" };
  }

  async #decided(question: HookQuestion, asked: GatedCall): Promise<HookVerdict> {
    const { options, call } = question;
    const { gatekeeper, contexts } = this.#asked;
    const preview = previewCall(asked, asked.lookup);
    const shadow = preview.outcome === "allow" || call.isPrompting ? null : this.#shadow(question);
    if (shadow !== null) {
      const derived = asked.lookup(asked.tool)?.requests(asked.input);
      const requests = derived?.ok === true ? derived.value : null;
      if (isWithinCeilings(asked.holding, shadow.root, requests, asked.ports.moment()))
        return this.#shadowed(asked, call.session === CANARY_TOOL);
    }
    if (call.isPrompting && preview.outcome !== "deny") return { outcome: "none" };
    if (call.canPrompt && isForPrompt(preview, asked.holding)) {
      const reason = leftToClient(options.dialect.client);
      const approvals = async () => ({ kind: "unavailable", reason }) as const;
      const ports = { ...portsOf(asked), approvals };
      await gatekeeper.permit({ ...asked, ports });
      return { outcome: "ask", reason: `ambit: ${call.tool} needs approval` };
    }
    const gate = await gatekeeper.permit(asked);
    if (gate.ok) {
      const requests = preview.outcome === "deny" ? [] : preview.requests;
      const enforcement = enforcementOf(requests, []);
      // The client executes it: how that ends is not known here.
      asked.ports.settleLater({
        ...{ receipt: gate.receipt, ended: "passed to the client", denials: [], enforcement, wallMicroseconds: 0 },
      });
      return { outcome: "allow", input: null };
    }
    const denial = denialOf({ ...asked, owner: null }, gate, contexts);
    const view = denial.ok ? denial.value : null;
    if (view === null) return { outcome: "deny", reason: "ambit: the call is denied\n" };
    const held = gate.code === "scope_violation" ? heldFor(asked.holding, gate.request) : [];
    return { outcome: "deny", reason: `${denialText(call.tool, view, held)}\n` };
  }
}

const inputCharactersMax = 1_048_576;

function unread(why: string): HookAnswer {
  return blockAnswer(`ambit: the call is blocked: ${why}\n`);
}

/** Delegates member by member: the object has private state. */
function portsOf({ ports }: GatedCall): GatedCall["ports"] {
  return {
    ...{ profile: ports.profile, waiting: ports.waiting },
    approvals: (question) => ports.approvals(question),
    commit: (entry) => ports.commit(entry),
    settle: (outcome) => ports.settle(outcome),
    settleLater: (outcome) => ports.settleLater(outcome),
    moment: (cost) => ports.moment(cost),
    costLeft: (charges) => ports.costLeft(charges),
    refused: (refusal) => ports.refused(refusal),
  };
}

/**
 * Whether the client's own prompt can answer: any one person may, without presence, and nothing is counted, because what the
 * prompt decided does not come back here.
 */
function isForPrompt(decision: CallDecision, { approvers, needsReview }: Holding): boolean {
  if (decision.outcome !== "ask" || decision.level !== 1 || needsReview) return false;
  return approvers.need === 1 && approvers.of === null && chargesOf(decision).length === 0;
}

/** What the agent's own record grants of this verb. */
function heldFor({ authority }: Holding, request: Request | null): readonly string[] {
  if (request === null) return [];
  const grants = authority.flatMap((chain) => chain.slice(0, 1).flatMap(({ link }) => link.grants));
  const texts = grants.filter(({ verb }) => verb === request.verb).map(compactText);
  return [...new Set(texts)].slice(0, heldShownMax);
}

function conversationOf({ session, tool }: HookCall): HookConversation {
  return { id: session, isTrial: session === CANARY_TOOL && tool === CANARY_TOOL };
}
