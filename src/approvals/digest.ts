// The name of one exact call. An answer is given to this, so whatever could make it another call is part of it.
import type { Json, JsonObject } from "../core/base/json.ts";
import type { Digest } from "../core/ports/digest.ts";

export interface CallIdentity {
  readonly workspace: string | null;
  readonly agent: string;
  readonly tool: string;
  /** What the tool or the program is now: a hash of its definition or its content. */
  readonly pin: string | null;
  readonly generation: number;
  readonly arguments: JsonObject;
  /** The requests that ask, as text: the same relative path means another file in another folder. */
  readonly asking: readonly string[];
}

/** `canonical`: one text for one value, whatever the order of its members. */
export function callDigest(digest: Digest, canonical: (value: Json) => string, call: CallIdentity): string {
  const { workspace, agent, tool, pin, generation, arguments: given, asking } = call;
  // The first member says what is digested: no other text of ours can have the same name.
  return digest(canonical(["ambit call 1", workspace, agent, tool, pin, generation, given, [...asking].sort()]));
}
