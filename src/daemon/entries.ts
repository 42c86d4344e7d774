// Entries of the log, each made in one place, so that all of them say who, what and why in the same words.
import type { Authority, Chain } from "../authority/chain.ts";
import type { Moment } from "../authority/compiled.ts";
import { explain } from "../authority/explain.ts";
import type { Grant } from "../authority/grant.ts";
import type { JsonObject } from "../authority/json.ts";
import { judge } from "../authority/judge.ts";
import type { Request } from "../authority/request.ts";
import { compactText } from "../notation/printer.ts";
import { requestText } from "../notation/request-printer.ts";
import type { Entry } from "../ports/commit.ts";
import type { AccountLeft } from "../ports/ledger.ts";
import type { EntryKind, LogEntry, Who } from "../ports/log.ts";
import { needOf } from "./counterexample.ts";
import type { Holding } from "./holding.ts";
import type { DaemonParts } from "./parts.ts";

export const NOBODY: Who = { user: null, agent: null, workspace: null, chain: [], session: null, trace: null };

/** What may have come from outside, and so may hold a secret. */
type Told = Pick<LogEntry, keyof Who | "tool" | "outcome" | "of" | "more">;

const NOTHING: readonly string[] = [];

export class Entries {
  readonly #parts: Pick<DaemonParts, "id" | "now" | "redacting">;
  /** Grants are read once for a text and decide many calls. */
  readonly #spelled = new WeakMap<Grant, string>();

  constructor(parts: Pick<DaemonParts, "id" | "now" | "redacting">) {
    this.#parts = parts;
  }

  /** INVARIANT: no entry leaves here with a known secret in it. */
  make(
    kind: EntryKind,
    who: Who,
    outcome: string,
    rest: Partial<Pick<LogEntry, "id" | "tool" | "verbs" | "code" | "of" | "more">> = {},
  ): LogEntry {
    const { id, now, redacting } = this.#parts;
    // Member by member: to copy what is copied anyway costs more than all of the rest.
    const { user, agent, workspace, chain, session, trace } = who;
    const { tool = null, of = null, more = {} } = rest;
    const given: Told = { user, agent, workspace, chain, session, trace, tool, outcome, of, more };
    const told = redacting.json(given as unknown as JsonObject) as unknown as Told;
    return {
      id: rest.id ?? id("e"),
      kind,
      at: now(),
      user: told.user,
      agent: told.agent,
      workspace: told.workspace,
      chain: told.chain,
      session: told.session,
      trace: told.trace,
      tool: told.tool,
      verbs: rest.verbs ?? NOTHING,
      outcome: told.outcome,
      code: rest.code ?? null,
      of: told.of,
      more: told.more,
    };
  }

  /** What the gate decided. */
  decision(who: Who, entry: Entry, holding: Holding, moment: () => Moment): LogEntry {
    const { tool, requests, need, outcome, code, approval, reason, level, basis } = entry;
    const asked = requests.length === 0 && need !== null ? [need] : requests;
    const missed = needOf(entry.agent, holding, code, need);
    // In the order they are written in.
    const more: JsonObject = {
      approval,
      by: basis.flatMap(({ chain, grants }) => this.#deciding(holding, chain, grants)),
      level,
      need: missed === null ? null : requestText(missed),
      reason,
      requests: asked.map(requestText),
      suggest: missed === null ? null : suggestion(holding.authority, missed, moment()),
    };
    const verbs: string[] = [];
    for (const { verb } of asked) if (!verbs.includes(verb.verb)) verbs.push(verb.verb);
    return this.make("decision", who, outcome, { id: this.#parts.id("c"), tool, verbs, code, more });
  }

  #deciding({ authority, record }: Holding, chain: number, grants: readonly number[]): readonly JsonObject[] {
    const links = authority[chain] as Chain | undefined;
    return (links ?? []).flatMap(({ link }, place) => {
      const grant = link.grants[grants[place] ?? -1];
      return grant === undefined
        ? []
        : [{ at: record?.placeOf(grant.span) ?? null, grant: this.#textOf(grant), link: link.id }];
    });
  }

  #textOf(grant: Grant): string {
    const known = this.#spelled.get(grant);
    if (known !== undefined) return known;
    const text = compactText(grant);
    this.#spelled.set(grant, text);
    return text;
  }
}

function suggestion(authority: Authority, need: Request, moment: Moment): string | null {
  const { suggest } = explain(authority, need, moment, judge(authority, need, moment));
  return suggest === null ? null : compactText(suggest);
}

export function leftData(left: readonly AccountLeft[]): readonly JsonObject[] {
  return left.map(({ account, left: many }) => ({ account, left: many }));
}
