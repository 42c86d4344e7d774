// One call's way to everything outside the gate: whom it asks, what is written before it and after it, and what time it is.
import type { Moment } from "../../core/authority/compiled.ts";
import type { Basis } from "../../core/authority/decision.ts";
import type { JsonObject } from "../../core/base/json.ts";
import type { ApprovalAnswer, ApprovalAsked, Approvals } from "../../core/ports/approvals.ts";
import type { RunDenial } from "../../core/ports/process.ts";
import type { Commit, CommitResult, Entry, Outcome, Settle } from "../../core/ports/stores/commit.ts";
import type { ApprovalClaim } from "../../core/ports/stores/ledger.ts";
import type { Session } from "../session.ts";
import type { DeskAnswer } from "./desk.ts";
import type { Holding } from "./holding.ts";

export interface CallPorts {
  readonly approvals: Approvals;
  readonly commit: Commit;
  readonly settle: Settle;
  /** Where nobody waits for it: the outcome is written with what comes next, and makes nobody wait. */
  settleLater(outcome: Outcome): void;
  moment(): Moment;
  /** Something was refused while the call ran: a denial of its own in the log. Returns the id of its entry. */
  refused(refusal: CallRefusal): string;
}

/** A refusal while a call runs. */
export interface CallRefusal {
  /** The entry of the call. */
  readonly receipt: string;
  readonly tool: string;
  readonly denial: RunDenial;
  readonly reason: string | null;
  /** What it came to behind a link, for a person who reads the log; the agent is not told. */
  readonly target?: string | null;
}

export interface Waiting {
  readonly milliseconds: number;
  /** The asker gave up, or is gone. */
  readonly isStopped: boolean;
  onStop(ring: () => void): void;
  /** A person is asked now, under this name. */
  asked(approval: string): void;
}

/** What all ways share. */
export interface WayActs {
  ask(way: CallWay, asked: ApprovalAsked): Promise<DeskAnswer>;
  commit(way: CallWay, entry: Entry): Promise<CommitResult>;
  settle(way: CallWay, outcome: Outcome): Promise<boolean>;
  settleLater(way: CallWay, outcome: Outcome): void;
  moment(session: Session, holding: Holding): Moment;
  refused(way: CallWay, refusal: CallRefusal): string;
}

export class CallWay implements CallPorts {
  readonly #acts: WayActs;
  readonly session: Session;
  readonly holding: Holding;
  readonly waiting: Waiting;
  /** The arguments as they came; a denial holds them without secrets. */
  readonly input: JsonObject;
  /** What it is decided under. */
  readonly generations: readonly (readonly [scope: string, generation: number])[];
  /** The delegations it rests on. */
  chain: readonly string[];
  /** The approval this call uses, with what it was found by. */
  claim: ApprovalClaim | null = null;

  constructor(
    acts: WayActs,
    session: Session,
    holding: Holding,
    waiting: Waiting,
    input: JsonObject,
    generations: CallWay["generations"],
  ) {
    this.#acts = acts;
    this.session = session;
    this.holding = holding;
    this.waiting = waiting;
    this.input = input;
    this.generations = generations;
    this.chain = chainOf(holding, []);
  }

  moment(): Moment {
    return this.#acts.moment(this.session, this.holding);
  }

  async approvals(asked: ApprovalAsked): Promise<ApprovalAnswer> {
    const { answer, claim } = await this.#acts.ask(this, asked);
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

/** The delegations a decision rests on; where nothing covered, those its agent holds by in the first place. */
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
