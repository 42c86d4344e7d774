// One call of a session, from request to receipt: the gate decides, a person is asked if required, and the decision is on disk
// with all its charges before the result is reported.
import type { Moment } from "../../core/authority/compiled.ts";
import { judge } from "../../core/authority/judge.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { type Authorization, authorize, permit } from "../../core/gate/call.ts";
import type { Caller } from "../../core/gate/decide.ts";
import type { ToolLookup } from "../../core/gate/known-tool.ts";
import type { ApprovalRequest } from "../../core/ports/approvals.ts";
import type { Charge, CommitResult, Entry, Outcome } from "../../core/ports/stores/commit.ts";
import type { Cost } from "../../core/ports/stores/ledger.ts";
import type { LogEntry, Who } from "../../core/ports/stores/log.ts";
import { denialObservation, taintOf } from "../log/denials.ts";
import type { Entries } from "../log/entries.ts";
import type { Floods } from "../log/floods.ts";
import type { DaemonParts } from "../parts.ts";
import type { Session } from "../session.ts";
import { Accounts, chargesIn, HoldingMoments } from "./accounts.ts";
import type { ApprovalRequests } from "./approval-requests.ts";
import { Budgets, budgetCharges } from "./budgets.ts";
import type { ApprovalWait } from "./call-input.ts";
import { type CallPorts, type CallRefusal, SessionCall, type SessionCallActions } from "./call-ports.ts";
import { type BlockReason, type Holding, Holdings } from "./holding.ts";
import type { Reservation } from "./reservation.ts";

/** Shorter than the time until a client's next call. */
const outcomeDelayMilliseconds = 10;

/** A call with everything its decision needs. */
export interface GatedCall {
  readonly session: Session;
  readonly holding: Holding;
  readonly tool: string;
  readonly input: JsonObject;
  readonly lookup: ToolLookup;
  readonly ports: CallPorts;
  /** For a call with a cost: it is reserved in the commit of the decision. */
  readonly reservation?: Reservation | null;
}

export class Gatekeeper {
  readonly #parts: DaemonParts;
  readonly #approvalRequests: ApprovalRequests;
  readonly #floods: Floods;
  readonly #accounts: Accounts;
  readonly #budgets: Budgets;
  readonly entries: Entries;
  readonly holdings: Holdings;
  /** The same holding object means equal holdings. */
  readonly #momentsByHolding = new WeakMap<Holding, HoldingMoments>();
  readonly #acts: SessionCallActions;
  /** While set, every call is denied. */
  isFrozen: boolean;
  /** Outcomes of ended calls without a waiting client. */
  #outcomes: (readonly [SessionCall, Outcome])[] = [];

