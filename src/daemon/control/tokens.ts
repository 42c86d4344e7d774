// Messages about client tokens: a person adds, lists and revokes them, and the HTTP server asks whether one holds.
import { numberOr, optionalText, textIn } from "../../core/base/fields.ts";
import { refusal } from "../../core/ports/daemon/exchange.ts";
import type { Gatekeeper } from "../calls/gatekeeper.ts";
import { NO_ACTOR } from "../log/entries.ts";
import type { Opening } from "../opening.ts";
import type { DaemonParts } from "../parts.ts";
import type { MessageHandler } from "../rpc/serving.ts";
import type { Admission } from "./admission.ts";

export interface TokenParts {
  readonly parts: Pick<DaemonParts, "now" | "records">;
  readonly gatekeeper: Gatekeeper;
  readonly opening: Opening;
  readonly admission: Admission;
}

const tokenMillisecondsMin = 1_000;
const tokenMillisecondsMax: number = 366 * 86_400_000;
const bearerCharactersMax = 16_384;

export function tokenAnswers({
  parts,
  gatekeeper,
  opening,
  admission,
}: TokenParts): readonly (readonly [string, MessageHandler])[] {
  const { tokens } = opening;
  const { entries } = gatekeeper;
  return [
    [
      "tokens.add",
      async (exchange) => {
        const { value } = exchange;
        const user = optionalText(value, "user");
        const milliseconds = numberOr(value, "milliseconds", 0, tokenMillisecondsMin, tokenMillisecondsMax);
        if (user === undefined || milliseconds === null)
          return refusal("invalid_input", "a token is valid for one second to 366 days");
        // The same questions as for a session: is there such an agent, and may it act for this user.
        const previewed = opening.preview(exchange);
        if (!previewed.ok) return previewed;
        const admitted = await admission.widening(exchange);
        if (!admitted.ok) return admitted;
        const { asked: agent, cwd } = previewed.value.facts;
        const expires = parts.now() + milliseconds;
        const hasUserRecord = user !== null && parts.records.user(user) !== null;
        const added = await tokens.add({ agent, cwd, user, expires, hasUserRecord }, (id) =>
          entries.make("control", NO_ACTOR, "token_added", {
            of: id,
            more: { agent, cwd, user, expires, ...admitted.value },
          }),
        );
        return added.ok ? { ok: true, value: { ...added.value, expires } } : added;
      },
    ],
    [
      "tokens.list",
      async () => ({
        ok: true,
        value: { tokens: tokens.list().map(({ digest: _, hasUserRecord: __, ...shown }) => shown) },
      }),
    ],
    [
      "tokens.revoke",
      async (exchange) => {
        const id = textIn(exchange.value, "id", 128);
        if (id === null) return refusal("invalid_input", "needs the id of a token");
        const { by } = admission.narrowing(exchange).value;
        const revoked = await tokens.revoke(
          id,
          entries.make("control", NO_ACTOR, "token_revoked", { of: id, more: { by } }),
        );
        return revoked.ok ? { ok: true, value: { sessions: opening.closeRevoked() } } : revoked;
      },
    ],
  ];
}

export function tokenCheck(opening: Opening): MessageHandler {
  return async ({ value, connected }) => {
    const bearer = textIn(value, "bearer", bearerCharactersMax) ?? "";
    const client = await opening.accessToken(bearer, connected.peer);
    if (client !== null) {
      if (!client.ok) return client;
      const { id, agent, expires } = client.value;
      return { ok: true, value: { id, agent, expires } };
    }
    const found = opening.tokens.find(bearer);
    if (found === null) return opening.unknownToken(connected.peer);
    const { id, agent, expires } = found;
    return { ok: true, value: { id, agent, expires } };
  };
}
