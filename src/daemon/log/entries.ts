// Builds all log entries in one place, so that they state who, what and why in the same words.
import { builtinName } from "../../core/authority/axes/name.ts";
import type { Chain } from "../../core/authority/chain.ts";
import type { CompiledLink, Moment } from "../../core/authority/compiled.ts";
import type { Basis } from "../../core/authority/decision.ts";
import { explain } from "../../core/authority/explain.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import { conditionWords, linkWords, policyWords } from "../../core/notation/link-words.ts";
import { denyingCapability } from "../../core/notation/policy/policy.ts";
import { compactText } from "../../core/notation/printer.ts";
import { readRequestText } from "../../core/notation/request/request.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import type { Entry, Outcome } from "../../core/ports/stores/commit.ts";
import type { EntryKind, LogEntry, Who } from "../../core/ports/stores/log.ts";
import { canonicalJson, canonicalString } from "../../log/chain/canonical.ts";
import { type CutSizes, cutJson } from "../../log/chain/cut.ts";
import { type EncodedIdentity, encodeIdentity, PreserializedEntry } from "../../log/chain/preserialized-entry.ts";
import type { CallRefusal } from "../calls/call-ports.ts";
import type { Holding } from "../calls/holding.ts";
import type { DaemonParts, OutputRedactor, RecordRead } from "../parts.ts";
import { needOf } from "./denials.ts";

export const NO_ACTOR: Who = { user: null, agent: null, workspace: null, chain: [], session: null, trace: null };

/** External data that may contain a secret. */
type RedactedFields = Pick<LogEntry, keyof Who | "tool" | "outcome" | "of" | "more">;

const NOTHING: readonly string[] = [];
/** The outcome of a denial in shadow mode. */
const WOULD_DENY = "would_deny";

/** Codes that a wider grant would change: only these get a suggestion. */
const SUGGESTED: ReadonlySet<string> = new Set(["scope_violation", "capability_absent"]);

const argumentCharactersMax = 8192;
const ARGUMENT_SIZES: readonly CutSizes[] = [
  { characters: 2048, elements: 64, depth: 8 },
  { characters: 256, elements: 16, depth: 4 },
  { characters: 64, elements: 8, depth: 2 },
];

/**
 * Tools whose arguments are prompts, with the arguments that are logged. Everything else, misspelled names included, is logged with
 * the outcome of the request to the model, and only if the user keeps prompts.
 */
const PROMPTED: ReadonlyMap<string, readonly string[]> = new Map([
  ["lm_complete", ["provider", "model", "max_tokens", "temperature"]],
]);

function plainName(tool: string): string {
  return builtinName(tool.replace(/^builtin:/, ""));
}

/** Without the arguments of a tool whose arguments are prompts. */
function loggedRequest(tool: string, request: Request): Request {
  const isPrompt = request.verb.verb === "tool.invoke" && PROMPTED.has(plainName(tool));
  return isPrompt ? { ...request, values: request.values.slice(0, 1) } : request;
}

/** The same of a request that is text already. */
export function loggedRequestText(tool: string, request: string): string {
  const isPrompt = request.startsWith("tool.invoke ") && PROMPTED.has(plainName(tool));
  return isPrompt ? request.split(" ", 2).join(" ") : request;
}

function withoutPrompts(tool: string, input: JsonObject): JsonObject {
  const shown = PROMPTED.get(plainName(tool));
  return shown === undefined
    ? input
    : Object.fromEntries(Object.entries(input).filter(([name]) => shown.includes(name)));
}

/** INVARIANT: no entry leaves here with a known secret in it. */
export class Entries {
  readonly #parts: Pick<DaemonParts, "id" | "now"> & { readonly redacting: OutputRedactor };
  readonly #words: EntryTextCache;

  constructor(parts: Pick<DaemonParts, "id" | "now"> & { readonly redacting: OutputRedactor }) {
    this.#parts = parts;
    this.#words = new EntryTextCache(parts.redacting);
  }

