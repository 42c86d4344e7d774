// The approval approvalRequests: sends approval requests to people, passes answers to waiting calls, and counts uses.
import { specsCover } from "../../approvals/cover.ts";
import { callDigest } from "../../approvals/digest.ts";
import { mayAsk } from "../../approvals/flood.ts";
import { ladderOf } from "../../approvals/ladder.ts";
import {
  agree,
  answersMissing,
  approvalAt,
  newApproval as askedFor,
  changeOf,
  end,
  type LifecycleChange,
  refuse,
  reopen,
} from "../../approvals/lifecycle.ts";
import { answeredLevel, type CurrentCall, serves } from "../../approvals/serving.ts";
import type { Request } from "../../core/authority/request.ts";
import { onAbort } from "../../core/base/abort.ts";
import { textIn } from "../../core/base/fields.ts";
import { SerialQueue } from "../../core/base/serial-queue.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { readRequestText } from "../../core/notation/request/request.ts";
import { requestIdentity, requestText } from "../../core/notation/request/request-printer.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../../core/ports/approvals.ts";
import type { LadderStep } from "../../core/ports/daemon/daemon-control.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { Approval, ApprovalBinding, ApproverAnswer } from "../../core/ports/stores/approval-store.ts";
import type { ApprovalClaim } from "../../core/ports/stores/ledger.ts";
import type { AgentName } from "../../core/ports/stores/link-store.ts";
import { type Entries, loggedRequestText } from "../log/entries.ts";
import type { DaemonParts } from "../parts.ts";
import type { Session } from "../session.ts";
import type { ApprovalWait } from "./call-input.ts";
import { agentScope, MACHINE_SCOPE } from "./generations.ts";
import type { Holding } from "./holding.ts";

const questionMilliseconds = 24 * 3_600_000;
const questionCharactersMax = 65_536;
const refusedLookedAtMax = 1000;

export interface ApprovalResult {
  readonly answer: ApprovalAnswer;
  readonly claim: ApprovalClaim | null;
}

/** INVARIANT: a caller that is told to wait for an approval waits for one that exists. */
function unavailable(reason: string): ApprovalResult {
  return { answer: { kind: "unavailable", reason }, claim: null };
}

const NO_STORE = "the store of approvals did not respond";

const STALE = refusal(
  "revoked",
  "its agent was stopped, or everything was frozen, after it was requested: approving it would allow nothing",
  "let the agent repeat the call",
);

export class ApprovalRequests {
  readonly #parts: DaemonParts;
  readonly #entries: Entries;
  readonly #watchers = new Set<(approval: Approval) => void>();
  readonly #queue = new SerialQueue();

  constructor(parts: DaemonParts, entries: Entries) {
    this.#parts = parts;
    this.#entries = entries;
  }

