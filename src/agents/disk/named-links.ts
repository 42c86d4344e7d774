// The links of a text with ids that are unique on this machine, so that each has its own accounts.
import type { Chain } from "../../core/authority/chain.ts";
import { type CompiledLink, compile } from "../../core/authority/compiled.ts";

/**
 * Two agents with the same id in two projects have separate accounts. INVARIANT: calls are charged to the accounts of
 * the trusted text; the accounts of an untrusted version only narrow.
 */
export function namedLinks(chain: Chain, prefix: string, at: number): Chain {
  const [first, ...rest] = chain.map((compiled): CompiledLink => {
    const { link } = compiled;
    // A version's id includes its chain: two chains have different grants of one text, and grants are counted by their
    // index.
    if (link.version === "trusted") return compile({ ...link, id: `${prefix} as trusted (${at})`, account: prefix });
    if (link.version === "written")
      return compile({ ...link, id: `${prefix} as written (${at})`, account: `${prefix} as written` });
    return compile({ ...link, id: link.role === "limit" ? `ceiling ${link.id}` : prefix });
  });
  return [first as CompiledLink, ...rest];
}
