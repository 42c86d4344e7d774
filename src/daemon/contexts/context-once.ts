// What a call paid for, or a person allowed for it, serves one use of its context for each time that it was asked for. A use is
// decided more than once on its way, so such uses take turns, and what one of them was decided by is spent when it ends. Where
// nothing is counted or asked there is nothing to spend, and uses go on side by side.

import { isDestination } from "../../core/authority/axes/scope.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { Warrant } from "../../core/gate/warrant.ts";
import { isSameRequest } from "../../runtime/context/asker.ts";
import { denied } from "../../runtime/context/used.ts";

const waitingMax = 64;

export class Once {
  /** Each of the call's requests, and whether it has served. */
  readonly #requests: { readonly request: Request; isSpent: boolean; isInUse: boolean }[];
  readonly #isSpending: boolean;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** `isFree`: covered by what is neither counted nor asked for. */
  constructor({ requests }: Warrant, isFree: (request: Request) => boolean) {
    // The first request is the tool itself, which no use asks for.
    this.#isSpending = requests.slice(1).some((request) => !isFree(request));
    this.#requests = requests.map((request) => ({ request, isSpent: false, isInUse: false }));
  }

  /** Whether the request, or the one whose name leads there, is one of the call's that has not served yet. */
  isLeft(request: Request): boolean {
    if (!this.#isSpending) return false;
    const asked = named(request);
    const known = this.#requests.filter((one) => isSameRequest(one.request, asked));
    const inUse = known.find(({ isInUse }) => isInUse);
    const left = inUse ?? known.find(({ isSpent }) => !isSpent);
    if (left !== undefined) left.isInUse = true;
    return left !== undefined;
  }

  inTurn(serve: (use: JsonObject) => Promise<Json>): (use: JsonObject) => Promise<Json> {
    if (!this.#isSpending) return serve;
    return (use) => {
      if (this.#waiting >= waitingMax)
        return Promise.resolve({ ...denied("not_available", null, "too many uses at once") });
      this.#waiting++;
      const served = this.#turn.then(() => serve(use));
      this.#turn = served.then(
        () => this.#spend(),
        () => this.#spend(),
      );
      return served;
    };
  }

  #spend(): void {
    this.#waiting--;
    for (const one of this.#requests) {
      if (one.isInUse) one.isSpent = true;
      one.isInUse = false;
    }
  }
}

function named(request: Request): Request {
  const [first, ...rest] = request.values;
  const isLed = isDestination(first) && first.name !== null && first.address !== null;
  return isLed ? { ...request, values: [{ name: first.name, address: null }, ...rest] } : request;
}
