// Budgets over random histories: records are edited, deleted, restored, trusted and distrusted, and the user's ceiling is set and
// lifted, with calls in between. Nothing ever allows more calls than the last text that a person was shown as a widening and
// accepted, and nothing that the ceiling of the moment excludes.
import fc from "fast-check";
import { expect, test } from "vitest";
import { namedLinks } from "../../src/agents/disk/named-links.ts";
import { differenceOf } from "../../src/agents/project/difference.ts";
import type { Authority } from "../../src/core/authority/chain.ts";
import type { Moment } from "../../src/core/authority/compiled.ts";
import { judge } from "../../src/core/authority/judge.ts";
import { chargesOf } from "../../src/core/gate/decide.ts";
import { readRequestText } from "../../src/core/notation/request/request.ts";
import { READING } from "../../src/core/notation/testing/notation.ts";
import type { Cost } from "../../src/core/ports/stores/ledger.ts";
import type { TrustReader } from "../../src/core/ports/trust.ts";
import { Accounts, chargesIn } from "../../src/daemon/calls/accounts.ts";
import type { State } from "../../src/store/state.ts";
import { digest, entryOf, temporaryState, value } from "../../src/store/testing/state.ts";
import { MOMENT, record, scout, trustOf, UNTRUSTED } from "../trust/project.ts";

interface Line {
  readonly keys: readonly string[];
  readonly calls: number;
}

type Step =
  | { readonly kind: "edit"; readonly lines: readonly Line[] | null }
  | { readonly kind: "delete" | "restore" | "trust" | "distrust" }
  /** Null: lifted. */
  | { readonly kind: "ceiling"; readonly keys: readonly string[] | null }
  | { readonly kind: "call"; readonly key: string; readonly times: number };

const KEYS = ["a", "b", "c"];
const SETS = [["a"], ["b"], ["c"], ["a", "b"], ["a", "c"], ["b", "c"], KEYS];

const line: fc.Arbitrary<Line> = fc.record({
  keys: fc.subarray(KEYS, { minLength: 1 }),
  calls: fc.integer({ min: 1, max: 4 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.array(line, { minLength: 1, maxLength: 3 }).map((lines) => ({ kind: "edit", lines }) as const),
  },
  // Without any budget.
  { weight: 1, arbitrary: fc.constant({ kind: "edit", lines: null } as const) },
  { weight: 3, arbitrary: fc.constantFrom<Step>({ kind: "trust" }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("ceiling"),
      keys: fc.option(fc.subarray(KEYS), { freq: 2 }),
    }) as fc.Arbitrary<Step>,
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ kind: "delete" }, { kind: "restore" }, { kind: "distrust" }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("call"),
      key: fc.constantFrom(...KEYS),
      times: fc.integer({ min: 1, max: 4 }),
    }) as fc.Arbitrary<Step>,
  },
);

/** A verb with a budget: calls, or tokens of which each use costs one. */
interface Unit {
  readonly budget: "calls" | "tokens";
  readonly cost: Cost | null;
  grant(keys: readonly string[]): string;
  request(key: string): string;
}

const CALLS: Unit = {
  budget: "calls",
  cost: null,
  grant: (keys) => `memory.read{keys=[${keys.join(",")}]}`,
  request: (key) => `memory.read ${key}`,
};
const TOKENS: Unit = {
  budget: "tokens",
  cost: { tokens: 1, money: null },
  grant: (keys) => `model.use{providers=[p],models=[${keys.join(",")}]}`,
  request: (key) => `model.use p ${key}`,
};

function textOf({ budget, grant }: Unit, lines: readonly Line[] | null): string {
  const grants = lines?.map(({ keys, calls }) => `${grant(keys).slice(0, -1)},${budget}=${calls}}`);
  return record(`capabilities: ${JSON.stringify(grants ?? [grant(KEYS)])}`);
}

/** The most calls for a set of keys that grants allow together. */
function most(lines: readonly Line[] | null, keys: readonly string[]): number {
  if (lines === null) return Number.POSITIVE_INFINITY;
  return lines.filter((one) => one.keys.some((key) => keys.includes(key))).reduce((sum, { calls }) => sum + calls, 0);
}

let agents = 0;

/** One agent, its file, and what a person trusted of it. */
class History {
  readonly #state: State;
  readonly #unit: Unit;
  readonly #accounts = new Accounts(digest);
  readonly #prefix = `record /w#scout-${++agents}`;
  #lines: readonly Line[] | null = [];
  #isThere = true;
  #ceiling: readonly string[] | null = null;
  #trusted: TrustReader = UNTRUSTED;
  #trustedLines: readonly Line[] | null = [];
  /** Calls by key, since a person accepted a widening. */
  #made = new Map<string, number>();
  #agreed: readonly Line[] | null = [];
  allowed = 0;

