// The instruments of a call's context, for one session and one tool: the broker, the session's file worker, sandboxes, the
// secret store and the database.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { MemoryStore, ObservationStore } from "../../core/ports/stores/memory-store.ts";
import type { ResolverChoice } from "../../sandbox/network/names/resolver.ts";
import type { DaemonPrograms } from "../programs/programs.ts";
import type { DaemonSecrets } from "../secrets.ts";
import type { Session } from "../session.ts";
import type { CallFiles } from "../tools/files.ts";
import type { WebSecrets } from "../tools/web-secrets.ts";
import type { InstrumentsSource } from "./contexts.ts";
import { contextFiles } from "./files.ts";
import { contextKeys, contextObservations } from "./memory.ts";
import { netFetching } from "./net.ts";
import { contextPrograms } from "./programs.ts";
import { contextSecrets, isSecretOf } from "./secrets.ts";

export interface DaemonInstrumentsOptions {
  /** Root folder of the ambit package. */
  readonly program: string;
  readonly programs: DaemonPrograms;
  readonly files: CallFiles;
  /** Secret use and lookup for a session, by tool. */
  secrets(tool: string): WebSecrets;
  readonly stream: DaemonSecrets["stream"];
  readonly kept: { readonly memory: MemoryStore; readonly observations: ObservationStore };
  resolver(session: Session): ResolverChoice;
  /** Whether programs can run on this machine. */
  hasSandbox(): boolean;
  now(): number;
  id(): string;
}

export function daemonInstruments(asked: DaemonInstrumentsOptions): InstrumentsSource {
  const { programs, files, kept, now, id } = asked;
  const redacted = (bytes: Uint8Array): Uint8Array => {
    const stream = asked.stream();
    return stream === null ? bytes : Buffer.concat([stream.write(bytes), stream.end()]);
  };
  return {
    backends: (tool) => ({
      has: (backend) => {
        switch (backend) {
          case "network":
            return existsSync(join(asked.program, "dist", "broker.cjs"));
          case "files":
            return files.isThere();
          case "process":
            return asked.hasSandbox();
          case "secrets":
          case "storage":
            return true;
          default:
            return backend satisfies never;
        }
      },
      hasSecret: (name) => {
        const secret = asked.secrets(tool).get(name);
        return secret !== null && isSecretOf(secret, tool);
      },
    }),
    of: (wanted) => {
      const { session, tool, isForeign, requests, judge } = wanted;
      const keeping = { session, tool, isForeign, now, id };
      const keys = contextKeys(kept.memory, keeping);
      return {
        fetching: netFetching({
          session,
          fetch: (wish) => programs.fetch(wish),
          resolver: () => asked.resolver(session),
          redacted,
        }),
        files: contextFiles({ session, calls: files, requests, judge }),
        programs: contextPrograms(programs, wanted),
        secrets: contextSecrets(asked.secrets(tool), session, tool),
        storage: keys,
        memory: keys,
        observations: contextObservations(kept.observations, keeping),
      };
    },
  };
}
