// Name resolution with checks: every resolved address must be covered, or the name is refused. As `core/authority/axes/screen.ts`,
// but asked of the judge, so that the current links apply.

import { destinationText } from "../../core/authority/axes/destination.ts";
import type { Url } from "../../core/authority/axes/url.ts";
import { type Address, addressText, parseAddress } from "../../core/base/address.ts";
import type { Resolver } from "../../core/ports/resolver.ts";
import type { Asker, Granted } from "./asker.ts";
import { addressesMax } from "./limits.ts";
import { denied, type Used, used } from "./used.ts";

/** Whether one address of a name is allowed. */
export function screen(asker: Asker, granted: Granted, { host }: Url, address: Address): Used<null> {
  const { verb, values } = granted.request;
  const [, ...rest] = values;
  // A literal address was decided on already.
  if (host.name === null)
    return addressText(host.address) === addressText(address)
      ? used(null)
      : denied("address_refused", verb.verb, "another address than the one that was asked for");
  return asker.decideAddress(granted, { verb, values: [{ name: host.name, address }, ...rest] });
}

/** Null: the exchange resolves the name itself, and asks about each address. */
export async function screened(
  asker: Asker,
  granted: Granted,
  url: Url,
  resolve: Resolver | null,
): Promise<Used<readonly Address[] | null>> {
  const { host } = url;
  if (host.name === null) return used([host.address]);
  if (resolve === null) return used(null);
  const { verb } = granted.request;
  const answers = await resolve(destinationText(host));
  // A failed resolution is no denial: no grant would help.
  if (answers === null || (Array.isArray(answers) && answers.length === 0))
    return denied("not_available", verb.verb, "the name could not be resolved");
  const refused = denied("address_refused", verb.verb, "the name leads nowhere that is understood");
  if (!Array.isArray(answers) || answers.length > addressesMax) return refused;
  const pinned: Address[] = [];
  for (const answer of answers as readonly unknown[]) {
    const address = typeof answer === "string" ? parseAddress(answer) : null;
    if (address === null) return refused;
    const open = screen(asker, granted, url, address);
    if (!open.ok) return open;
    pinned.push(address);
  }
  return used(pinned);
}
