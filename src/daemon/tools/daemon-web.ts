// Connects `web_fetch` to the daemon's broker, secrets and log.
import type { JsonObject } from "../../core/base/json.ts";
import type { Ledger } from "../../core/ports/stores/ledger.ts";
import type { EntryKind, LogEntry } from "../../core/ports/stores/log.ts";
import type { SecretStore } from "../../core/ports/stores/secret-store.ts";
import { WEB_FETCH } from "../../tools/web/definition.ts";
import type { Daemon } from "../daemon.ts";
import type { OutputRedactor } from "../parts.ts";
import type { DaemonPrograms } from "../programs/programs.ts";
import type { DaemonSecrets } from "../secrets.ts";
import type { Session } from "../session.ts";
import type { OwnerTool } from "./owner-tool.ts";
import { type WebToolOptions, webTool } from "./web.ts";

export interface DaemonWebOptions {
  readonly programs: Pick<DaemonPrograms, "fetch">;
  readonly kept: { readonly secrets: SecretStore; readonly ledger: Pick<Ledger, "append"> };
  readonly open: DaemonSecrets["open"];
  readonly ready: DaemonSecrets["ready"];
  readonly redacting: OutputRedactor;
  held(session: Session): ReturnType<Daemon["held"]>;
  /** The resolver of the user's configuration; the system default if empty. */
  resolvers(session: Session): readonly string[];
  entry(kind: EntryKind, outcome: string, of: string | null, more: JsonObject): LogEntry;
  log(line: string): void;
}

/** `name`: the tool that fetches. */
export function daemonWeb(asked: DaemonWebOptions, name: string = WEB_FETCH): OwnerTool {
  const { programs, kept, redacting, entry } = asked;
  const told = (kind: EntryKind, outcome: string, secret: string, session: Session): LogEntry => ({
    ...entry(kind, outcome, secret, { name: secret }),
    ...session.who(),
    tool: name,
  });
  const parts: WebToolOptions = {
    fetch: (wish) => programs.fetch(wish),
    holds: (session) => {
      const held = asked.held(session);
      return held === null ? null : { authority: held.holding.authority, moment: held.moment };
    },
    resolver: (session) => {
      const servers = asked.resolvers(session);
      return servers.length === 0 ? null : { servers };
    },
    redacted: (value) => redacting.json(value),
    secrets: {
      get: (name) => kept.secrets.get(name),
      ready: () => asked.ready(),
      open: (name) => asked.open(name),
      use: async (secret, session) => {
        const counted = await kept.secrets.use(
          secret.name,
          secret.version,
          told("secret", "used", secret.name, session),
        );
        return counted.ok && counted.value;
      },
      probed: (secret, session) => {
        asked.log(`alarm: ${session.facts.name.agent} asked for the secret ${secret}, which is not for it`);
        void kept.ledger.append([told("alarm", "secret_probe", secret, session)]);
      },
    },
  };
  return webTool(parts, name);
}
