// Cached JSON parts of entries, redacted and serialized once: the caller, and the grants that decided.

import type { Chain } from "../../core/authority/chain.ts";
import type { CompiledLink } from "../../core/authority/compiled.ts";
import type { Basis } from "../../core/authority/decision.ts";
import type { Grant } from "../../core/authority/grant.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import { compactText } from "../../core/notation/printer.ts";
import type { Who } from "../../core/ports/stores/log.ts";
import { canonicalJson, quoted } from "../../log/chain/canonical.ts";
import { type EncodedIdentity, encodeIdentity } from "../../log/chain/preserialized-entry.ts";
import type { Holding } from "../calls/holding.ts";
import type { OutputRedactor, RecordRead } from "../parts.ts";

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
    return text === null ? "null" : quoted(this.text(text));
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