  constructor(state: State, unit: Unit) {
    this.#state = state;
    this.#unit = unit;
  }

  async take(one: Step): Promise<void> {
    switch (one.kind) {
      case "edit":
        this.#lines = one.lines;
        return;
      case "delete":
      case "restore":
        this.#isThere = one.kind === "restore";
        return;
      case "ceiling":
        this.#ceiling = one.keys;
        return;
      case "distrust":
        this.#trusted = UNTRUSTED;
        return;
      case "trust":
        return this.#trust();
      case "call":
        for (let time = 0; time < one.times; time++) await this.#call(one.key);
        this.#check(one.key);
        return;
      default:
        one satisfies never;
    }
  }

  #trust(): void {
    if (!this.#isThere) return;
    const [before, after] = [this.#trustedLines, this.#lines].map(
      (lines) => scout({ agent: textOf(this.#unit, lines) }, null, this.#user()).own,
    );
    if (before === undefined || after === undefined) return;
    // What `ambit trust` shows. After trust was revoked everything is shown again.
    if (!this.#trusted.exists || differenceOf(before, after, []).widened.length > 0) {
      this.#agreed = this.#lines;
      this.#made = new Map();
    }
    this.#trustedLines = this.#lines;
    this.#trusted = trustOf({ agent: textOf(this.#unit, this.#lines) }, this.#user());
  }

  /** The user's configuration. */
  #user(): string | null {
    if (this.#ceiling === null) return null;
    const { length } = this.#ceiling;
    return length === 0 ? "ceiling: [memory.write]\n" : `ceiling: ["${this.#unit.grant(this.#ceiling)}"]\n`;
  }

  #authority(): Authority {
    if (!this.#isThere) return [];
    const { agent } = scout({ agent: textOf(this.#unit, this.#lines) }, this.#trusted, this.#user());
    return agent.authority.map((chain, at) => namedLinks(chain, this.#prefix, at));
  }

  async #call(key: string): Promise<void> {
    const authority = this.#authority();
    const counted = this.#accounts.counted(authority, null);
    const { ledger } = this.#state;
    const { cost } = this.#unit;
    const moment: Moment = {
      ...MOMENT,
      exhausted: (link, grant) => {
        const charge = counted?.get(link)?.get(grant);
        return charge !== undefined && ledger.isEmpty(charge, 0, cost ?? undefined);
      },
    };
    const asked = readRequestText(this.#unit.request(key), READING);
    if (!asked.ok) throw new Error(asked.message);
    const decision = judge(authority, asked.value, moment);
    if (decision.outcome !== "allow") return;
    const charges = chargesIn(counted, chargesOf({ basis: [decision.by], authority }));
    if (charges === null) throw new Error("a charge without an account");
    const entry = entryOf({ id: `d-${agents}-${this.allowed}` });
    const write = { entry, charges, claim: null, generations: [], links: [] };
    if (!value(await ledger.decide(cost === null ? write : { ...write, reserved: cost })).ok) return;
    // Every other use is never settled.
    if (cost !== null && this.allowed % 2 === 0) value(await ledger.settle(entryOf({ of: entry.id }), entry.id, cost));
    if (this.#ceiling?.includes(key) === false) throw new Error(`${key} was allowed, and the ceiling excludes it`);
    this.allowed++;
    this.#made.set(key, (this.#made.get(key) ?? 0) + 1);
  }

  #check(key: string): void {
    for (const keys of SETS) {
      const made = keys.reduce((sum, one) => sum + (this.#made.get(one) ?? 0), 0);
      if (made > most(this.#agreed, keys))
        throw new Error(`${made} calls of ${keys} after ${key}, and ${most(this.#agreed, keys)} were accepted`);
    }
  }
}

test.each([
  ["calls", CALLS],
  ["tokens", TOKENS],
] as const)(
  "no edit, deletion, trust state, ceiling or second grant allows more %s than a person accepted",
  async (_title, unit) => {
    const temporary = temporaryState();
    let allowed = 0;
    try {
      const state = temporary.opened();
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
          const history = new History(state, unit);
          for (const one of steps) await history.take(one);
          allowed += history.allowed;
        }),
        { numRuns: 300 },
      );
    } finally {
      temporary.remove();
    }
    // A law over calls that are all denied proves nothing.
    expect(allowed).toBeGreaterThan(200);
  },
);
