// Starting other programs: argv as an array, never a shell line, and none left running when we are stopped.
import { spawn } from "node:child_process";
import { root } from "./root.mjs";

const outputCharactersMax = 1_000_000;
/** Each running child, with the promise of its exit. */
const running = new Map();

/** Runs a program until it exits: {ok, output}. A program that cannot be started is an ordinary failure. */
export function run(argv, { cwd = root, env = {}, millisecondsMax, input } = {}) {
  const [program, ...rest] = argv;
  const child = spawn(program, rest, {
    cwd,
    env: { ...process.env, ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    ...(millisecondsMax === undefined ? {} : { timeout: millisecondsMax }),
  });
  // A program that does not read its input is not an error of ours.
  child.stdin?.on("error", () => undefined).end(input);
  const ended = new Promise((resolve) => {
    let output = "";
    const keep = (chunk) => {
      if (output.length < outputCharactersMax) output += chunk;
    };
    child.stdout.setEncoding("utf8").on("data", keep);
    child.stderr.setEncoding("utf8").on("data", keep);
    const end = (status, more = "") => {
      running.delete(child);
      resolve({ ok: status === 0, output: output + more });
    };
    child.on("error", (problem) => end(1, problem.message));
    child.on("close", (status, signal) => end(status, signal === null ? "" : `\nended by ${signal}\n`));
  });
  running.set(child, ended);
  return ended;
}

/** Passes the signal on, and waits until all of our children have exited. */
export async function stopAll(signal) {
  for (const child of running.keys()) child.kill(signal);
  await Promise.all(running.values());
}
