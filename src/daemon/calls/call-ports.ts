// The gate's ports for one call: approvals, the decision and outcome writes, the clock, and how its client waits or cancels.
import type { Moment } from "../../core/authority/compiled.ts";
import type { Basis } from "../../core/authority/decision.ts";
import type { JsonObject } from "../../core/base/json.ts";
import type { ApprovalAnswer, ApprovalRequest, Approvals } from "../../core/ports/approvals.ts";
import type { RunDenial } from "../../core/ports/process.ts";
import type { Charge, Commit, CommitResult, Entry, Outcome, Settle } from "../../core/ports/stores/commit.ts";
import type { ApprovalClaim, Cost, Ledger } from "../../core/ports/stores/ledger.ts";
import type { Session } from "../session.ts";
import type { ApprovalResult } from "./approval-requests.ts";
import type { ApprovalWait } from "./call-input.ts";
import type { Holding } from "./holding.ts";

export interface CallPorts {
  /** The profile of the client that the call runs: part of what a person approves. Null: no client. */
  profile: string | null;
  readonly approvals: Approvals;
  readonly commit: Commit;
  readonly settle: Settle;
  /** For calls without a waiting client: the outcome is written with the next commit and delays nothing. */
  settleLater(outcome: Outcome): void;
  /** How the caller waits for approvals, and cancels. */
  readonly waiting: ApprovalWait;
  /** `cost`: grants whose accounts cannot bear it are exhausted. Without it, those with nothing left. */
  moment(cost?: Cost): Moment;
  /** What is left of tokens and money in all of these accounts; null if one of them is unknown. */
  costLeft(charges: readonly Charge[]): ReturnType<Ledger["costLeft"]> | null;
  /** Records a denial while the call runs. Returns the id of its entry. */
  refused(refusal: CallRefusal): string;
}

/** A denial while a call runs. */
export interface CallRefusal {
  /** The entry of the call. */
  readonly receipt: string;
  readonly tool: string;
  readonly denial: RunDenial;
  readonly reason: string | null;
  /** The target behind a symlink, for the log; the agent does not see it. */
  readonly target?: string | null;
  /** The request follows from the user's configuration, which the agent does not learn. */
  readonly isConfigured?: boolean;
}

/** Shared by the ports of all calls. */
export interface SessionCallActions {
  ask(call: SessionCall, asked: ApprovalRequest): Promise<ApprovalResult>;
  commit(call: SessionCall, entry: Entry): Promise<CommitResult>;
  settle(call: SessionCall, outcome: Outcome): Promise<boolean>;
  settleLater(call: SessionCall, outcome: Outcome): void;
  moment(session: Session, holding: Holding, cost?: Cost): Moment;
  costLeft(call: SessionCall, charges: readonly Charge[]): ReturnType<CallPorts["costLeft"]>;
  refused(call: SessionCall, refusal: CallRefusal): string;
}

export class SessionCall implements CallPorts {
  readonly #acts: SessionCallActions;
  readonly session: Session;
  readonly holding: Holding;
  readonly waiting: ApprovalWait;
  /** The arguments as received; a denial stores them with secrets redacted. */
  readonly input: JsonObject;
  /** Generations the call is decided under. */
  readonly generations: readonly (readonly [scope: string, generation: number])[];
  profile: string | null = null;
  /** The delegations it rests on. */
  chain: readonly string[];
  /** The approval this call uses, with the key it was found by. */
  claim: ApprovalClaim | null = null;

  constructor(
    acts: SessionCallActions,
    session: Session,
    holding: Holding,
    waiting: ApprovalWait,
    input: JsonObject,
    generations: SessionCall["generations"],
  ) {
    this.#acts = acts;
    this.session = session;
    this.holding = holding;
    this.waiting = waiting;
    this.input = input;
    this.generations = generations;
    this.chain = chainOf(holding, []);
  }

  moment(cost?: Cost): Moment {
    return this.#acts.moment(this.session, this.holding, cost);
  }

  costLeft(charges: readonly Charge[]): ReturnType<CallPorts["costLeft"]> {
    return this.#acts.costLeft(this, charges);
  }

  async approvals(asked: ApprovalRequest): Promise<ApprovalAnswer> {
    const { profile } = this;
    const shown = profile === null ? asked : { ...asked, input: { ...asked.input, profile } };
    const { answer, claim } = await this.#acts.ask(this, shown);
    this.claim = claim;
    return answer;
  }

  commit(entry: Entry): Promise<CommitResult> {
    this.chain = chainOf(this.holding, entry.basis);
    return this.#acts.commit(this, entry);
  }

  settle(outcome: Outcome): Promise<boolean> {
    return this.#acts.settle(this, outcome);
  }

  settleLater(outcome: Outcome): void {
    this.#acts.settleLater(this, outcome);
  }

  refused(refusal: CallRefusal): string {
    return this.#acts.refused(this, refusal);
  }
}

const NONE: readonly string[] = [];

/** The delegations a decision rests on; if nothing covered the request, those of the agent's first chain. */
function chainOf({ links }: Holding, basis: readonly Basis[]): readonly string[] {
  if (basis.length === 0) return links[0] ?? NONE;
  let ids: Set<string> | null = null;
  for (const { chain } of basis)
    for (const id of links[chain] ?? NONE) {
      ids ??= new Set();
      ids.add(id);
    }
  return ids === null ? NONE : [...ids];
}