  constructor(parts: DaemonParts, approvalRequests: ApprovalRequests, floods: Floods, entries: Entries) {
    this.#parts = parts;
    this.#approvalRequests = approvalRequests;
    this.#floods = floods;
    this.#accounts = new Accounts(parts.digest);
    this.#budgets = new Budgets(parts);
    this.entries = entries;
    this.holdings = new Holdings(parts.records, parts.stores.links);
    this.isFrozen = parts.stores.settings.get("frozen") !== null;
    this.#acts = {
      ask: ({ session, holding, waiting }, asked) => approvalRequests.ask(session, holding, asked, waiting),
      commit: (call, entry) => this.#commit(call, entry),
      settle: (call, outcome) => this.#settle(call, outcome),
      settleLater: (call, outcome) => this.#settleLater(call, outcome),
      moment: (session, holding, cost) => this.#momentsOf(session, holding).moment(this.#parts.now(), cost),
      costLeft: ({ session, holding }, charges) => this.#costLeft(session, holding, charges),
      refused: (call, refusal) => this.#refused(call, refusal),
    };
  }

  /** What a session holds for its next call; while frozen, every call is denied with that code. */
  holding(session: Session): ReturnType<Holdings["of"]> {
    const holding = this.holdings.of(session);
    if ("refused" in holding || holding.blocked !== null) return holding;
    const blocked = this.isFrozen ? FROZEN : this.#spentBudget(session, holding);
    return blocked === null ? holding : { ...holding, blocked };
  }

  /** A budget of calls without any left; budgets of tokens and money are for requests to models. */
  #spentBudget(session: Session, { record }: Holding): BlockReason | null {
    const { stores, now } = this.#parts;
    for (const limits of this.#budgets.of(session, record))
      if (budgetCharges([limits], undefined).some((charge) => stores.ledger.isEmpty(charge, now())))
        return { code: "budget_exhausted", reason: `the ${limits.name} has no calls left` };
    return null;
  }

  moment(session: Session, holding: Holding): Moment {
    return this.#momentsOf(session, holding).moment(this.#parts.now());
  }

  ports(session: Session, holding: Holding, waiting: ApprovalWait, input: JsonObject): CallPorts {
    const generations = this.#momentsOf(session, holding).generations();
    return new SessionCall(this.#acts, session, holding, waiting, input, generations);
  }

  #momentsOf(session: Session, holding: Holding): HoldingMoments {
    const known = this.#momentsByHolding.get(holding);
    if (known?.session === session) return known;
    const moments = new HoldingMoments(session, holding, this.#parts.stores, this.#accounts, () => this.isFrozen);
    this.#momentsByHolding.set(holding, moments);
    return moments;
  }

  /** In the accounts of the grants and in the budgets of the org. */
  #costLeft(session: Session, holding: Holding, charges: readonly Charge[]): ReturnType<CallPorts["costLeft"]> {
    const own = this.#momentsOf(session, holding).costLeft(charges);
    const budgets = budgetCharges(this.#budgets.of(session, holding.record), ANY_COST);
    if (own === null || budgets.length === 0) return own;
    const left = [own, ...budgets.map((charge) => this.#parts.stores.ledger.costLeft(charge))];
    return {
      tokens: Math.min(...left.map(({ tokens }) => tokens)),
      money: Math.min(...left.map(({ money }) => money)),
    };
  }

  /** Records a refused session with its reason; repeated equal refusals are only counted. */
  async writeRefused(who: Who, code: string, more: JsonObject): Promise<void> {
    const entry = this.entries.make("session", who, "deny", { code, more });
    if (this.#floods.take(entry) === null) await this.#parts.stores.ledger.append([entry]);
  }

  authorize(asked: GatedCall): Promise<Authorization> {
    return authorize(...this.#decidedBy(asked));
  }

  /** For a call that is executed elsewhere: a receipt, no warrant. */
  permit(asked: GatedCall): ReturnType<typeof permit> {
    return permit(...this.#decidedBy(asked));
  }

  #decidedBy({ session, holding, tool, input, lookup, ports, ...more }: GatedCall): Parameters<typeof authorize> {
    session.calls++;
    const reservation = more.reservation ?? null;
    const caller = callerOf(session, holding);
    const gate =
      reservation === null
        ? ports
        : {
            approvals: (asked: ApprovalRequest) => ports.approvals(asked),
            commit: (entry: Entry) => reservation.commit(entry),
          };
    const moment = ports.moment(reservation?.least);
    return [caller, { tool, input }, lookup, moment, holding.reading.pathSettings.protectedPaths, gate];
  }

  async #settle({ session, chain, claim }: SessionCall, outcome: Outcome): Promise<boolean> {
    const entry = this.entries.outcome(session.who(chain), outcome);
    const written = this.#parts.stores.ledger.append([entry]);
    if (claim !== null) await this.#approvalRequests.settled(claim.approval, outcome.ended);
    return (await written).ok;
  }

  /** Deferred outcomes are written before the daemon ends, and lost in a crash: the outcome then shows as unknown. */
  #settleLater(call: SessionCall, outcome: Outcome): void {
    this.#outcomes.push([call, outcome]);
    if (call.claim !== null) void this.#approvalRequests.settled(call.claim.approval, outcome.ended);
    // Runs after the response, so that the client does not wait while the entry is built.
    if (this.#outcomes.length === 1) setImmediate(() => setImmediate(() => this.planOutcomes()));
  }

  /** Queues all deferred outcomes for the next commit, each as its own entry. */
  planOutcomes(): void {
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    for (const [{ session, chain }, outcome] of outcomes)
      void this.#parts.stores.ledger.append(
        [this.entries.outcome(session.who(chain), outcome)],
        outcomeDelayMilliseconds,
      );
  }

  async #commit(call: SessionCall, entry: Entry): Promise<CommitResult> {
    const { session, holding, generations, chain: links } = call;
    // Outcomes of ended calls come before later decisions in the log.
    this.planOutcomes();
    const told = entry.code === "untrusted_content" ? { ...entry, reason: entry.reason ?? taintOf(session) } : entry;
    const made = this.entries.decision(session.who(links), { entry: told, input: call.input }, holding, () =>
      this.moment(session, holding),
    );
    if (entry.outcome !== "allow") return this.#deny(session, made, isConfigured(entry));
    if (this.isFrozen) return { ok: false, code: "frozen" };
    if (session.isClosed || session.isRevoked) return { ok: false, code: "revoked" };
    // INVARIANT: a call that was cancelled before its decision is written is not charged and not executed.
    if (call.waiting.signal?.aborted === true) return { ok: false, code: "not_available" };
    if (entry.approval !== null && !this.#stillHolds(session, entry)) return { ok: false, code: "generation_stale" };
    const own = chargesIn(this.#momentsOf(session, holding).accounts, entry.charges);
    if (own === null) return { ok: false, code: "audit_unavailable" };
    const charges = [...own, ...budgetCharges(this.#budgets.of(session, holding.record), entry.reserved)];
    const claim = entry.approval === null ? null : call.claim;
    const { reserved, secret } = entry;
    const more = { ...(reserved === undefined ? {} : { reserved }), ...(secret === undefined ? {} : { secret }) };
    const written = await this.#parts.stores.ledger.decide({
      entry: made,
      charges,
      claim,
      generations,
      links,
      ...more,
    });
    if (!written.ok) return written;
    if (!written.value.ok) return { ok: false, code: written.value.code };
    session.left = written.value.left;
    return { ok: true, receipt: made.id };
  }

  /** Written soon; the outcome of the call is written after it, so waiting for the outcome waits for this, too. */
  #refused({ session, holding, chain, input }: SessionCall, refusal: CallRefusal): string {
    const moment = (): Moment => this.moment(session, holding);
    const entry = this.entries.refusal(session.who(chain), { refusal, input }, holding, moment);
    const counted = this.#floods.take(entry, refusal.denial.times);
    if (counted !== null) return counted;
    const { stores, id } = this.#parts;
    void stores.observations.append(denialObservation(session, entry, id("o"), refusal.isConfigured === true));
    void stores.ledger.append([entry]);
    return entry.id;
  }

  /** Approval took time: decide again with the current holding. */
  #stillHolds(session: Session, { requests, level }: Entry): boolean {
    const holding = this.holdings.of(session);
    if ("refused" in holding) return false;
    const moment = this.moment(session, holding);
    return requests.every((request) => {
      const decision = judge(holding.authority, request, moment);
      return decision.outcome === "allow" || (decision.outcome === "ask" && decision.level <= level);
    });
  }

  /** Records the denial, or counts it if repeated; later turns see it as an observation. */
  async #deny(session: Session, entry: LogEntry, isOfUser: boolean): Promise<CommitResult> {
    const counted = this.#floods.take(entry);
    if (counted !== null) return { ok: true, receipt: counted };
    const { stores, id } = this.#parts;
    const observed = stores.observations.append(denialObservation(session, entry, id("o"), isOfUser));
    const written = await stores.ledger.append([entry]);
    await observed;
    return written.ok ? { ok: true, receipt: entry.id } : written;
  }
}

/** For the limits of every unit. */
const ANY_COST: Cost = { tokens: 0, money: 0 };

const FROZEN: BlockReason = { code: "frozen", reason: "a person froze all agents; `ambit thaw` ends it" };

export function callerOf({ facts }: Session, { authority, written, revoked, blocked }: Holding): Caller {
  return { agent: facts.name.agent, authority, written, revoked, blocked };
}

/** Derived from the user's own configuration, which the caller does not learn. */
function isConfigured({ need, requests }: Entry): boolean {
  return [...(need === null ? [] : [need]), ...requests].some((one) => one.isConfigured === true);
}
