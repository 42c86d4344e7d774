// The digest of one exact call. An answer is bound to it, so it includes everything that could make it another call.
import type { Json, JsonObject } from "../core/base/json.ts";
import type { Digest } from "../core/ports/digest.ts";

export interface CallIdentity {
  readonly workspace: string | null;
  readonly agent: string;
  readonly tool: string;
  /** A hash of the tool's definition or of the program's content. */
  readonly pin: string | null;
  readonly generation: number;
  readonly arguments: JsonObject;
  /** The requests that require approval, as text: the same relative path means another file in another folder. */
  readonly asking: readonly string[];
}

/** `canonical`: one text for one value, whatever the order of its members. */
export function callDigest(digest: Digest, canonical: (value: Json) => string, call: CallIdentity): string {
  const { workspace, agent, tool, pin, generation, arguments: given, asking } = call;
  // The first member is a domain separator: no other text of ours has the same digest.
  return digest(canonical(["ambit call 1", workspace, agent, tool, pin, generation, given, [...asking].sort()]));
}
