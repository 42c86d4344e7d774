// Links of a text as this machine names them, with the accounts that their calls are charged to.
import type { Chain } from "../../core/authority/chain.ts";
import { type CompiledLink, compile } from "../../core/authority/compiled.ts";

/**
 * Links named for this machine, so that accounts of two agents with one id are two. INVARIANT: what a text allows is charged to
 * the accounts of the text that a person trusted; those of a version that nobody agreed to only narrow.
 */
export function namedLinks(chain: Chain, prefix: string, at: number): Chain {
  const [first, ...rest] = chain.map((compiled): CompiledLink => {
    const { link } = compiled;
    // Versions are named by their chain: two chains hold other grants of one text, and grants are counted by their index.
    if (link.version === "trusted") return compile({ ...link, id: `${prefix} as trusted (${at})`, account: prefix });
    if (link.version === "written")
      return compile({ ...link, id: `${prefix} as written (${at})`, account: `${prefix} as written` });
    return compile({ ...link, id: link.role === "limit" ? `ceiling ${link.id}` : prefix });
  });
  return [first as CompiledLink, ...rest];
}
