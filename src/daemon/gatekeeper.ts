// One call of a session, from the question to the receipt: the gate decides, a person is asked where one has to be, and the
// decision is on disk with everything it costs before anybody hears of it.
import type { Moment } from "../authority/compiled.ts";
import type { Basis } from "../authority/decision.ts";
import type { JsonObject } from "../authority/json.ts";
import { judge } from "../authority/judge.ts";
import { type Authorization, authorize } from "../gate/call.ts";
import type { Approvals } from "../ports/approvals.ts";
import type { Commit, CommitResult, Entry, Outcome, Settle } from "../ports/commit.ts";
import type { ApprovalClaim } from "../ports/ledger.ts";
import type { LogEntry } from "../ports/log.ts";
import type { ToolLookup } from "../tool/known-tool.ts";
import { Accounts, linkIn } from "./accounts.ts";
import { needOf } from "./counterexample.ts";
import { denialObservation } from "./denials.ts";
import type { Desk } from "./desk.ts";
import { type Entries, leftData } from "./entries.ts";
import type { Floods } from "./floods.ts";
import { agentScope, EVERYBODY } from "./generations.ts";
import { type Holding, Holdings } from "./holding.ts";
import type { DaemonParts } from "./parts.ts";
import type { Session } from "./session.ts";

/** One call's way to everything outside the gate. */
export interface CallPorts {
  readonly approvals: Approvals;
  readonly commit: Commit;
  readonly settle: Settle;
  /** Where nobody waits for it: the outcome is written with what comes next, and makes nobody wait. */
  settleLater(outcome: Outcome): void;
  moment(): Moment;
}

export interface Waiting {
  readonly milliseconds: number;
  onStop(ring: () => void): void;
  /** A person is asked now, under this name. */
  asked(approval: string): void;
}

/** A client that calls again at once is back sooner. */
const outcomePatienceMilliseconds = 10;
const clockFar = 8_640_000_000_000_000;

export class Gatekeeper {
  readonly #parts: DaemonParts;
  readonly #desk: Desk;
  readonly #floods: Floods;
  readonly #accounts: Accounts;
  readonly entries: Entries;
  readonly holdings: Holdings;
  /** Nothing is decided while this holds. */
  isFrozen: boolean;

  constructor(parts: DaemonParts, desk: Desk, floods: Floods, entries: Entries) {
    this.#parts = parts;
    this.#desk = desk;
    this.#floods = floods;
    this.#accounts = new Accounts(parts.digest);
    this.entries = entries;
    this.holdings = new Holdings(parts.records, parts.kept.links);
    this.isFrozen = parts.kept.settings.get("frozen") !== null;
  }

  moment(session: Session, holding: Holding): Moment {
    const { kept, now } = this.#parts;
    const at = now();
    // Nothing else can be revoked, and to ask the store for what it never had costs more than to decide.
    const delegated = holding.links.some(({ length }) => length > 0) ? new Set(holding.links.flat()) : null;
    const isRevoked = (id: string): boolean =>
      delegated?.has(id) === true && (kept.links.get(id)?.revoked ?? null) !== null;
    return {
      now: Number.isFinite(at) ? at : clockFar,
      clean: session.isClean,
      generation: kept.ledger.generation(agentScope(session.facts.name)),
      revoked: (id) => this.isFrozen || session.isClosed || isRevoked(id),
      exhausted: (id, grant) => {
        const link = linkIn(holding.authority, id);
        const charge = link === null ? null : this.#accounts.of(link, grant);
        return charge !== null && kept.ledger.isEmpty(charge, at);
      },
    };
  }

  ports(session: Session, holding: Holding, waiting: Waiting): CallPorts {
    const { ledger } = this.#parts.kept;
    const scopes = [EVERYBODY, agentScope(session.facts.name)];
    const generations = scopes.map((scope) => [scope, ledger.generation(scope)] as const);
    /** The approval this call uses, with what it was found by. */
    let claim: ApprovalClaim | null = null;
    let chain = chainOf(holding, []);
    return {
      moment: () => this.moment(session, holding),
      approvals: async (asked) => {
        const answer = await this.#desk.ask(session, holding, asked, waiting);
        claim = answer.claim;
        return answer.answer;
      },
      commit: (entry) => {
        chain = chainOf(holding, entry.basis);
        return this.#commit(session, holding, entry, generations, entry.approval === null ? null : claim);
      },
      settle: (outcome) => this.#settle(session, chain, outcome, claim, 0),
      settleLater: (outcome) => void this.#settle(session, chain, outcome, claim, outcomePatienceMilliseconds),
    };
  }

