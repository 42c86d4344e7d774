// The encrypted token that a client returns to continue a call. It is bound to the session, agent, server, tool and arguments of the
// call, and expires.
import { createHash, randomBytes } from "node:crypto";
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import type { ServerAskKind } from "../../core/notation/servers/server-file.ts";
import { SERVER_ASKS } from "../../core/notation/servers/server-file.ts";
import { decrypt, encrypt } from "../../secrets/envelope.ts";

export interface StateOwner {
  readonly session: string;
  readonly agent: string;
  /** The digest of the server's entry. */
  readonly server: string;
  readonly tool: string;
  readonly input: JsonObject;
}

export interface ResumeToken {
  /** A call that is open at a server of the older era; null in the newer era. */
  readonly held: string | null;
  /** The note of a server of the newer era. */
  readonly state: string | null;
  /** What the client was asked for: by key, in order. */
  readonly asks: readonly (readonly [key: string, kind: ServerAskKind])[];
  /** Keys under which a server of the newer era asked for its roots. */
  readonly roots: readonly string[];
  readonly rounds: number;
}

const stateCharactersMax = 131_072;
/** As long as clients wait for a person. */
export const stateMilliseconds = 600_000;

export class ResumeTokens {
  /** Of this daemon process: the sessions that notes belong to end with it. */
  readonly #key = randomBytes(32);
  readonly #elapsed: () => number;

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  seal(note: ResumeToken, owner: StateOwner): string {
    const text = JSON.stringify({ ...note, expires: this.#elapsed() + stateMilliseconds });
    return encrypt(Buffer.from(text), this.#key, about(owner)).toString("base64url");
  }

  /** Null for a text that was not sealed here, was changed, belongs to another call, or has expired. */
  open(text: string, owner: StateOwner): ResumeToken | null {
    if (text.length > stateCharactersMax) return null;
    const bytes = Buffer.from(text, "base64url");
    const opened = bytes.toString("base64url") === text ? decrypt(bytes, this.#key, about(owner)) : null;
    if (opened === null) return null;
    const note = JSON.parse(opened.toString("utf8")) as Json;
    const expires = isJsonObject(note) ? member(note, "expires") : undefined;
    if (!isJsonObject(note) || typeof expires !== "number" || this.#elapsed() >= expires) return null;
    return noteOf(note);
  }
}

function noteOf(note: JsonObject): ResumeToken {
  const [held, state, asks, roots, rounds] = ["held", "state", "asks", "roots", "rounds"].map((key) =>
    member(note, key),
  );
  return {
    held: typeof held === "string" ? held : null,
    state: typeof state === "string" ? state : null,
    asks: (isJsonList(asks) ? asks : []).flatMap((one) => {
      const [key, kind] = isJsonList(one) ? one : [];
      const known = SERVER_ASKS.find((name) => name === kind);
      return typeof key === "string" && known !== undefined ? [[key, known] as const] : [];
    }),
    roots: (isJsonList(roots) ? roots : []).filter((one) => typeof one === "string"),
    rounds: typeof rounds === "number" ? rounds : Number.MAX_SAFE_INTEGER,
  };
}

function about({ session, agent, server, tool, input }: StateOwner): Buffer {
  const given = createHash("sha256").update(JSON.stringify(input)).digest("base64");
  return Buffer.from(JSON.stringify(["ambit call", session, agent, server, tool, given]));
}
