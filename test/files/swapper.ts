// A process beside the worker that keeps exchanging two names, as an attacker does between check and use. Bounded: it ends by
// itself.
import { type ChildProcess, spawn } from "node:child_process";

const rounds = 200_000;

/** Renames as fast as it can, with three names, so that one of the two always exists. */
const program = `
const fs = require("fs");
const [first, second, spare] = process.argv.slice(1);
process.stdout.write("ready");
for (let at = 0; at < ${rounds}; at++) {
  try { fs.renameSync(first, spare); fs.renameSync(second, first); fs.renameSync(spare, second); } catch {}
}
`;

export interface Swapper {
  stop(): Promise<void>;
}

/** Exchanges the files at `first` and `second`, over and over. */
export async function startSwapping(first: string, second: string, spare: string): Promise<Swapper> {
  const child: ChildProcess = spawn(process.execPath, ["-e", program, first, second, spare], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  await new Promise<void>((resolve) => child.stdout?.once("data", () => resolve()));
  return {
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
