// The instruments of a call's context, for one session and one tool: the broker, the session's file worker, sandboxes, the
// secret store and the database.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { nativeProgram } from "../../platform/native-program.ts";
import { lazy } from "../../runtime/context/life.ts";
import { hasSandbox } from "../../sandbox/linux/detect-sandbox.ts";
import type { DaemonPrograms } from "../programs/programs.ts";
import type { DaemonSecrets } from "../secrets.ts";
import type { Session } from "../session.ts";
import type { InstrumentsSource, ProcessInstruments } from "./contexts.ts";
import type { DaemonFiles } from "./files.ts";
import { contextNet, FetchQueue } from "./net.ts";
import { contextPrograms } from "./programs.ts";
import { ContextSecrets, type ContextSecretsOptions } from "./secrets.ts";

interface DaemonInstrumentsOptions extends Pick<ContextSecretsOptions, "entry" | "log"> {
  /** The folder of our package. */
  readonly program: string;
  readonly programs: DaemonPrograms;
  readonly files: Pick<DaemonFiles, "of" | "isThere">;
  readonly secrets: Pick<DaemonSecrets, "open" | "ready" | "stream" | "redacting">;
  readonly kept: ContextSecretsOptions["kept"];
  /** The DNS servers of the user's configuration; those of the machine where it is empty. */
  resolvers(session: Session): readonly string[];
}

export function daemonInstruments(options: DaemonInstrumentsOptions): InstrumentsSource {
  const { program, programs, files, kept, entry, log } = options;
  const { open, ready, redacting } = options.secrets;
  const secrets = new ContextSecrets({ kept, open, ready, entry, log });
  const queues = new WeakMap<Session, FetchQueue>();
  const fetchesOf = (session: Session): FetchQueue => {
    const queue = queues.get(session) ?? new FetchQueue();
    queues.set(session, queue);
    return queue;
  };
  const redacted = (bytes: Uint8Array): Uint8Array => {
    const stream = options.secrets.stream();
    return Buffer.concat([stream.write(bytes), stream.end()]);
  };
  return {
    backends: (tool) => ({
      has: (backend) => {
        switch (backend) {
          case "network":
            return existsSync(join(program, "dist", "broker.cjs"));
          case "files":
            return files.isThere();
          case "process":
            return hasSandbox({ native: nativeProgram(program), install: () => "" });
          case "secrets":
          case "storage":
            return true;
          default:
            return backend satisfies never;
        }
      },
      hasSecret: (name) => secrets.has(tool, name),
    }),
    of: (wanted) => {
      const { session, tool } = wanted;
      return lazy<ProcessInstruments>({
        fetching: () =>
          contextNet({
            ...{ session, tool, redacting, fetches: fetchesOf(session) },
            enforced: wanted.enforced,
            fetch: (wish) => programs.fetch(wish),
            resolver: () => {
              const servers = options.resolvers(session);
              return servers.length === 0 ? null : { servers };
            },
            redacted,
          }),
        files: () => files.of(wanted),
        programs: () => contextPrograms(programs, wanted),
        secrets: () => secrets.port(session, tool),
      });
    },
    denied: (session, tool, requests, isGranted) => secrets.denied(session, tool, requests, isGranted),
  };
}
