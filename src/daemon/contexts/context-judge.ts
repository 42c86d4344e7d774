// Decides the requests that a call makes while it runs: those of its warrant are charged and approved already, every other
// one is decided by the current grants.
import { isDestination, isSegments } from "../../core/authority/axes/scope.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { countedIsSpent } from "../../core/authority/counted.ts";
import type { Basis, Decision } from "../../core/authority/decision.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Warrant } from "../../core/gate/warrant.ts";
import type { FilePath } from "../../core/ports/files.ts";
import type { Judge } from "../../core/ports/judge.ts";
import { isSameRequest } from "../../runtime/context/use-gate.ts";
import { type UseResult, useDenial } from "../../runtime/context/use-result.ts";

/** The authority of a session at one moment. */
export interface SessionAuthority {
  readonly authority: Authority;
  readonly moment: Moment;
}

const GONE: Decision = { outcome: "deny", code: "revoked", at: null };
const PROTECTED: Decision = { outcome: "deny", code: "self_modification", at: null };
/** Approval cannot be requested during a call: a call that names the path itself requests it before it runs. */
const UNASKED: Decision = { outcome: "deny", code: "approval_required", at: null };

export interface ContextJudgeOptions {
  /** Those of the warrant. */
  readonly requests: readonly Request[];
  holds(request: Request): SessionAuthority | null;
  /** For code of others: a request of the warrant covers one use for each time it was requested. Null: the uses of one call. */
  readonly once: SingleUses | null;
  /** Called with the authority of every decision. */
  decided?(request: Request, authority: Authority): void;
}

/** "ask" means that a person approved it for this call. */
export function contextJudge({ requests, holds, once, decided }: ContextJudgeOptions): Judge {
  let before: SessionAuthority | null = null;
  let unpaid: Moment | null = null;
  /** A folder needs many decisions with the same authority: its spent budgets are computed once. */
  const unpaidIn = (held: SessionAuthority): Moment => {
    if (unpaid === null || before?.authority !== held.authority || before.moment !== held.moment)
      unpaid = { ...held.moment, exhausted: countedIsSpent(held.authority) };
    before = held;
    return unpaid;
  };
  return (request, isUncharged) => {
    const held = holds(request);
    if (held === null) return GONE;
    const { authority, moment } = held;
    decided?.(request, authority);
    // INVARIANT: grants with a budget, and approvals, cover only requests that the call was charged for.
    const asked = withoutAddress(request);
    const isRequested = once === null ? requests.some((one) => isSameRequest(one, asked)) : once.isLeft(request);
    if (isRequested)
      return judge(authority, request, isUncharged === true ? unpaidIn(held) : { ...moment, exhausted: null });
    const decision = judge(authority, request, unpaidIn(held));
    if (decision.outcome !== "ask") return decision;
    if (once === null && isBelowApproved(requests, request, decision, held))
      return { outcome: "allow", by: decision.by };
    return UNASKED;
  };
}

/** An approval of a folder covers what the same grants cover below it, because that is what the approver was shown. */
function isBelowApproved(
  requests: readonly Request[],
  request: Request,
  { level, by }: Extract<Decision, { readonly outcome: "ask" }>,
  { authority, moment }: SessionAuthority,
): boolean {
  const path = pathOf(request);
  return requests.some((one) => {
    const folder = pathOf(one);
    if (path === null || one.verb !== request.verb || folder === null) return false;
    if (!folder.every((name, at) => name === path[at])) return false;
    const above = judge(authority, one, { ...moment, exhausted: null });
    return above.outcome === "ask" && above.level >= level && isSameBasis(above.by, by);
  });
}

/** How one call may change paths. */
export interface ChangeRules {
  /** free: by grants. ask: only if this path was approved. never: whatever is granted. */
  classOf(path: FilePath): "free" | "ask" | "never";
  /** The operation creates a folder above a file of the call, and writes nothing else there. */
  readonly makesFolders: boolean;
}

