// One decided difference: the record that decided it, its inputs, and the answer our rule gives to them.
import type { JsonObject } from "../../src/core/base/json.ts";
import type { Row } from "./row.ts";

export type DecisionRecord =
  | "0004-host-patterns"
  | "0005-path-patterns"
  | "0006-argv-patterns"
  | "0007-programs-by-name"
  | "0008-special-addresses"
  | "0009-roots"
  | "0010-names-and-tools"
  | "0011-declarations"
  | "0012-protected-paths"
  | "0013-catalog"
  | "0019-policy-requests"
  | "0025-walls"
  | "0028-files-and-links"
  | "0029-shell-subset"
  | "0088-records-as-the-seed-writes-them"
  | "0110-prefixes-of-allowed-tools";

export interface Decision {
  readonly record: DecisionRecord;
  /** The predicate in words. */
  readonly when: string;
  readonly files: readonly string[];
  /** INVARIANT: sees the input of a case and never its expected answer. */
  readonly holds: (input: Row, header: JsonObject) => boolean;
  readonly answer: (input: Row, header: JsonObject) => JsonObject;
  /** The answer of the seed's own rule. The decision counts only if that differs from ours. */
  readonly seed: (input: Row, header: JsonObject) => JsonObject;
}
