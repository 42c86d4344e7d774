// Refusals by the sockets themselves, independent of the request.
import { NO_DAEMON, type Refusal, refusal } from "../../core/ports/daemon/exchange.ts";

export function notAvailable(message: string, fix: string | null = null): Refusal {
  return refusal("not_available", message, fix);
}

/** No daemon serves this state, or it is ending: a client may start one. */
export function noDaemon(message: string, fix: string | null = null): Refusal {
  return refusal(NO_DAEMON, message, fix);
}

/** The next client starts its own daemon, so ending this one is sufficient. */
export function wrongProtocol(daemon: number, asker: number): Refusal {
  const older = daemon < asker ? "the daemon is older" : "this program is older";
  const message = `the daemon uses protocol ${daemon} and this program protocol ${asker}: ${older}`;
  return refusal("wrong_protocol", message, "ambit daemon stop");
}
