// Connects the instruments of contexts to the daemon's parts.
import type { JsonObject } from "../../core/base/json.ts";
import type { Ledger } from "../../core/ports/stores/ledger.ts";
import type { EntryKind, LogEntry } from "../../core/ports/stores/log.ts";
import type { MemoryStore, ObservationStore } from "../../core/ports/stores/memory-store.ts";
import type { SecretStore } from "../../core/ports/stores/secret-store.ts";
import { nativeProgram } from "../../platform/native-program.ts";
import { detectSandbox } from "../../sandbox/linux/detect-sandbox.ts";
import type { DaemonPrograms } from "../programs/programs.ts";
import type { DaemonSecrets } from "../secrets.ts";
import type { Session } from "../session.ts";
import type { CallFiles } from "../tools/files.ts";
import type { WebSecrets } from "../tools/web-secrets.ts";
import type { InstrumentsSource } from "./contexts.ts";
import { daemonInstruments } from "./instruments.ts";

export interface JoinedInstrumentsOptions {
  readonly program: string;
  readonly programs: DaemonPrograms;
  readonly files: CallFiles;
  readonly secrets: Pick<DaemonSecrets, "open" | "ready" | "stream">;
  readonly kept: {
    readonly secrets: SecretStore;
    readonly ledger: Pick<Ledger, "append">;
    readonly memory: MemoryStore;
    readonly observations: ObservationStore;
  };
  resolvers(session: Session): readonly string[];
  entry(kind: EntryKind, outcome: string, of: string | null, more: JsonObject): LogEntry;
  now(): number;
  id(): string;
  log(line: string): void;
}

export function joinedInstruments(asked: JoinedInstrumentsOptions): InstrumentsSource {
  const { program, programs, files, kept, now, id } = asked;
  const secrets = (tool: string): WebSecrets => {
    const told = (kind: EntryKind, outcome: string, name: string, session: Session): LogEntry => ({
      ...asked.entry(kind, outcome, name, { name }),
      ...session.who(),
      tool,
    });
    return {
      get: (name) => kept.secrets.get(name),
      ready: () => asked.secrets.ready(),
      open: (name) => asked.secrets.open(name),
      use: async ({ name, version }, session) => {
        const counted = await kept.secrets.use(name, version, told("secret", "used", name, session));
        return counted.ok && counted.value;
      },
      probed: (name, session) => {
        asked.log(`alarm: ${session.facts.name.agent} asked for the secret ${name}, which is not for it`);
        void kept.ledger.append([told("alarm", "secret_probe", name, session)]);
      },
    };
  };
  return daemonInstruments({
    ...{ program, programs, files, secrets, kept, now, id },
    stream: () => asked.secrets.stream(),
    resolver: (session) => {
      const servers = asked.resolvers(session);
      return servers.length === 0 ? null : { servers };
    },
    hasSandbox: () => detectSandbox({ native: nativeProgram(program), install: () => "" }).ok,
  });
}
