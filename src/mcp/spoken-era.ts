// Which era of the protocol a connection speaks. Its first messages decide, by the library's own rules: a call never goes there,
// and is answered in the era in which the library answers everything else.
import { classifyInboundRequest } from "@modelcontextprotocol/server";
import { type Json, type JsonObject, member } from "../authority/json.ts";
import { isSpoken, VERSION_KEY } from "./claimed-version.ts";
import { errorAnswer, INVALID_PARAMS, objectAt, type RequestId } from "./wire-message.ts";

/** The older one agrees on a version by `initialize`; in the newer one every request names it. */
export type Era = "legacy" | "modern";

const CLIENT = "io.modelcontextprotocol/client";
const [INFO_KEY, CAPABILITIES_KEY] = [`${CLIENT}Info`, `${CLIENT}Capabilities`];
const LEVEL_KEY = "io.modelcontextprotocol/logLevel";

export class SpokenEra {
  #era: Era | null = null;
  /** `server/discover` was asked, after which both eras are still open. */
  #isProbed = false;
  /** What was last claimed and found to be whole. A client claims the same in every request. */
  #whole: string | null = null;

  get decided(): Era | null {
    return this.#era;
  }

  /** A request that goes to the library, which answers it whatever is wrong with its claim. */
  request(message: JsonObject, method: string): void {
    if (this.#era !== null) return;
    const found = claimedEra(message);
    if (found === "modern" && method === "server/discover") this.#isProbed = true;
    else this.#decide(found, message);
  }

  notification(message: JsonObject): void {
    if (this.#era !== null) return;
    const found = claimedEra({ ...message, id: 0 });
    if (found === "legacy" || !this.#isProbed) this.#decide(found, message);
  }

  /** The era a call is answered in, or the answer that says what its claim lacks. */
  call(params: JsonObject, id: RequestId): Era | JsonObject {
    if (this.#era === "legacy") return "legacy";
    const meta = objectAt(params, "_meta");
    if (member(meta, VERSION_KEY) === undefined) {
      if (this.#era === "modern") return errorAnswer(id, INVALID_PARAMS, MISSING);
      this.#era = "legacy";
      return "legacy";
    }
    const claim = claimText(meta);
    if (claim === this.#whole) return "modern";
    const found = claimedEra({ jsonrpc: "2.0", id, method: "tools/call", params: { _meta: meta } });
    if (typeof found !== "string") return found;
    this.#whole = claim;
    this.#era = "modern";
    return "modern";
  }

  /** A version that is not spoken decides nothing. */
  #decide(found: Era | JsonObject, message: JsonObject): void {
    if (found === "legacy" || (found === "modern" && isSpoken(claimedVersion(message)))) this.#era = found;
  }
}

/** What makes the library speak the same era as a call that it never hears of. Nobody waits for the answer. */
export function opener(era: Era, id: RequestId): JsonObject {
  const claim = { [VERSION_KEY]: "2026-07-28", [CAPABILITIES_KEY]: {} };
  return { jsonrpc: "2.0", id, method: "ping", params: era === "modern" ? { _meta: claim } : {} };
}

const MISSING = `Request is missing the required _meta envelope for protocol revision 2026-07-28 (${VERSION_KEY}, ${CAPABILITIES_KEY})`;

/** All of it that is looked at, and that is the same every time. What is absent is not what is null. */
function claimText(meta: JsonObject): string {
  const [version, info] = [member(meta, VERSION_KEY), member(meta, INFO_KEY)];
  return JSON.stringify({
    version,
    info,
    capabilities: member(meta, CAPABILITIES_KEY),
    level: member(meta, LEVEL_KEY),
  });
}

/** By the library's rules; the answer to the request where they refuse it. */
function claimedEra(request: JsonObject): Era | JsonObject {
  if (claimedVersion(request) === undefined) return "legacy";
  const found = classifyInboundRequest({ httpMethod: "POST", body: request });
  if (found.kind !== "reject") return found.kind;
  return errorAnswer(request["id"] as RequestId, found.code, found.message, found.data as JsonObject | undefined);
}

function claimedVersion(message: JsonObject): Json | undefined {
  return member(objectAt(objectAt(message, "params"), "_meta"), VERSION_KEY);
}