  /** Reports every change of an approval, until the returned function is called. */
  watch(watcher: (approval: Approval) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  async ask(
    session: Session,
    holding: Holding,
    question: ApprovalRequest,
    waiting: ApprovalWait,
  ): Promise<ApprovalResult> {
    const { stores, now, id, redacting } = this.#parts;
    const { call, binding } = await this.#callOf(session, question);
    const served = this.#served(session, call, holding.reading);
    if (served !== null) return served;
    const no = await this.#refusedBefore(call);
    if (no === "unknown") return unavailable(NO_STORE);
    if (no !== null) return { answer: { kind: "refused", reason: no.reason ?? "", approval: no.id }, claim: null };
    const { name } = session.facts;
    const open = stores.approvals.pending(name.workspace, name.agent).filter(({ expires }) => now() < expires);
    const room = mayAsk(open, call.digest);
    if (!room.ok) return unavailable(room.message);
    // A request that is too long to read cannot be approved, and must not crowd out other requests.
    if (this.#parts.canonical(question.input).length > questionCharactersMax)
      return unavailable(
        `the arguments are longer than the ${questionCharactersMax} characters that can be shown to a person`,
      );
    const approval = askedFor({
      id: id("a"),
      who: session.who(holding.links[0] ?? []),
      tool: question.tool,
      pin: call.pin,
      binding: binding === null ? null : this.#redactedBinding(binding),
      digest: call.digest,
      generation: call.generation,
      level: question.level,
      arguments: redacting.json(question.input),
      requests: question.requests.map((request) => redacting.text(requestText(request))),
      asking: question.asking.map((request) => redacting.text(requestText(request))),
      asked: now(),
      approvers: holding.approvers,
      milliseconds: questionMilliseconds,
    });
    const entry = this.#entryOf(approval, "asked", null);
    const asking = await stores.approvals.ask(approval, entry);
    if (!asking.ok) return unavailable(NO_STORE);
    this.#tell(asking.value);
    if (waiting.milliseconds <= 0) return { answer: { kind: "pending", approval: asking.value.id }, claim: null };
    waiting.asked(asking.value.id);
    const decided = await this.#decided(asking.value.id, waiting);
    if (decided?.state === "refused")
      return { answer: { kind: "refused", reason: decided.reason ?? "", approval: decided.id }, claim: null };
    // Grants may have changed while the person decided: look for a usable approval again.
    const again =
      decided?.state === "approved"
        ? this.#served(session, (await this.#callOf(session, question)).call, holding.reading)
        : null;
    return again ?? { answer: { kind: "pending", approval: asking.value.id }, claim: null };
  }

  async show(idOf: string): Promise<Answer<{ readonly approval: Approval; readonly ladder: readonly LadderStep[] }>> {
    const found = await this.#parts.stores.approvals.get(idOf);
    if (!found.ok) return refusal(found.code, found.message);
    if (found.value === null) return refusal("unknown_approval", `no approval ${JSON.stringify(idOf.slice(0, 80))}`);
    const approval = approvalAt(found.value, this.#parts.now());
    return { ok: true, value: { approval, ladder: this.#ladderOf(approval) } };
  }

  /** Answers are handled one at a time, so two concurrent approvers both count. */
  approve(
    idOf: string,
    answer: ApproverAnswer,
  ): Promise<Answer<{ readonly approval: Approval; readonly missing: number }>> {
    return this.#queue.run(() => this.#approve(idOf, answer));
  }

  async #approve(
    idOf: string,
    answer: ApproverAnswer,
  ): Promise<Answer<{ readonly approval: Approval; readonly missing: number }>> {
    const shown = await this.show(idOf);
    if (!shown.ok) return shown;
    const { approval, ladder } = shown.value;
    if (approval.state === "pending" && this.#isStale(approval)) return STALE;
    const changed = await this.#change(approval, agree(approval, answer, ladder), ["pending"], "approved", answer.by);
    return changed.ok
      ? { ok: true, value: { approval: changed.value, missing: answersMissing(changed.value) } }
      : changed;
  }

  /** Its agent was stopped, or everything was frozen, since it asked: no call has that generation any more. */
  #isStale({ who: { workspace, agent, user }, generation }: Approval): boolean {
    if (agent === null) return false;
    const names = [{ workspace, agent }, ...(user === null ? [] : [{ workspace, agent, user }])];
    return !names.some((name) => this.#generationOf(name) === generation);
  }

  /** Both only increase, so an equal sum means neither changed. */
  #generationOf(name: AgentName): number {
    const { ledger } = this.#parts.stores;
    return ledger.generation(MACHINE_SCOPE) + ledger.generation(agentScope(name));
  }

  async refuse(idOf: string, reason: string, by: string): Promise<Answer<{ readonly approval: Approval }>> {
    const shown = await this.show(idOf);
    if (!shown.ok) return shown;
    const { approval } = shown.value;
    const changed = await this.#change(approval, refuse(approval, reason), ["pending", "approved"], "refused", by);
    return changed.ok ? { ok: true, value: { approval: changed.value } } : changed;
  }

  /** Withdraws a refusal: the approval is pending again, without its earlier answers. */
  async reopen(idOf: string, by: string): Promise<Answer<{ readonly approval: Approval }>> {
    const shown = await this.show(idOf);
    if (!shown.ok) return shown;
    const { approval } = shown.value;
    const life = reopen(approval, this.#parts.now());
    const changed = await this.#change(approval, life, ["refused"], "reopened", by);
    return changed.ok ? { ok: true, value: { approval: changed.value } } : changed;
  }

  /** The outcome of its last use. */
  async settled(idOf: string, ended: string): Promise<void> {
    const found = await this.#parts.stores.approvals.get(idOf);
    if (!found.ok || found.value === null || found.value.state !== "executing") return;
    const how = ended === "done" || ended.startsWith("exited ") || ended.startsWith("signalled ") ? "done" : "failed";
    await this.#change(found.value, end(found.value, how), ["executing"], how, null);
  }

  /** Marks expired requests and approvals, once. */
  async sweep(): Promise<void> {
    const { stores, now } = this.#parts;
    const open = await stores.approvals.list(["pending", "approved"], refusedLookedAtMax);
    for (const approval of open.ok ? open.value : []) {
      const old = approvalAt(approval, now());
      if (old.state === "expired")
        await this.#change(approval, { ok: true, approval: old }, ["pending", "approved"], "expired", null);
    }
  }

  #ladderOf({ asking, who }: Approval): readonly LadderStep[] {
    const reading = this.#parts.records.readingAt(who.workspace ?? "/");
    const requests: Request[] = [];
    for (const text of asking) {
      const read = readRequestText(text, reading);
      if (!read.ok) return ladderOf([], reading);
      requests.push(read.value);
    }
    return ladderOf(requests, reading);
  }

  async #change(
    approval: Approval,
    life: LifecycleChange,
    from: readonly Approval["state"][],
    outcome: string,
    by: string | null,
  ): Promise<Answer<Approval>> {
    if (!life.ok) return refusal(life.code, life.message);
    const entry = this.#entryOf(life.approval, outcome, by);
    const changed = await this.#parts.stores.approvals.change(approval.id, from, changeOf(life.approval), entry);
    if (!changed.ok) return refusal(changed.code, changed.message);
    if (changed.value === null) return refusal("not_pending", "another person answered it in the meantime");
    this.#tell(changed.value);
    return { ok: true, value: changed.value };
  }

  #entryOf(approval: Approval, outcome: string, by: string | null): ReturnType<Entries["make"]> {
    const { id, who, tool, level, reason, need, answers } = approval;
    const logged = (texts: readonly string[]): readonly string[] => texts.map((text) => loggedRequestText(tool, text));
    const [requests, asking] = [logged(approval.requests), logged(approval.asking)];
    const more = { requests, asking, level, reason, by, need, agreed: answers.length, expires: approval.expires };
    return this.#entries.make("approval", who, outcome, { tool, of: id, more });
  }

  #redactedBinding({ bound, unbound }: ApprovalBinding): ApprovalBinding {
    const clean = (text: string): string => this.#parts.redacting.text(text);
    return { bound: bound.map(clean), unbound: unbound.map(clean) };
  }

  async #callOf(
    session: Session,
    { tool, input, requests, asking, level }: ApprovalRequest,
  ): Promise<{ readonly call: CurrentCall; readonly binding: ApprovalBinding | null }> {
    const { digest, canonical, pin } = this.#parts;
    const { name } = session.facts;
    const generation = this.#generationOf(name);
    const pinned = await pin({ workspace: name.workspace, tool, input, requests });
    const identity = {
      workspace: name.workspace,
      agent: name.agent,
      tool,
      pin: pinned.digest,
      generation,
      arguments: input,
      asking: asking.map(requestIdentity),
    };
    const whole = digest(`${session.facts.user ?? ""}\n${callDigest(digest, canonical, identity)}`);
    const profile = textIn(input, "profile");
    return { call: { ...identity, digest: whole, level, asking, profile }, binding: pinned.binding };
  }

