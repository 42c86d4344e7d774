// Refusals of the sockets themselves, whatever was asked.
import type { Refusal } from "../../ports/exchange.ts";
import { protocolVersion } from "./limits.ts";

export function refusal(code: string, message: string, fix: string | null = null): Refusal {
  return { ok: false, code, message, fix };
}

export function notAvailable(message: string, fix: string | null = null): Refusal {
  return refusal("not_available", message, fix);
}

/** `daemon` and `asker`: what each of them speaks. */
export function wrongProtocol(daemon: number, asker: number): Refusal {
  return refusal(
    "wrong_protocol",
    `the daemon speaks protocol ${daemon} and this program protocol ${asker}`,
    asker < protocolVersion || asker < daemon
      ? "use the ambit the daemon was started from, or end it with that one: ambit daemon stop"
      : "end the older daemon, the next command starts its own: ambit daemon stop",
  );
}
