// How long the daemon lives: until it is told to end, nobody needs it, or its place is not its own any more. It ends in
// order or, where that takes too long, at once; it never goes on half alive.
import type { DaemonFolder } from "./folder.ts";
import { notAvailable } from "./refusals.ts";
import type { Serving } from "./serve.ts";

export const idleSecondsDefault = 600;
const lookMilliseconds = 1_000;
const endMillisecondsMax = 10_000;

export interface LifeAsked {
  readonly serving: Serving;
  readonly folder: DaemonFolder;
  readonly idleSeconds: number;
  /** Whether anything runs that outlives its connection. */
  isBusy(): boolean;
  /** Everything behind the sockets, in order: called once, when nobody can ask any more. */
  close(): Promise<void>;
  log(line: string): void;
}

export interface Life {
  /** Ends the daemon in order, and the process with it. */
  end(why: string): void;
}

/** From here on the process is the daemon's; it leaves it with `process.exit`. */
export function live({ serving, folder, idleSeconds, isBusy, close, log }: LifeAsked): Life {
  let isEnding = false;
  let status = 0;
  let quietSince = performance.now();

  const end = (why: string): void => {
    if (isEnding) return;
    isEnding = true;
    clearInterval(looking);
    log(`ends: ${why}`);
    setTimeout(() => {
      log("did not end in time");
      process.exit(1);
    }, endMillisecondsMax);
    // What is answered in this very turn is still answered: who asked for the end, among them.
    setImmediate(() => {
      void serving
        .stop(notAvailable("the daemon ends"))
        .then(close)
        .catch((error: unknown) => fail("on the way to the end", error))
        .finally(() => process.exit(status));
    });
  };
  const fail = (what: string, error: unknown): void => {
    status = 1;
    log(`${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    end("of a mistake");
  };
  const look = (): void => {
    if (!folder.isInPlace()) end("its folder or a socket in it is gone or is another one");
    else if (serving.connections > 0 || isBusy()) quietSince = performance.now();
    else if (performance.now() - quietSince >= idleSeconds * 1_000) end("nobody needs it");
  };
  // Several times within a short time of quiet, so that it is not taken for twice as long.
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