  /** An approval for one user's call does not cover another user. */
  #served({ facts }: Session, call: CurrentCall, reading: Reading): ApprovalResult | null {
    const { stores, now } = this.#parts;
    const covers = specsCover(reading);
    const found = stores.approvals
      .usable(call.workspace, call.agent, now())
      .find(({ who, ...rest }) => who.user === facts.user && serves({ who, ...rest }, call, now(), covers));
    const level = found === undefined ? 0 : answeredLevel(found);
    if (found === undefined || level === 0) return null;
    const isExact = found.scope.kind === "exact";
    const claim = { approval: found.id, digest: call.digest, isExact, generation: call.generation };
    return { answer: { kind: "approved", approval: found.id, level }, claim };
  }

  /** A refusal lasts as long as the request would have been open: asking again does not bypass it. */
  async #refusedBefore({ digest }: CurrentCall): Promise<Approval | null | "unknown"> {
    const { stores, now } = this.#parts;
    const refused = await stores.approvals.list(["refused"], refusedLookedAtMax);
    // If it is unknown whether a person refused, no request is created.
    if (!refused.ok) return "unknown";
    return refused.value.find((one) => one.digest === digest && now() < one.expires) ?? null;
  }

  #decided(idOf: string, waiting: ApprovalWait): Promise<Approval | null> {
    return new Promise((give) => {
      const done = (approval: Approval | null): void => {
        stop();
        clearTimeout(timer);
        give(approval);
      };
      const stop = this.watch((approval) => {
        if (approval.id === idOf && approval.state !== "pending") done(approval);
      });
      const timer = setTimeout(() => done(null), Math.min(waiting.milliseconds, questionMilliseconds));
      if (waiting.signal !== null) onAbort(waiting.signal, () => done(null));
      // An answer that arrived before this listener was added would otherwise be missed.
      void this.#parts.stores.approvals.get(idOf).then((found) => {
        if (found.ok && found.value !== null && found.value.state !== "pending") done(found.value);
      });
    });
  }

  #tell(approval: Approval): void {
    for (const watcher of [...this.#watchers]) watcher(approval);
  }
}
