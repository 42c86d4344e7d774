// Where a name leads: every address of the answer must be covered, or the name is refused. As `authority/screen.ts`,
// but asked of the judge, so that it counts for every link there is at that moment.
import { type Address, parseAddress } from "../authority/address.ts";
import { destinationText } from "../authority/destination.ts";
import type { Url } from "../authority/url.ts";
import type { Resolver } from "../ports/resolver.ts";
import type { Asker, Granted } from "./asker.ts";
import { addressesMax } from "./limits.ts";
import { denied, type Used, used } from "./used.ts";

export async function screened(
  asker: Asker,
  granted: Granted,
  { host }: Url,
  resolve: Resolver,
): Promise<Used<readonly Address[]>> {
  if (host.name === null) return used([host.address]);
  const { verb, values } = granted.request;
  const answers = await resolve(destinationText(host));
  const refused = denied("address_refused", verb.verb, "the name could not be resolved to addresses");
  if (!Array.isArray(answers) || answers.length === 0 || answers.length > addressesMax) return refused;
  const pinned: Address[] = [];
  for (const answer of answers as readonly unknown[]) {
    const address = typeof answer === "string" ? parseAddress(answer) : null;
    if (address === null) return refused;
    const [, ...rest] = values;
    const open = asker.decideAddress(granted, { verb, values: [{ name: host.name, address }, ...rest] });
    if (!open.ok) return open;
    pinned.push(address);
  }
  return used(pinned);
}
