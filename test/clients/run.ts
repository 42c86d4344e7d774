// Runs a client until it exits, or until its timeout.
import { spawn } from "node:child_process";
import { once } from "node:events";

export interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

const runMillisecondsMax = 120_000;
const outputCharactersMax = 4_000_000;

export interface RunOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly millisecondsMax?: number;
}

export async function run(words: readonly string[], asked: RunOptions): Promise<Ran> {
  const { cwd, env, millisecondsMax = runMillisecondsMax } = asked;
  const [program = "", ...rest] = words;
  const child = spawn(program, rest, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: millisecondsMax,
    killSignal: "SIGKILL",
  });
  const read = (stream: NodeJS.ReadableStream): (() => string) => {
    let text = "";
    stream.setEncoding("utf8").on("data", (part: string) => {
      if (text.length < outputCharactersMax) text += part;
    });
    return () => text;
  };
  const out = read(child.stdout);
  const err = read(child.stderr);
  const [status] = (await once(child, "close")) as [number | null];
  return { status, out: out(), err: err() };
}