/** The same for the worker of files, with the rules for changes. Nothing is left to ask. */
export function changeJudge(
  requests: readonly Request[],
  { classOf, makesFolders }: ChangeRules,
  decide: Judge,
): Judge {
  return (request) => {
    const path = pathOf(request);
    if (path === null) return GONE;
    const change = request.verb.verb === "fs.read" ? "free" : classOf(path);
    if (change === "never") return PROTECTED;
    if (change === "ask" && !isAgreed(requests, request, path, makesFolders)) return UNASKED;
    const decision = decide(request);
    return decision.outcome === "ask" ? { outcome: "allow", by: decision.by } : decision;
  };
}

/** The gate asks for approval of every request marked as a trigger: only those were approved. */
function isAgreed(requests: readonly Request[], request: Request, path: FilePath, makesFolders: boolean): boolean {
  return requests.some((one) => {
    if (one.isTrigger !== true || one.verb !== request.verb) return false;
    if (isSameRequest(one, request)) return true;
    const agreed = pathOf(one);
    return makesFolders && agreed !== null && path.every((name, at) => name === agreed[at]);
  });
}

function pathOf({ values }: Request): FilePath | null {
  const [value] = values;
  return value !== undefined && isSegments(value) ? value.segments : null;
}

function isSameBasis(left: Basis, right: Basis): boolean {
  return left.chain === right.chain && left.grants.every((grant, at) => grant === right.grants[at]);
}

/** That many paths of one use are decided by one holding; any other request reads the holding again. */
const pathsPerHolding = 256;

export class HoldingCache {
  readonly #held: () => SessionAuthority | null;
  #left = 0;
  #last: SessionAuthority | null = null;

  constructor(held: () => SessionAuthority | null) {
    this.#held = held;
  }

  /** Starts a use: nothing of an earlier one counts. */
  anew(): void {
    this.#left = 0;
  }

  for({ verb }: Request): SessionAuthority | null {
    if (verb.verb === "fs.read" && this.#left-- > 0) return this.#last;
    this.#last = this.#held();
    this.#left = pathsPerHolding;
    return this.#last;
  }
}

const waitingMax = 64;

/**
 * A charged or approved request of a call covers one context use for each time it was requested. A use is decided more than
 * once, so such uses run one at a time, and the request is spent when the use ends. Uncounted requests without approval have
 * nothing to spend, and their uses run concurrently.
 */
export class SingleUses {
  /** Each of the call's requests, and whether it has been used. */
  readonly #requests: { readonly request: Request; isSpent: boolean; isInUse: boolean }[];
  readonly #isSpending: boolean;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** `isFree`: covered without a budget or an approval. */
  constructor({ requests }: Warrant, isFree: (request: Request) => boolean) {
    // The first request is the tool itself, which no use requests.
    this.#isSpending = requests.slice(1).some((request) => !isFree(request));
    this.#requests = requests.map((request) => ({ request, isSpent: false, isInUse: false }));
  }

  /** Whether the request, or the one whose name resolves to it, is an unused request of the call. */
  isLeft(request: Request): boolean {
    if (!this.#isSpending) return false;
    const asked = withoutAddress(request);
    const known = this.#requests.filter((one) => isSameRequest(one.request, asked));
    const inUse = known.find(({ isInUse }) => isInUse);
    const left = inUse ?? known.find(({ isSpent }) => !isSpent);
    if (left !== undefined) left.isInUse = true;
    return left !== undefined;
  }

  /** One use. Uses that spend something run one at a time. */
  run<T>(act: () => Promise<UseResult<T>>): Promise<UseResult<T>> {
    if (!this.#isSpending) return act();
    if (this.#waiting >= waitingMax) return Promise.resolve(useDenial("not_available", null, "too many uses at once"));
    this.#waiting++;
    const done = this.#turn.then(act);
    this.#turn = done.then(
      () => this.#spend(),
      () => this.#spend(),
    );
    return done;
  }

  #spend(): void {
    this.#waiting--;
    for (const one of this.#requests) {
      if (one.isInUse) one.isSpent = true;
      one.isInUse = false;
    }
  }
}

/** The request by its name alone: what a name resolves to is requested by nothing but the name. */
export function withoutAddress(request: Request): Request {
  const [first, ...rest] = request.values;
  const isLed = isDestination(first) && first.name !== null && first.address !== null;
  return isLed ? { ...request, values: [{ name: first.name, address: null }, ...rest] } : request;
}
