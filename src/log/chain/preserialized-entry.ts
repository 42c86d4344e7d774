// A preserialized entry, assembled from text fragments: most of them are the same in all entries of one session.
// INVARIANT: byte for byte what `canonicalJson` produces for the entry.
import type { JsonObject } from "../../core/base/json.ts";
import type { EntryKind, LogEntry, PrincipalView, Who } from "../../core/ports/stores/log.ts";
import { canonicalJson, canonicalString } from "./canonical.ts";

/** The identity members of an entry as text fragments, each with the names of the neighbouring members around it. */
export interface EncodedIdentity {
  readonly who: Who;
  readonly agent: string;
  readonly chain: string;
  readonly session: string;
  readonly trace: string;
  readonly workspace: string;
}

export function encodeIdentity(who: Who): EncodedIdentity {
  const { agent, agents, chain, principal, session, trace, user, workspace } = who;
  const all = agents === undefined ? "" : `,"agents":${canonicalJson(agents)}`;
  const acting = principal === undefined ? "" : `,"principal":${canonicalJson(principal as unknown as JsonObject)}`;
  return {
    who,
    agent: `{"agent":${canonicalJson(agent)}${all},"at":`,
    chain: `,"chain":${canonicalJson(chain)},"code":`,
    session: `${acting},"session":${canonicalJson(session)},"tool":`,
    trace: `,"trace":${canonicalJson(trace)},"user":${canonicalJson(user)},"verbs":`,
    workspace: `,"workspace":${canonicalJson(workspace)}}`,
  };
}

export type EncodedMembers = Pick<LogEntry, "id" | "kind" | "at" | "tool" | "verbs" | "outcome" | "code" | "of">;

export class PreserializedEntry implements LogEntry {
  readonly id: string;
  readonly kind: EntryKind;
  readonly at: number;
  readonly user: string | null;
  readonly principal: PrincipalView | undefined;
  readonly agent: string | null;
  readonly agents: readonly string[] | undefined;
  readonly workspace: string | null;
  readonly chain: readonly string[];
  readonly session: string | null;
  readonly trace: string | null;
  readonly tool: string | null;
  readonly verbs: readonly string[];
  readonly outcome: string;
  readonly code: string | null;
  readonly of: string | null;
  readonly #more: string;
  readonly #text: string;

  /** `more`: its canonical text. */
  constructor(spelled: EncodedIdentity, members: EncodedMembers, more: string) {
    const { who } = spelled;
    const { id, kind, at, tool, verbs, outcome, code, of } = members;
    this.id = id;
    this.kind = kind;
    this.at = at;
    this.user = who.user;
    this.principal = who.principal;
    this.agents = who.agents;
    this.agent = who.agent;
    this.workspace = who.workspace;
    this.chain = who.chain;
    this.session = who.session;
    this.trace = who.trace;
    this.tool = tool;
    this.verbs = verbs;
    this.outcome = outcome;
    this.code = code;
    this.of = of;
    this.#more = more;
    const [before, after] = [`${spelled.agent}${canonicalJson(at)}${spelled.chain}${maybe(code)}`, maybe(of)];
    const middle = `,"id":${canonicalString(id)},"kind":"${kind}","more":${more},"of":${after},"outcome":${canonicalString(outcome)}`;
    const end = `${spelled.session}${maybe(tool)}${spelled.trace}${jsonList(verbs)}${spelled.workspace}`;
    // Joined once: it is read several times, and a concatenated string would be flattened on each read.
    this.#text = [before, middle, end].join("");
  }

  /** Parsed on demand: rarely used. */
  get more(): JsonObject {
    return JSON.parse(this.#more) as JsonObject;
  }

  /** Null for an entry that is not preserialized. */
  static textOf(entry: LogEntry): string | null {
    return #text in entry ? entry.#text : null;
  }
}

function maybe(text: string | null): string {
  return text === null ? "null" : canonicalString(text);
}

/** The JSON list of these texts. */
export function jsonList(texts: readonly string[]): string {
  let list = "[";
  for (let at = 0; at < texts.length; at++)
    list += at === 0 ? canonicalString(texts[at] as string) : `,${canonicalString(texts[at] as string)}`;
  return `${list}]`;
}