  make(
    kind: EntryKind,
    who: Who,
    outcome: string,
    rest: Partial<Pick<LogEntry, "id" | "tool" | "verbs" | "code" | "of" | "more">> = {},
  ): LogEntry {
    const { id, now, redacting } = this.#parts;
    // Member by member: spreading would copy twice, at a higher cost than everything else here.
    const { user, principal, agent, agents, workspace, chain, session, trace } = who;
    const { tool = null, of = null, more = {} } = rest;
    const given: RedactedFields = {
      user,
      ...(principal === undefined ? {} : { principal }),
      agent,
      ...(agents === undefined ? {} : { agents }),
      workspace,
      chain,
      session,
      trace,
      tool,
      outcome,
      of,
      more,
    };
    const told = redacting.json(given as unknown as JsonObject) as unknown as RedactedFields;
    return {
      id: rest.id ?? id("e"),
      kind,
      at: now(),
      user: told.user,
      ...(told.principal === undefined ? {} : { principal: told.principal }),
      agent: told.agent,
      ...(told.agents === undefined ? {} : { agents: told.agents }),
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

  /** The gate's decision. One per call, and therefore assembled from cached JSON parts. */
  decision(
    who: Who,
    { entry, input }: { readonly entry: Entry; readonly input: JsonObject },
    holding: Holding,
    moment: () => Moment,
  ): LogEntry {
    const { tool, requests, need, outcome, code, approval, reason, level, basis } = entry;
    const { id, now } = this.#parts;
    const words = this.#words;
    const asked = requests.length === 0 && need !== null ? [need] : requests;
    const missed = needOf(entry.agent, holding, code, need);
    // If trust is missing, no grant would help.
    const isHelped = missed !== null && code !== "untrusted_policy";
    const { suggest, link } = isHelped ? suggestion(holding, missed, moment()) : UNEXPLAINED;
    const verbs: string[] = [];
    let texts = "";
    for (let at = 0; at < asked.length; at++) {
      const request = asked[at] as Request;
      if (!verbs.includes(request.verb.verb)) verbs.push(request.verb.verb);
      texts += `${at === 0 ? "" : ","}${words.spelled(requestText(loggedRequest(tool, request)))}`;
    }
    // INVARIANT: sorted by name.
    const more =
      `{"approval":${words.spelled(approval)},${outcome === "allow" ? "" : `"arguments":${canonicalJson(this.#told(tool, input))},`}"by":${words.by(holding, basis)},"level":${level},${outcome === "allow" ? "" : `"link":${words.spelled(link)},`}` +
      `"need":${words.spelled(missed === null ? null : requestText(loggedRequest(tool, missed)))},"reason":${words.spelled(reason)},` +
      `"requests":[${texts}],"suggest":${words.spelled(suggest)}}`;
    return new PreserializedEntry(
      words.who(who),
      {
        id: id("c"),
        kind: "decision",
        at: now(),
        tool: words.text(tool),
        verbs,
        outcome: entry.isShadow === true ? WOULD_DENY : outcome,
        code,
        of: entry.call ?? null,
      },
      more,
    );
  }

  /** A denial during a call: like any other denial, linked to its call. */
  refusal(
    who: Who,
    { refusal, input }: { readonly refusal: CallRefusal; readonly input: JsonObject },
    holding: Holding,
    moment: () => Moment,
  ): LogEntry {
    const { receipt, tool, denial, reason, target = null } = refusal;
    const { code, request, times } = denial;
    const read = request === "" ? null : readRequestText(request, holding.reading);
    // The agent may have created the target behind the symlink, so no grant is suggested for it.
    const isHelped = read?.ok === true && target === null && SUGGESTED.has(code);
    const { suggest, link } = isHelped ? suggestion(holding, read.value, moment()) : UNEXPLAINED;
    const [need, requests] = request === "" ? [null, []] : [request, [request]];
    const verb = /^[a-z_]+\.[a-z_]+/.exec(request)?.[0];
    return this.make("decision", who, "deny", {
      id: this.#parts.id("c"),
      tool,
      verbs: verb === undefined ? [] : [verb],
      code,
      of: receipt,
      more: {
        ...{ approval: null, arguments: this.#told(tool, input), by: [], level: 0 },
        ...{ link, need, reason, requests, suggest, target, times },
      },
    });
  }

  /** Arguments as stored in a denial: redacted, long values truncated. */
  #told(tool: string, input: JsonObject): Json {
    const told = this.#parts.redacting.json(withoutPrompts(tool, input));
    for (const sizes of ARGUMENT_SIZES) {
      const cut = cutJson(told, sizes);
      if (canonicalJson(cut).length <= argumentCharactersMax) return cut;
    }
    return {};
  }

  /** The outcome of a decision. */
  outcome(who: Who, { receipt, ended, denials, enforcement, wallMicroseconds }: Outcome): LogEntry {
    const { id, now } = this.#parts;
    const words = this.#words;
    const milliseconds = Number.isFinite(wallMicroseconds) ? Math.round(wallMicroseconds / 1000) : 0;
    // INVARIANT: sorted by name.
    const more =
      `{"denials":${this.#listed(denials, ({ code, id: at, request, times }) =>
        at === undefined ? { code, request, times } : { code, id: at, request, times },
      )},` +
      `"ended":${words.spelled(ended)},` +
      `"enforcement":${this.#listed(enforcement, ({ axis, strength }) => ({ axis, strength }))},` +
      `"milliseconds":${this.#spelled(milliseconds)}}`;
    const told = words.text(ended);
    return new PreserializedEntry(
      words.who(who),
      { id: id("e"), kind: "outcome", at: now(), tool: null, verbs: NOTHING, outcome: told, code: null, of: receipt },
      more,
    );
  }

  #listed<T>(list: readonly T[], shown: (one: T) => JsonObject): string {
    return list.length === 0 ? "[]" : this.#spelled(list.map(shown));
  }

  #spelled(value: Json): string {
    return canonicalJson(this.#parts.redacting.json(value));
  }
}

interface Unmet {
  /** The smallest grant that would help; null if none would. */
  readonly suggest: string | null;
  /** The link that denied, in words. */
  readonly link: string | null;
}

const UNEXPLAINED: Unmet = { suggest: null, link: null };

function suggestion({ authority, reading, record }: Holding, need: Request, moment: Moment): Unmet {
  const capability = record === null ? null : denyingCapability(record.policyLimits, need);
  if (capability !== null) return { suggest: null, link: policyWords(capability) };
  const decision = judge(authority, need, moment);
  const { suggest, limit } = explain(authority, need, moment, decision, reading.workingRoot ?? null);
  const at = decision.outcome === "deny" ? decision.at : null;
  const compiled = at === null ? undefined : authority[at.chain]?.[at.link];
  const denied = compiled?.link;
  const link = limit ?? denied?.id ?? null;
  return {
    suggest: suggest === null ? null : compactText(suggest),
    link:
      link === null
        ? null
        : linkWords(link, denied?.id === link ? denied.issuer : null) +
          (compiled === undefined || denied?.id !== link ? "" : conditionWords(compiled, need, decision)),
  };
}

const wordsMax = 1024;
const wordCharactersMax = 256;

/** A grant as listed in an entry, and the redaction it was serialized with. */
interface GrantText {
  readonly record: RecordRead | null;
  readonly link: string;
  readonly text: string;
}

/**
 * INVARIANT: cached text was scanned for the currently known secrets and contains none. The cache is cleared when the secrets
 * change, and text that contains a secret is scanned, and reported, every time.
 */
export class EntryTextCache {
  readonly #redacting: OutputRedactor;
  #known: object | null = null;
  #who = new WeakMap<Who, EncodedIdentity>();
  /** Grants are parsed once per text and decide many calls. */
  #grants = new WeakMap<Grant, GrantText>();
  readonly #plain = new Set<string>();

  constructor(redacting: OutputRedactor) {
    this.#redacting = redacting;
  }

  who(who: Who): EncodedIdentity {
    this.#look();
    const kept = this.#who.get(who);
    if (kept !== undefined) return kept;
    const told = this.#redacting.json(who as unknown as JsonObject) as unknown as Who;
    const spelled = encodeIdentity(told);
    // A caller with a delegation chain is built per call, so it is not cached.
    if (who.chain.length === 0 && this.#isSame(who as unknown as JsonObject, told as unknown as JsonObject))
      this.#who.set(who, spelled);
    return spelled;
  }

  /** Redacted. */
  text(text: string): string {
    this.#look();
    if (this.#known === null || this.#plain.has(text)) return text;
    const told = this.#redacting.text(text);
    if (told !== text || text.length > wordCharactersMax) return told;
    if (this.#plain.size >= wordsMax) this.#plain.clear();
    this.#plain.add(text);
    return text;
  }

  /** The same, as JSON text. */
  spelled(text: string | null): string {
    return text === null ? "null" : canonicalString(this.text(text));
  }

  /** The list of grants that decided, as JSON text. */
  by({ authority, record }: Holding, basis: readonly Basis[]): string {
    this.#look();
    let list = "";
    for (const { chain, grants } of basis) {
      const links = (authority[chain] as Chain | undefined) ?? [];
      for (let place = 0; place < links.length; place++) {
        const { link } = links[place] as CompiledLink;
        const grant = link.grants[grants[place] ?? -1];
        if (grant !== undefined) list += `${list === "" ? "" : ","}${this.#grant(grant, link.id, record)}`;
      }
    }
    return `[${list}]`;
  }

  #grant(grant: Grant, link: string, record: RecordRead | null): string {
    const kept = this.#grants.get(grant);
    if (kept !== undefined && kept.record === record && kept.link === link) return kept.text;
    const shown = { at: record?.placeOf(grant.span) ?? null, grant: compactText(grant), link };
    const told = this.#redacting.json(shown);
    const text = canonicalJson(told);
    if (this.#isSame(shown, told)) this.#grants.set(grant, { record, link, text });
    return text;
  }

  #isSame(value: Json, told: Json): boolean {
    return this.#known === null || canonicalJson(value) === canonicalJson(told);
  }

  /** Clears the cache if the known secrets have changed. */
  #look(): void {
    const { known } = this.#redacting;
    if (known === this.#known) return;
    this.#known = known;
    this.#who = new WeakMap();
    this.#grants = new WeakMap();
    this.#plain.clear();
  }
}
