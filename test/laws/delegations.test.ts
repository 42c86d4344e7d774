// Delegations over random histories: agents delegate, create others, are edited and deleted, and links are revoked. At any time
// an agent can only do what its own record allows or, for what was delegated to it, what its granters' records allow; and no list
// without tools gives any to an agent with a record. Users' records are edited, deleted and renamed meanwhile: a session never does
// more than its user's record allows, nothing once that record is gone, and what was delegated for a user ends with the record.
import fc from "fast-check";
import { expect, test } from "vitest";
import { judge } from "../../src/core/authority/judge.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { decide } from "../../src/core/gate/decide.ts";
import { parseSpecs } from "../../src/core/notation/compact/grant-specs.ts";
import { readRequestText } from "../../src/core/notation/request/request.ts";
import { READING } from "../../src/core/notation/testing/notation.ts";
import { Holdings } from "../../src/daemon/calls/holding.ts";
import { Delegations } from "../../src/daemon/contexts/delegations.ts";
import { Entries } from "../../src/daemon/log/entries.ts";
import type { DaemonParts, RecordResult, Records } from "../../src/daemon/parts.ts";
import { Session, type SessionFacts } from "../../src/daemon/session.ts";
import type { ToolExecution } from "../../src/daemon/tools/daemon-tool.ts";
import type { Context } from "../../src/runtime/context/context.ts";
import type { CallReading } from "../../src/runtime/tool/builtin.ts";
import type { State } from "../../src/store/state.ts";
import { digest, entryOf, temporaryState, value } from "../../src/store/testing/state.ts";
import { DELEGATION_TOOLS, type DelegationPowers } from "../../src/tools/delegation/delegation-tools.ts";
import { chain, link } from "../forge/authority.ts";
import { sizeFor } from "../house/long.ts";
import { MOMENT } from "../trust/project.ts";

const WRITTEN = ["one", "two", "three"];
const MADE = ["four", "five"];
const ALL = [...WRITTEN, ...MADE];
const USERS = ["ann", "ben"];
const KEYS = ["memory.read{keys=[a]}", "memory.read{keys=[b]}", "memory.read{keys=[a,b]}", "memory.write{keys=[a]}"];
const TOOLS = [
  "tool.invoke{tools=[memory_get]}",
  "tool.invoke{tools=[memory_set,fs_write]}",
  "tool.invoke{tools=[shell],pass=use}",
];
const PASSING = ["agent.grant", "agent.create"];
const REQUESTS = ["memory.read a", "memory.read b", "memory.write a"];
const INVOKES = ["memory_get", "memory_set", "fs_write", "shell"].map((tool) => `tool.invoke ${tool} {}`);

type Step =
  | {
      readonly kind: "give" | "make";
      readonly from: string;
      readonly to: string;
      readonly grants: readonly string[];
      readonly user: string | null;
    }
  | { readonly kind: "open"; readonly agent: string; readonly user: string }
  | { readonly kind: "user"; readonly user: string; readonly grants: readonly string[] | null }
  | { readonly kind: "rename"; readonly user: string; readonly to: string }
  | { readonly kind: "edit"; readonly agent: string; readonly grants: readonly string[] | null }
  | { readonly kind: "revoke"; readonly at: number };

/** Records contain much and lists request little, or hardly any list would be within a record. */
const texts = fc
  .tuple(fc.subarray(KEYS, { minLength: 2 }), fc.subarray(TOOLS, { minLength: 1 }))
  .map(([keys, tools]) => [...keys, ...tools]);
const lists = fc
  .tuple(fc.subarray(KEYS, { minLength: 1, maxLength: 1 }), fc.subarray(TOOLS, { maxLength: 1 }), fc.boolean())
  .map(([keys, tools, isPassing]) => [...keys, ...tools, ...(isPassing ? PASSING : [])]);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("give", "make"),
    from: fc.constantFrom(...ALL),
    to: fc.constantFrom(...ALL),
    grants: lists,
    user: fc.option(fc.constantFrom(...USERS)),
  }) as fc.Arbitrary<Step>,
  fc.record({
    kind: fc.constant("open"),
    agent: fc.constantFrom(...ALL),
    user: fc.constantFrom(...USERS),
  }) as fc.Arbitrary<Step>,
  fc.record({
    kind: fc.constant("user"),
    user: fc.constantFrom(...USERS),
    grants: fc.option(texts, { freq: 3 }),
  }) as fc.Arbitrary<Step>,
  fc.record({
    kind: fc.constant("rename"),
    user: fc.constantFrom(...USERS),
    to: fc.constantFrom(...USERS),
  }) as fc.Arbitrary<Step>,
  fc.record({
    kind: fc.constant("edit"),
    agent: fc.constantFrom(...ALL),
    grants: fc.option(lists),
  }) as fc.Arbitrary<Step>,
  fc.record({ kind: fc.constant("revoke"), at: fc.nat(20) }) as fc.Arbitrary<Step>,
);