  async authorize(
    session: Session,
    holding: Holding,
    call: { readonly tool: string; readonly input: JsonObject },
    tools: ToolLookup,
    ports: CallPorts,
  ): Promise<Authorization> {
    session.calls++;
    const { agent } = session.facts.name;
    const caller = { agent, authority: holding.authority };
    const gate = await authorize(caller, call, tools, ports.moment(), holding.reading.ground.protectedPaths, ports);
    return gate.ok ? gate : { ...gate, request: needOf(agent, holding, gate.code, gate.request) };
  }

  async #settle(
    session: Session,
    chain: readonly string[],
    outcome: Outcome,
    claim: ApprovalClaim | null,
    patienceMilliseconds: number,
  ): Promise<boolean> {
    const { receipt, ended, denials, enforcement, wallMicroseconds } = outcome;
    const more: JsonObject = {
      ended,
      milliseconds: Math.round(wallMicroseconds / 1000),
      denials: denials.map(({ code, request, times }) => ({ code, request, times })),
      enforcement: enforcement.map(({ axis, strength }) => ({ axis, strength })),
    };
    const entry = this.entries.make("outcome", session.who(chain), ended, { of: receipt, more });
    const written = this.#parts.kept.ledger.append([entry], patienceMilliseconds);
    if (claim !== null) await this.#desk.settled(claim.approval, ended);
    return (await written).ok;
  }

  async #commit(
    session: Session,
    holding: Holding,
    entry: Entry,
    generations: readonly (readonly [string, number])[],
    claim: ApprovalClaim | null,
  ): Promise<CommitResult> {
    const links = chainOf(holding, entry.basis);
    const made = this.entries.decision(session.who(links), entry, holding, () => this.moment(session, holding));
    if (entry.outcome !== "allow") return this.#deny(session, made);
    if (this.isFrozen || session.isClosed) return { ok: false, code: "revoked" };
    if (entry.approval !== null && !this.#stillHolds(session, entry)) return { ok: false, code: "generation_stale" };
    const charges = this.#accounts.charges(holding.authority, entry.charges);
    if (charges === null) return { ok: false, code: "audit_unavailable" };
    const written = await this.#parts.kept.ledger.decide({ entry: made, charges, claim, generations, links });
    if (!written.ok) return written;
    if (!written.value.ok) return { ok: false, code: written.value.code };
    session.left = leftData(written.value.left);
    return { ok: true, receipt: made.id };
  }

  /** A person took their time: what was decided before they were asked is looked at once more, as everything is now. */
  #stillHolds(session: Session, { requests, level }: Entry): boolean {
    const holding = this.holdings.of(session);
    if ("refused" in holding) return false;
    const moment = this.moment(session, holding);
    return requests.every((request) => {
      const decision = judge(holding.authority, request, moment);
      return decision.outcome === "allow" || (decision.outcome === "ask" && decision.level <= level);
    });
  }

  /** Written, or counted where the same was denied again and again; told to later turns as an observation. */
  async #deny(session: Session, entry: LogEntry): Promise<CommitResult> {
    const counted = this.#floods.take(entry);
    if (counted !== null) return { ok: true, receipt: counted };
    const { kept, id } = this.#parts;
    const observed = kept.observations.append(denialObservation(session, entry, id("o")));
    const written = await kept.ledger.append([entry]);
    await observed;
    return written.ok ? { ok: true, receipt: entry.id } : written;
  }
}

/** The delegations a decision rests on; where nothing covered, those its agent holds by in the first place. */
function chainOf({ links }: Holding, basis: readonly Basis[]): readonly string[] {
  if (basis.length === 0) return links[0] ?? [];
  return [...new Set(basis.flatMap(({ chain }) => links[chain] ?? []))];
}
