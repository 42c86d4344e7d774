// The instruments of a call's context, for one session and one tool: the broker, the session's file worker, sandboxes, the
// secret store and the database.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseUrl } from "../../core/authority/axes/url.ts";
import type { PortFailure, SecretsPort } from "../../core/ports/instruments.ts";
import type { SealedSecret } from "../../core/ports/stores/secret-store.ts";
import { toAscii } from "../../platform/ascii.ts";
import { nativeProgram } from "../../platform/native-program.ts";
import { lazy } from "../../runtime/context/closed.ts";
import { detectSandbox } from "../../sandbox/linux/detect-sandbox.ts";
import { isBoundTo } from "../../sandbox/network/fetch/handles-binding.ts";
import type { DaemonPrograms } from "../programs/programs.ts";
import type { DaemonSecrets } from "../secrets.ts";
import type { Session } from "../session.ts";
import { type StoredSecretsOptions, storedSecrets, type WebSecrets } from "../tools/web-secrets.ts";
import type { InstrumentsSource, ProcessInstruments } from "./contexts.ts";
import type { DaemonFiles } from "./files.ts";
import { netFetching } from "./net.ts";
import { contextPrograms } from "./programs.ts";

interface DaemonInstrumentsOptions extends Pick<StoredSecretsOptions, "entry" | "log"> {
  /** The folder of our package. */
  readonly program: string;
  readonly programs: DaemonPrograms;
  readonly files: Pick<DaemonFiles, "of" | "isThere">;
  readonly secrets: Pick<DaemonSecrets, "open" | "ready" | "stream">;
  readonly kept: StoredSecretsOptions["kept"];
  /** The DNS servers of the user's configuration; those of the machine where it is empty. */
  resolvers(session: Session): readonly string[];
}

export function daemonInstruments(options: DaemonInstrumentsOptions): InstrumentsSource {
  const { program, programs, files, kept, entry, log } = options;
  const { open, ready } = options.secrets;
  const secretsFor = (tool: string): WebSecrets => storedSecrets({ kept, open, ready, entry, log }, tool);
  const redacted = (bytes: Uint8Array): Uint8Array => {
    const stream = options.secrets.stream();
    return stream === null ? bytes : Buffer.concat([stream.write(bytes), stream.end()]);
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
            return detectSandbox({ native: nativeProgram(program), install: () => "" }).ok;
          case "secrets":
          case "storage":
            return true;
          default:
            return backend satisfies never;
        }
      },
      hasSecret: (name) => {
        const secret = secretsFor(tool).get(name);
        return secret !== null && isSecretOf(secret, tool);
      },
    }),
    of: (wanted) => {
      const { session, tool } = wanted;
      return lazy<ProcessInstruments>({
        fetching: () =>
          netFetching({
            session,
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
        secrets: () => contextSecrets(secretsFor(tool), session, tool),
      });
    },
  };
}

/** What one of these may be used by: the tool it is bound to. */
function isSecretOf({ binding, isCanary }: SealedSecret, tool: string): boolean {
  return !isCanary && binding.tools.includes(tool);
}

/** Secrets: bound to the tool and to the request's address, counted, and never passed to the tool. */
function contextSecrets(secrets: WebSecrets, session: Session, tool: string): SecretsPort {
  const told = new Set<string>();
  /** Once a call for each: the log is not for whoever asks to fill. */
  const refuse = (name: string, secret: SealedSecret | null): PortFailure => {
    if (secret !== null && !told.has(name) && told.size < 16) {
      told.add(name);
      secrets.probed(name, session);
    }
    // The same words whatever is the matter: nobody learns here which secrets there are.
    return { ok: false, code: "secret_refused", message: `no secret ${name} for this tool and host` };
  };
  return {
    has: async (name) => {
      const secret = secrets.get(name);
      return secret !== null && isSecretOf(secret, tool);
    },
    open: async (name, use) => {
      const url = parseUrl(`${use.origin}/`, toAscii);
      const isFor = (one: SealedSecret | null): one is SealedSecret =>
        one !== null && url.ok && isSecretOf(one, tool) && isBoundTo(one.binding.hosts, url.value);
      if (isFor(secrets.get(name))) await secrets.ready();
      const secret = secrets.get(name);
      if (!isFor(secret)) return refuse(name, secret);
      const opened = secrets.open(name);
      if (!opened.ok) return refuse(name, null);
      const { value } = opened.value;
      try {
        if (!(await secrets.use(secret, session))) return refuse(name, null);
        return { ok: true, value: Buffer.from(value).toString("utf8") };
      } finally {
        value.fill(0);
      }
    },
  };
}
