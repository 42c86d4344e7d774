// Lifetime of the daemon: it ends when told to, when idle, or when its folder is no longer its own. It shuts down in order
// or, if that takes too long, exits at once; it never continues half shut down.
import type { DaemonFolder } from "./folder.ts";
import { noDaemon } from "./refusals.ts";
import type { Serving } from "./serve.ts";

export const idleSecondsDefault = 600;
const lookMilliseconds = 1_000;
const endMillisecondsMax = 10_000;

export interface DaemonLifetimeOptions {
  readonly serving: Serving;
  readonly folder: DaemonFolder;
  readonly idleSeconds: number;
  /** Whether anything runs that outlives its connection. */
  isBusy(): boolean;
  /** Shuts down everything behind the sockets: called once, after the sockets are closed. */
  close(): Promise<void>;
  log(line: string): void;
}

export interface DaemonLifetime {
  /** Shuts down the daemon, and exits the process. */
  end(why: string): void;
}

/** From here on the daemon owns the process and ends it with `process.exit`. */
export function startLife({ serving, folder, idleSeconds, isBusy, close, log }: DaemonLifetimeOptions): DaemonLifetime {
  let isEnding = false;
  let status = 0;
  let quietSince = performance.now();

  const end = (why: string): void => {
    if (isEnding) return;
    isEnding = true;
    clearInterval(looking);
    log(`ends: ${why}`);
    setTimeout(() => {
      log("shutdown timed out");
      process.exit(1);
    }, endMillisecondsMax);
    // Responses of the current event-loop turn are still sent, including the one to the client that asked for the end.
    setImmediate(() => {
      void serving
        .stop(noDaemon("the daemon is shutting down"))
        .then(close)
        .catch((error: unknown) => fail("during shutdown", error))
        .finally(() => process.exit(status));
    });
  };
  const fail = (what: string, error: unknown): void => {
    status = 1;
    log(`${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    end("internal error");
  };
  const look = (): void => {
    if (!folder.isInPlace()) end("its folder or a socket in it was removed or replaced");
    else if (serving.connections > 0 || isBusy()) quietSince = performance.now();
    else if (performance.now() - quietSince >= idleSeconds * 1_000) end("no client is connected");
  };
  // Checked several times per idle period, so that it is not doubled.
  const looking = setInterval(look, Math.min(lookMilliseconds, Math.max(50, idleSeconds * 250)));
  looking.unref();

  process.on("SIGTERM", () => end("SIGTERM"));
  process.on("SIGINT", () => end("SIGINT"));
  process.on("SIGHUP", () => undefined);
  process.on("uncaughtException", (error) => fail("a mistake", error));
  process.on("unhandledRejection", (error) => fail("a mistake", error));
  serving.onLost((why) => end(why));
  return { end };
}
