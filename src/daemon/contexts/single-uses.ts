// A charged or approved request of a call covers one context use for each time it was requested. A use is decided more than
// once on its way, so such uses run one at a time, and the request is spent when the use ends. Uncounted requests without
// approval have nothing to spend, and their uses run concurrently.

import { isDestination } from "../../core/authority/axes/scope.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Warrant } from "../../core/gate/warrant.ts";
import { isSameRequest } from "../../runtime/context/use-gate.ts";
import { type UseResult, useDenial } from "../../runtime/context/use-result.ts";

const waitingMax = 64;

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
