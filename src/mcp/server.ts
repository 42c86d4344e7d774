// The protocol's own library around one session: which methods there are besides calls, and who answers them. Both eras of the
// protocol are served by the same answers.
import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import type { ServerIdentity } from "./call-answer.ts";
import type { KeptSession } from "./kept-session.ts";
import { listMilliseconds, lookMilliseconds } from "./limits.ts";
import type { Era } from "./spoken-era.ts";
import { type ListedTool, listedTools } from "./tool-list.ts";

export interface ServedAsked {
  readonly identity: ServerIdentity;
  readonly session: KeptSession;
}

const INSTRUCTIONS =
  "Every call is decided by what you hold and written down. A call that is denied is a result with `isError`: `code` says why, " +
  "`need` what it would have needed, `hint` what to do. The list shows all you can ever call.";

const PRIVATE = { ttlMs: listMilliseconds, cacheScope: "private" } as const;

/** For the library, which wants one server for each opening of a connection. */
export function servers(asked: ServedAsked): { make(era: Era): Server; stop(): void } {
  const made = new Set<Watched>();
  return {
    make: (era) => {
      const watched = new Watched(asked, era);
      made.add(watched);
      watched.server.onclose = () => {
        watched.stop();
        made.delete(watched);
      };
      return watched.server;
    },
    stop: () => {
      for (const one of made) one.stop();
    },
  };
}

/** A server, and the look at whether its list is still the one that was told. */
class Watched {
  readonly server: Server;
  readonly #asked: ServedAsked;
  /** As it was last told. */
  #told: string | null = null;
  #isReady: boolean;
  #isLooking = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(asked: ServedAsked, era: Era) {
    this.#asked = asked;
    // In the older era nothing is said before the client has said that it is ready.
    this.#isReady = era === "modern";
    this.server = new Server(asked.identity, {
      capabilities: { tools: { listChanged: true } },
      instructions: INSTRUCTIONS,
      cacheHints: { "tools/list": PRIVATE, "server/discover": PRIVATE },
    });
    this.server.oninitialized = () => {
      this.#isReady = true;
    };
    this.server.setRequestHandler("tools/list", (request) => this.#list(request.params?.cursor) as never);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #list(cursor: string | undefined): Promise<{ readonly tools: readonly ListedTool[] }> {
    // There is only one page, so that no cursor is ours.
    if (cursor !== undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "there is no such cursor");
    const listed = await this.#asked.session.list();
    if (!listed.ok) throw new ProtocolError(ProtocolErrorCode.InternalError, `${listed.code}: ${listed.message}`);
    const tools = listedTools(listed.value);
    this.#told = JSON.stringify(tools);
    if (this.#timer === undefined) {
      this.#timer = setInterval(() => void this.#look(), lookMilliseconds);
      this.#timer.unref();
    }
    return { tools };
  }

  async #look(): Promise<void> {
    if (this.#isLooking || !this.#isReady) return;
    this.#isLooking = true;
    try {
      const found = await this.#asked.session.look();
      const now = found === null ? this.#told : JSON.stringify(listedTools(found));
      if (now === this.#told) return;
      this.#told = now;
      await this.server.sendToolListChanged();
    } catch {
      // The client is gone; whoever closes it stops this, too.
    } finally {
      this.#isLooking = false;
    }
  }
}
