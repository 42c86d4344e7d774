// Messages about the session itself: open, close, narrow for good (`session.pledge`), and mark as tainted.
import { textIn, textsIn } from "../core/base/fields.ts";
import type { JsonObject } from "../core/base/json.ts";
import { refusal } from "../core/ports/daemon/exchange.ts";
import type { Ledger } from "../core/ports/stores/ledger.ts";
import type { Admission } from "./control/admission.ts";
import type { Hooks } from "./hooks/hooks.ts";
import type { Entries } from "./log/entries.ts";
import type { Opening } from "./opening.ts";
import type { Exchange, MessageHandler } from "./rpc/serving.ts";
import { NO_SESSION, type Session, type Sessions } from "./session.ts";

export interface SessionSources {
  readonly sessions: Sessions;
  readonly opening: Opening;
  readonly admission: Admission;
  readonly entries: Entries;
  readonly ledger: Pick<Ledger, "append">;
  readonly hooks: Hooks | null;
  /** The session that an exchange names; null if it is not one of its connection. */
  session(exchange: Exchange): Session | null;
}

export function sessionAnswers(sources: SessionSources): readonly (readonly [string, MessageHandler])[] {
  const { sessions, opening, admission, hooks } = sources;
  return [
    [
      "session.open",
      async (exchange) => {
        const opened = await opening.open(exchange);
        for (const session of opened.ok ? sessions.of(exchange.connected) : []) {
          admission.remember(session.facts);
          hooks?.sessions.taintBelow(session);
        }
        return opened;
      },
    ],
    [
      "session.close",
      async (exchange) => {
        const session = sources.session(exchange);
        if (session === null) return NO_SESSION;
        opening.close(session);
        return { ok: true, value: {} };
      },
    ],
    [
      "session.pledge",
      async (exchange) => {
        const session = sources.session(exchange);
        const specs = textsIn(exchange.value, "specs", 1024);
        if (session === null) return NO_SESSION;
        if (specs === null) return refusal("invalid_input", "`specs` must be a list of at most 1024 strings");
        const fault = opening.pledge(session, specs);
        if (fault !== null) return refusal("invalid_input", fault);
        return logged(sources, session, "pledged", { specs });
      },
    ],
    [
      "session.taint",
      async (exchange) => {
        const session = sources.session(exchange);
        const why = textIn(exchange.value, "why", 1024);
        if (session === null) return NO_SESSION;
        if (why === null) return refusal("invalid_input", "`why` must be a string of at most 1024 characters");
        return session.taint(why) ? logged(sources, session, "tainted", { why }) : { ok: true, value: {} };
      },
    ],
  ];
}

async function logged(
  { entries, ledger }: SessionSources,
  session: Session,
  outcome: string,
  more: JsonObject,
): ReturnType<MessageHandler> {
  const written = await ledger.append([entries.make("session", session.who(), outcome, { more })]);
  return written.ok ? { ok: true, value: {} } : refusal(written.code, written.message);
}
