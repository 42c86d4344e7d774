// Name resolution with checks: every resolved address must be covered, or the name is refused. As `core/authority/axes/screen.ts`,
// but asked of the judge, so that the current links apply.

import { destinationText } from "../../core/authority/axes/destination.ts";
import type { Url } from "../../core/authority/axes/url.ts";
import { type Address, addressText, parseAddress } from "../../core/base/address.ts";
import type { Resolver } from "../../core/ports/resolver.ts";
import { addressesMax } from "./limits.ts";
import type { AllowedUse, UseGate } from "./use-gate.ts";
import { type UseResult, useDenial, useResult } from "./use-result.ts";

/** Whether one address of a name is allowed. */
export function screen(asker: UseGate, granted: AllowedUse, { host }: Url, address: Address): UseResult<null> {
  const { verb, values } = granted.request;
  const [, ...rest] = values;
  // A literal address was decided on already.
  if (host.name === null)
    return addressText(host.address) === addressText(address)
      ? useResult(null)
      : useDenial("address_refused", verb.verb, "another address than the one that was asked for");
  return asker.decideAddress(granted, { verb, values: [{ name: host.name, address }, ...rest] });
}

/** Null: the exchange resolves the name itself, and asks about each address. */
export async function screened(
  asker: UseGate,
  granted: AllowedUse,
  url: Url,
  resolve: Resolver | null,
): Promise<UseResult<readonly Address[] | null>> {
  const { host } = url;
  if (host.name === null) return useResult([host.address]);
  if (resolve === null) return useResult(null);
  const { verb } = granted.request;
  const answers = await resolve(destinationText(host));
  // A failed resolution is no denial: no grant would help.
  if (answers === null || (Array.isArray(answers) && answers.length === 0))
    return useDenial("not_available", verb.verb, "the name could not be resolved");
  const refused = useDenial("address_refused", verb.verb, "the name leads nowhere that is understood");
  if (!Array.isArray(answers) || answers.length > addressesMax) return refused;
  const pinned: Address[] = [];
  for (const answer of answers as readonly unknown[]) {
    const address = typeof answer === "string" ? parseAddress(answer) : null;
    if (address === null) return refused;
    const open = screen(asker, granted, url, address);
    if (!open.ok) return open;
    pinned.push(address);
  }
  return useResult(pinned);
}
