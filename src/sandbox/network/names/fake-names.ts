// Addresses that represent names inside one sandbox. An address is never reassigned: a program that cached it would
// reach another host.

import type { Destination } from "../../../core/authority/axes/destination.ts";
import { type Address, addressText, inRange, parseRange } from "../../../core/base/address.ts";
import { namesMax } from "../limits.ts";

/** A destination with a name. */
export type NamedDestination = Extract<Destination, { readonly name: object }>;

const RANGE = parseRange("198.18.0.0/15");
/** The first 256 are reserved: name server, broker endpoint, transparent listener. */
const FIRST = (198n << 24n) | (18n << 16n) | 256n;

export class FakeNames {
  readonly #byName = new Map<string, Address>();
  readonly #byAddress = new Map<string, NamedDestination>();

  /** Null when all are assigned. */
  addressOf(text: string, host: NamedDestination): Address | null {
    const known = this.#byName.get(text);
    if (known !== undefined) return known;
    if (this.#byName.size >= namesMax) return null;
    const address: Address = { family: 4, number: FIRST + BigInt(this.#byName.size) };
    this.#byName.set(text, address);
    this.#byAddress.set(addressText(address), host);
    return address;
  }

  /** The name of an address inside the sandbox; null where it is unassigned. */
  destinationAt(address: Address): Destination | null {
    if (!RANGE.ok) throw new Error("the range of fake addresses cannot be parsed");
    if (!inRange(RANGE.value, address)) return { name: null, address };
    return this.#byAddress.get(addressText(address)) ?? null;
  }
}
