// An agent that an org file defines: its capabilities as grants, the base included, and its client.
import { tree } from "../../core/authority/axes/path.ts";
import { type RootWord, rootWordsWithin } from "../../core/authority/axes/root-word.ts";
import type { Scope } from "../../core/authority/axes/scope.ts";
import type { Grant, Level } from "../../core/authority/grant.ts";
import { DEEP, literal, REST } from "../../core/authority/patterns/segment.ts";
import type { Sequence } from "../../core/authority/patterns/sequence.ts";
import type { Diagnostic } from "../../core/notation/diagnostic.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { builtinTools, type GrantOrigin, grantOf, sequences } from "../../core/notation/grants.ts";
import { NO_PLACES, narrowedBy, stricter } from "../../core/notation/policy/outer-policies.ts";
import { effectivePolicy, policyGrants } from "../../core/notation/policy/policy.ts";
import {
  BASE_POLICY,
  CAPABILITIES,
  type Capability,
  type PolicyTable,
  type Ruling,
  type RulingPlaces,
} from "../../core/notation/policy/policy-table.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { readCapabilityList } from "../../core/notation/record/capabilities.ts";
import { readSandbox } from "../../core/notation/record/hoist.ts";
import type { Entry } from "../../core/notation/tree.ts";
import {
  capabilityTool,
  type Org,
  type OrgAgent,
  orgBudgets,
  orgErrors,
  orgRulings,
  type Rulings,
} from "../../org/org.ts";
import { clientOf, modelProviders } from "../../org/org-client.ts";
import { type Agent, agentFromGrants, agentRefused } from "./agent.ts";

/** INVARIANT: with an error in the file or in the agent's own part the agent grants nothing. */
export function agentFromOrg(org: Org, name: string, reading: Reading): Agent {
  const member = org.agents.find(({ id }) => id === name) ?? null;
  if (member === null || orgErrors(org, member).length > 0)
    return agentRefused(name, "org", [...org.diagnostics, ...(member?.diagnostics ?? [])]);
  return new MemberReader(org, member, reading).agent();
}

const NO_FOLDER = ".";

class MemberReader {
  readonly #org: Org;
  readonly #member: OrgAgent;
  readonly #reading: Reading;
  readonly #diagnostics = new Diagnostics();

  constructor(org: Org, member: OrgAgent, reading: Reading) {
    this.#org = org;
    this.#member = member;
    this.#reading = reading;
  }

