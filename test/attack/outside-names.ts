// Names of the outside world and their addresses. Each is granted: that some resolve to addresses that are not granted is the
// attack.
import type { Answers } from "../broker/names-outside.ts";

/** A public address on the internet, in a namespace where it is ours. */
const PUBLIC = "93.184.215.14";

export const ADDRESSES: readonly string[] = [
  `${PUBLIC}/32`,
  "10.1.2.3/32",
  "100.64.0.1/32",
  "169.254.169.254/32",
  "192.0.0.192/32",
  "198.18.7.7/32",
  "fd00::1/128",
  "64:ff9b::7f00:1/128",
  "2002:7f00:1::1/128",
  "2002:a01:203::1/128",
];

export const LEADS: Readonly<Record<string, Answers>> = {
  "allowed.test": [[PUBLIC]],
  "one.wild.test": [[PUBLIC]],
  "loopback.test": [["127.0.0.1"]],
  "other-loopback.test": [["127.9.9.9"]],
  "unspecified.test": [["0.0.0.0"]],
  "private.test": [["10.1.2.3"]],
  "carrier.test": [["100.64.0.1"]],
  "cloud.test": [["169.254.169.254"]],
  "sandbox.test": [["198.18.7.7"]],
  "loopback6.test": [["::1"]],
  "unique.test": [["fd00::1"]],
  "mapped.test": [["::ffff:127.0.0.1"]],
  "compatible.test": [["::127.0.0.1"]],
  "translated.test": [["64:ff9b::7f00:1"]],
  "tunnelled.test": [["2002:7f00:1::1"]],
  "tunnelled-private.test": [["2002:a01:203::1"]],
  // One good answer does not excuse the other.
  "mixed.test": [[PUBLIC, "127.0.0.1"]],
  // The second query gets another answer.
  "rebinding.test": [[PUBLIC], ["127.0.0.1"], ["127.0.0.1"]],
  // Resolves to a good address, and is not granted.
  "evil.test": [[PUBLIC]],
};

export const GRANTED: readonly string[] = [
  ...Object.keys(LEADS).filter((name) => name !== "evil.test" && !name.endsWith(".wild.test")),
  "*.wild.test",
];
export const GRANTED_PORTS: readonly number[] = [80, 443];
