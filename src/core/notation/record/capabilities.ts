// The value of `capabilities`: a list of verbs, compact specs, tokens and `verb: {scope}` maps, or one line of specs.
import type { Grant, Span } from "../../authority/grant.ts";
import { grantsMax } from "../../base/limits.ts";
import { readCompact } from "../compact/compact.ts";
import { type Places, placesOf } from "../compact/compact-places.ts";
import { splitSpecs } from "../compact/specs.ts";
import type { Diagnostics } from "../diagnostic.ts";
import type { Reading } from "../reading.ts";
import { CONDITION_KEYS, conditionKeys } from "../scope/conditions.ts";
import { readGrant } from "../scope/scope-reader.ts";
import { kindName } from "../scope/scope-values.ts";
import { isVerb, meantVerb, readVerb } from "../scope/verb-reader.ts";
import { readToken } from "../tokens/token.ts";
import type { Entry, Mapping, TreeNode } from "../tree.ts";
import { isScopeKey } from "./record-keys.ts";

export interface CapabilitiesContext {
  readonly reading: Reading;
  readonly diagnostics: Diagnostics;
  /** Hoisted root of the agent, or null. */
  readonly root: readonly string[] | null;
  readonly implied?: string | null;
  /** Filled with the scope keys and conditions that grants of the list could have and do not. */
  readonly omitted?: Set<string>;
}

export interface CapabilityList {
  readonly grants: readonly Grant[];
  /**
   * Verbs the list is about, those of items that were not understood included: a shorthand never stands in for an
   * item with a mistake in it. Null when that cannot be told, and so could be any verb.
   */
  readonly mentioned: ReadonlySet<string> | null;
  /** An item names no verb, nor anything near one: it may have been about any verb. */
  readonly strange: boolean;
}

export function readCapabilities(node: TreeNode, context: CapabilitiesContext): Grant[] {
  return [...readCapabilityList(node, context).grants];
}

export function readCapabilityList(node: TreeNode, context: CapabilitiesContext): CapabilityList {
  const { diagnostics } = context;
  const list = new ListReader(context);
  if (node.kind === "scalar" && typeof node.value === "string") {
    const specs = splitSpecs(node.value, node.span, diagnostics, placesOf(node.value, node.span, node.written));
    if (specs === null) return NOT_UNDERSTOOD;
    for (const { text, span, places } of specs) list.text(text, span, places);
  } else if (node.kind === "list" && node.items.length <= grantsMax) {
    for (const item of node.items) list.item(item);
  } else if (node.kind === "list") {
    diagnostics.error("too_large", node.span, `\`capabilities\` has more than ${grantsMax} items`);
    return NOT_UNDERSTOOD;
  } else if (node.kind !== "scalar" || node.value !== null) {
    const fix = node.kind === "map" ? "begin each verb with `- `: a list of capabilities" : "capabilities: []";
    diagnostics.error("wrong_type", node.span, `\`capabilities\` must be a list, not ${kindName(node)}`, { fix });
    return NOT_UNDERSTOOD;
  }
  if (list.isStray) return NOT_UNDERSTOOD;
  return { grants: list.grants, mentioned: list.unclear ? null : list.mentioned, strange: list.strange };
}

const NOT_UNDERSTOOD: CapabilityList = { grants: [], mentioned: null, strange: true };

class ListReader {
  readonly grants: Grant[] = [];
  readonly mentioned = new Set<string>();
  unclear = false;
  strange = false;
  /** A scope key stands where a verb belongs: a grant before it has lost its limit, so none of the list counts. */
  isStray = false;
  readonly #context: CapabilitiesContext;

  constructor(context: CapabilitiesContext) {
    this.#context = context;
  }

  item(node: TreeNode): void {
    if (node.kind === "scalar" && typeof node.value === "string")
      this.text(node.value, node.span, placesOf(node.value, node.span, node.written));
    else if (node.kind === "map") this.#map(node);
    else this.#wrong(node, `a capability is text or a map with one key, not ${kindName(node)}`);
  }

  /** With braces or without a colon it is compact; else what follows the colon makes it a token. */
  text(text: string, span: Span, places: Places): void {
    const key = /^\s*([a-z_]+)\s*[=:]/.exec(text)?.[1];
    if (key !== undefined && isScopeKey(key)) {
      this.#stray(key, span);
      return;
    }
    this.#mention(/^[^\s{:]*/.exec(text.trimStart())?.[0] ?? "");
    const isToken = text.includes(":") && !text.includes("{");
    this.#add(isToken ? this.#token(text, span) : readCompact(text, { ...this.#context, span, places }));
  }

  /** A token names absolute paths, so the agent's root is a ceiling to it. */
  #token(text: string, span: Span): Grant | null {
    const { reading, diagnostics, root, implied, omitted } = this.#context;
    const grant = readToken(text, { reading: { ...reading, ceiling: root ?? reading.ceiling }, diagnostics, span });
    for (const key of grant === null ? CONDITION_KEYS : conditionKeys(grant.verb)) omitted?.add(key);
    return grant === null || implied === undefined ? grant : { ...grant, implied };
  }

  #map(node: Mapping): void {
    const [entry, second] = node.entries;
    if (entry !== undefined && isScopeKey(entry.key)) {
      this.#stray(entry.key, entry.keySpan);
      return;
    }
    for (const { key } of node.entries) if (!isScopeKey(key)) this.#mention(key);
    const message = "a capability map has exactly one key, its verb";
    if (entry !== undefined && second === undefined) this.#verb(entry, node.span);
    else if (entry !== undefined && second !== undefined && isVerb(entry.key) && isScopeKey(second.key))
      this.#outdented(`${message}: \`${second.key}\` is a scope key`, second.key, second.keySpan);
    else this.#context.diagnostics.error("wrong_type", node.span, message, { fix: "begin each verb with `- `" });
  }

  #stray(key: string, span: Span): void {
    this.isStray = true;
    this.#outdented(
      `\`${key}\` is a scope key, not a capability; until it is fixed, the list grants nothing`,
      key,
      span,
    );
  }

  #outdented(message: string, key: string, span: Span): void {
    this.#context.diagnostics.error("bad_indentation", span, message, { fix: `indent \`${key}\` below its verb` });
  }

  #verb({ key, keySpan, value }: Entry, span: Span): void {
    const verb = readVerb(key, keySpan, this.#context.diagnostics);
    const isBare = value.kind === "scalar" && value.value === null;
    if (value.kind !== "map" && !isBare) {
      const message = `the scope of \`${key.slice(0, 80)}\` must be a map, not ${kindName(value)}`;
      this.#context.diagnostics.error("wrong_type", value.span, message);
    } else if (verb !== null) {
      const scope = value.kind === "map" ? value : null;
      this.#add(readGrant(verb, scope, { ...this.#context, span, implied: this.#context.implied ?? null }));
    }
  }

  #mention(name: string): void {
    const verb = meantVerb(name);
    // The nearest name is a guess: `fs.edit` need not be about the verb it is nearest to.
    if (verb === null || !isVerb(name)) this.strange = true;
    if (verb !== null) this.mentioned.add(verb);
  }

  #add(grant: Grant | null): void {
    if (grant === null) return;
    this.grants.push(grant);
    this.mentioned.add(grant.verb.verb);
  }

  #wrong(node: TreeNode, message: string): void {
    this.unclear = true;
    this.#context.diagnostics.error("wrong_type", node.span, message);
  }
}