  agent(): Agent {
    const { id, span } = this.#member;
    const folder: Entry = this.#member.folder ?? {
      key: "folder",
      keySpan: span,
      value: { kind: "scalar", value: NO_FOLDER, span },
    };
    const { sandbox: root, isBroken } = readSandbox(folder, this.#reading, this.#diagnostics);
    if (isBroken) return agentRefused(id, "org", this.#all());
    const policies = this.#reading.policies;
    const named = policies?.agents.get(id) ?? null;
    const own = narrowedBy(builtIn(this.#member.rulings), named);
    const defaults = builtIn(this.#org.defaults.rulings);
    const org = narrowedBy(stricter(defaults, policies?.org ?? null), named) ?? new Map();
    const base = narrowedBy(BASE_POLICY, named) ?? BASE_POLICY;
    const effective = effectivePolicy(own, org, base);
    const denied = [...effective].filter(([, { ruling }]) => ruling === "deny");
    const policyLimits = stricter(new Map(denied.map(([capability]) => [capability, "deny"])), named) ?? new Map();
    const places = policies?.places ?? NO_PLACES;
    const grants = [
      ...policyGrants(own, org, {
        reading: this.#reading,
        diagnostics: this.#diagnostics,
        span,
        spans: builtInPlaces(this.#member.rulings),
        outer: {
          agent: places.agents.get(id) ?? new Map(),
          org: new Map([...places.org, ...builtInPlaces(this.#org.defaults.rulings)]),
          label: "org",
        },
        root,
        base,
      }),
      ...this.#ownGrants(root),
      ...this.#storeGrants(),
      ...this.#clientGrants(root, effective.get("code")?.ruling ?? "deny"),
      builtinTools({ span, implied: "default" }),
    ];
    const hasErrors = this.#diagnostics.list.some(({ severity }) => severity === "error");
    if (hasErrors) return agentRefused(id, "org", this.#all());
    return {
      ...agentFromGrants(id, "org", grants, this.#all()),
      workingRoot: root,
      policyLimits,
      budgets: orgBudgets(this.#org, this.#member),
    };
  }

  /** Shared data of the org: goals and tasks, what it found itself, and what the agents below it found. */
  #storeGrants(): readonly Grant[] {
    const by: GrantOrigin = { span: null, implied: "org (base)" };
    const classes = (...names: readonly string[]): Scope => sequences(names.map((name) => [literal(name)]));
    const artifacts = (id: string): Sequence => [literal("artifacts"), ...id.split("/").map(literal), DEEP];
    const { id } = this.#member;
    const readable = [id, ...reportsBelow(this.#org, id)].map(artifacts);
    const own = { class: classes("artifact"), path: sequences([artifacts(id)]) };
    return [
      grantOf("records.read", { class: classes("goal", "task") }, by),
      grantOf("records.read", { class: classes("artifact"), path: sequences(readable) }, by),
      ...["records.create", "records.update"].map((verb) => grantOf(verb, own, by)),
    ];
  }

  /** What a capability of the file's own grants; `ask` makes each of its grants ask, and the client's tools that it stands for. */
  #ownGrants(root: readonly string[] | null): readonly Grant[] {
    return orgRulings(this.#org, this.#member).flatMap(({ capability, ruling, span }) => {
      const own = this.#org.capabilities.get(capability);
      if (own === undefined || ruling === "deny") return [];
      const by: GrantOrigin = { span, implied: `capability ${capability}`, ask: 1 };
      const tool = sequences([[literal("tool"), literal(capabilityTool(capability))]]);
      const tools = ruling === "ask" && own.tools.length > 0 ? [grantOf("tool.invoke", { tool }, by)] : [];
      if (own.grants === null) return tools;
      const context = {
        reading: this.#reading,
        diagnostics: this.#diagnostics,
        root,
        implied: `capability ${capability}`,
      };
      const grants = readCapabilityList(own.grants, context).grants.map((grant) => ({
        ...grant,
        span: grant.span ?? span,
        conditions:
          ruling === "ask" && grant.conditions.ask === 0 ? { ...grant.conditions, ask: 1 as const } : grant.conditions,
      }));
      return [...grants, ...tools];
    });
  }

  /**
   * The client may be started, and speak with its model. Its tools are what the capabilities are about; without `code` its
   * root is read-only, and with `ask` a root that it may change is asked for.
   */
  #clientGrants(root: readonly string[] | null, code: Ruling): readonly Grant[] {
    const { client, model } = clientOf(this.#org, this.#member);
    const written = (text: { readonly span: GrantOrigin["span"] } | null, word: string): GrantOrigin => ({
      span: text?.span ?? null,
      implied: text === null ? `${word} (base)` : word,
    });
    const by = written(client.placed, "client");
    const all = modelProviders(client.name);
    // A client with several providers names one before the model.
    const [, prefix = "", rest = ""] = /^([^/]+)\/(.+)$/.exec(model?.text ?? "") ?? [];
    const isPrefixed = all.includes(prefix);
    const providers = isPrefixed ? [prefix] : all;
    const named = model === null ? null : isPrefixed ? rest : model.text;
    const models = named === null ? {} : { model: sequences([[literal(named)]]) };
    const words: readonly (readonly [RootWord, Level])[] =
      code === "allow"
        ? [["live", 0]]
        : code === "deny"
          ? [["ro", 0]]
          : [
              ["ro", 0],
              ["live", 1],
            ];
    const start = (root === null || root.length === 0 ? [] : words).map(([word, ask]) =>
      grantOf(
        "proc.exec",
        {
          root: sequences([tree(root ?? [])]),
          argv: sequences([[literal(client.name), REST]]),
          mode: { kind: "words", of: rootWordsWithin(word) },
        },
        { ...by, root, ask },
      ),
    );
    return [...start, ...this.#modelGrants(providers, models, written(model, "model"))];
  }

  /** `totalUsd` is one budget for all providers, in the user's prices; nothing may be spent of a budget of 0. */
  #modelGrants(providers: readonly string[], models: ModelScope, by: GrantOrigin): readonly Grant[] {
    const total = this.#member.budget?.get("totalUsd") ?? null;
    if (providers.length === 0 || total === 0) return [];
    const use = (names: readonly string[]): Grant =>
      grantOf("model.use", { provider: sequences(names.map((name) => [literal(name)])), ...models }, by);
    if (total === null) return providers.map((name) => use([name]));
    const grant = use(providers);
    return [{ ...grant, conditions: { ...grant.conditions, money: Math.max(1, Math.floor(total * millionths)) } }];
  }

  #all(): readonly Diagnostic[] {
    return [...this.#org.diagnostics, ...this.#member.diagnostics, ...this.#diagnostics.list];
  }
}

/** Everyone who reports to the agent, directly or through others. */
function reportsBelow({ agents }: Org, id: string): readonly string[] {
  const found = new Set<string>();
  const add = (of: string): void => {
    for (const agent of agents)
      if (agent.reportsTo === of && agent.id !== id && !found.has(agent.id)) {
        found.add(agent.id);
        add(agent.id);
      }
  };
  add(id);
  return [...found];
}

const millionths = 1_000_000;
type ModelScope = Parameters<typeof grantOf>[1];

function builtIn({ table }: Rulings): PolicyTable {
  return new Map(CAPABILITIES.flatMap((one) => (table.has(one) ? [[one, table.get(one) ?? "deny"] as const] : [])));
}

function builtInPlaces({ places }: Rulings): RulingPlaces {
  const found = CAPABILITIES.map((one): [Capability, ReturnType<typeof places.get>] => [one, places.get(one)]);
  return new Map(found.flatMap(([one, span]) => (span === undefined ? [] : [[one, span] as const])));
}