function requestOf(text: string): Request {
  const read = readRequestText(text, READING);
  if (!read.ok) throw new Error(`${text}: ${read.message}`);
  return read.value;
}

let fixtures = 0;

class Fixture {
  readonly #state: State;
  readonly #workspace = `/w${++fixtures}`;
  readonly #texts = new Map<string, readonly string[]>();
  readonly #holdings: Holdings;
  readonly #delegations: Delegations;
  readonly #links: { readonly id: string; readonly user: string | null; readonly isLimited: boolean }[] = [];
  readonly #users = new Map<string, readonly string[]>();
  /** Open sessions; `hadRecord`: their user had a record at some time since. */
  readonly #open: { readonly session: Session; readonly user: string; hadRecord: boolean }[] = [];
  #count = 0;
  done = 0;
  /** Requests that were allowed in sessions of users. */
  asUser = 0;

  constructor(state: State) {
    this.#state = state;
    const records = {
      record: (_: string, agent: string): RecordResult => this.#record(agent),
      user: (name: string) => this.#user(name),
      isUserRequired: () => false,
      agentIds: () => [...this.#texts.keys()],
      readingAt: () => READING,
      workspaceOf: () => this.#workspace,
    } as unknown as Records;
    const redacting = { known: null, text: (text: string) => text, json: <T>(one: T): T => one };
    const id = (letter: string): string => `${letter}_${this.#workspace}_${++this.#count}`;
    const parts = { stores: state, records, redacting, digest, now: () => 1, id } as unknown as DaemonParts;
    this.#holdings = new Holdings(records, state.links);
    this.#delegations = new Delegations(parts, new Entries(parts), this.#holdings);
  }

  #record(agent: string): RecordResult {
    const specs = this.#texts.get(agent);
    const grants = specs === undefined ? null : parseSpecs([...specs, ...PASSING], READING);
    if (grants === null) return { ok: false, message: "there is none", fix: null };
    const name = { workspace: this.#workspace, agent };
    const authority = [chain(link(`record ${this.#workspace}#${agent}`, grants))];
    const rest = {
      approvers: { need: 1, of: null },
      needsReview: false,
      policyLimits: new Map(),
      budgets: [],
      notes: [],
      reading: READING,
      linkedRoots: [],
      stamp: "",
      placeOf: () => null,
    };
    return { ok: true, value: { name, authority, written: null, ...rest } };
  }

  #user(name: string): ReturnType<Records["user"]> {
    const specs = this.#users.get(name);
    const grants = specs === undefined ? null : parseSpecs([...specs, ...PASSING], READING);
    if (grants === null) return null;
    return { authority: [chain(link(`user ${name}`, grants))], facts: null, isMemberOf: () => true } as never;
  }

  #session(agent: string, user: string | null = null): Session {
    const name = { workspace: this.#workspace, agent };
    return new Session({ name, asked: agent, cwd: this.#workspace, user, id: "s", trace: "t" } as SessionFacts);
  }

  async take(one: Step): Promise<void> {
    if (one.kind === "open") {
      const session = this.#session(one.agent, one.user);
      const hadRecord = this.#users.has(one.user);
      session.hadUserRecord = hadRecord;
      this.#open.push({ session, user: one.user, hadRecord });
    } else if (one.kind === "user") {
      if (one.grants === null) this.#users.delete(one.user);
      else this.#users.set(one.user, one.grants);
    } else if (one.kind === "rename") {
      const specs = this.#users.get(one.user);
      this.#users.delete(one.user);
      if (specs !== undefined) this.#users.set(one.to, specs);
    } else if (one.kind === "edit") {
      if (one.grants === null) this.#texts.delete(one.agent);
      else if (WRITTEN.includes(one.agent)) this.#texts.set(one.agent, one.grants);
    } else if (one.kind === "revoke") {
      const id = this.#links[one.at]?.id;
      if (id !== undefined) value(await this.#state.links.revoke(id, 2, entryOf()));
    } else await this.#pass(one);
    for (const open of this.#open) {
      // As every call does: the session's authority is evaluated.
      if (!open.hadRecord) this.#holdings.of(open.session);
      open.hadRecord ||= this.#users.has(open.user);
    }
  }

  async #pass({ kind, from, to, grants, user }: Extract<Step, { kind: "give" | "make" }>): Promise<void> {
    const tool = DELEGATION_TOOLS[kind === "give" ? 0 : 1];
    const session = this.#session(from, user);
    const holding = this.#holdings.of(session);
    if (tool === undefined || "refused" in holding) return;
    const input =
      kind === "give" ? { agent: to, grants: [...grants] } : { id: to, instructions: "", grants: [...grants] };
    const requests = tool.requests(input, { notation: READING, agent: from } as CallReading);
    if (!requests.ok) return;
    const caller = { agent: from, authority: holding.authority };
    // As the gate does, except for the tool itself.
    if (requests.value.some((request) => decide(caller, request, MOMENT, []).decision.outcome !== "allow")) return;
    const call = { warrant: { requests: requests.value } } as ToolExecution;
    const carried = await tool.execute(
      input,
      this.#delegations.powers({ session, call }) as Context & DelegationPowers,
    );
    if (!carried.ok) return;
    this.done++;
    const made = carried.value as { readonly link: string };
    this.#links.push({ id: made.link, user, isLimited: user !== null && this.#users.has(user) });
  }

  #can(session: Session, text: string): boolean {
    const holding = this.#holdings.of(session);
    return !("refused" in holding) && judge(holding.authority, requestOf(text), MOMENT).outcome === "allow";
  }

  /** What its own record allows, by itself. */
  #written(agent: string, text: string): boolean {
    const found = this.#record(agent);
    return found.ok && judge(found.value.authority, requestOf(text), MOMENT).outcome === "allow";
  }

  /** Whether the user's record allows it, by itself. */
  #userAllows(user: string, text: string): boolean {
    const found = this.#user(user);
    return found !== null && judge(found.authority, requestOf(text), MOMENT).outcome === "allow";
  }

  /** Whether a grant in a live link to this agent covers it, within the record of the user it was granted for. */
  #given(agent: string, text: string): boolean {
    return this.#state.links.heldBy({ workspace: this.#workspace, agent }).some(({ id, specs }) => {
      const { user, isLimited } = this.#links.find((one) => one.id === id) ?? { user: null, isLimited: true };
      if (user !== null && (isLimited || this.#users.has(user)) && !this.#userAllows(user, text)) return false;
      const grants = parseSpecs(specs, READING) ?? [];
      return judge([chain(link("given", grants))], requestOf(text), MOMENT).outcome === "allow";
    });
  }

  check(): void {
    for (const agent of ALL) {
      const isWritten = this.#texts.has(agent);
      for (const text of [...REQUESTS, ...INVOKES]) {
        if (!this.#can(this.#session(agent), text) || this.#written(agent, text)) continue;
        const granters = this.#state.links
          .heldBy({ workspace: this.#workspace, agent })
          .map(({ granter }) => granter.agent);
        const isTool = text.startsWith("tool.invoke");
        // An agent without a record also has the tools of its creator.
        if (!this.#given(agent, text) && (isWritten || !isTool))
          throw new Error(`${agent} does ${text}: no link gave it that`);
        const isHeld = ALL.some((one) => this.#written(one, text));
        if (granters.length === 0 || !isHeld) throw new Error(`${agent} does ${text}, which no record allows`);
        if (text.includes("shell")) throw new Error(`${agent} has a tool that may only be used`);
      }
    }
    const fresh = ALL.flatMap((agent) =>
      USERS.map((user) => ({ session: this.#session(agent, user), user, hadRecord: this.#users.has(user) })),
    );
    for (const { session, user, hadRecord } of [...this.#open, ...fresh])
      for (const text of [...REQUESTS, ...INVOKES]) {
        if (!this.#can(session, text)) continue;
        this.asUser++;
        const { agent } = session.facts.name;
        if (hadRecord && !this.#userAllows(user, text))
          throw new Error(`${agent} does ${text} for ${user}, whose record does not allow it or is gone`);
        if (!this.#can(this.#session(agent), text)) throw new Error(`${agent} does ${text} only for ${user}`);
      }
  }
}

test("nothing that is delegated, edited, deleted, renamed or revoked gives an agent or a user more than was written", async () => {
  const temporary = temporaryState();
  let passed = 0;
  let asUser = 0;
  try {
    const state = temporary.opened();
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(texts, texts, texts),
        fc.array(step, { minLength: 5, maxLength: 30 }),
        async (first, steps) => {
          const fixture = new Fixture(state);
          for (const [at, grants] of first.entries())
            await fixture.take({ kind: "edit", agent: WRITTEN[at] ?? "", grants });
          for (const one of steps) {
            await fixture.take(one);
            fixture.check();
          }
          passed += fixture.done;
          asUser += fixture.asUser;
        },
      ),
      { numRuns: sizeFor(25, 300) },
    );
  } finally {
    temporary.remove();
  }
  // A law over delegations that are all refused proves nothing.
  expect(passed).toBeGreaterThan(sizeFor(0, 10));
  expect(asUser).toBeGreaterThan(100);
});
