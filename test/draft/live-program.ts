// A shell with a live root that runs as long as a test wants, through the real command line.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { until } from "../house/until.ts";
import { type DraftProject, WRITER } from "./project.ts";

export const LIVE: string = WRITER.replace("cmds: [git, sh, true, npm, node] }", "cmds: [git, sh, node], root: live }");

export interface LiveProgram {
  /** Runs a shell line in the running program; resolves when its marker appears. */
  say(line: string): Promise<string>;
  end(): Promise<{ readonly status: number | null; readonly errors: string }>;
  kill(): void;
}

export async function live(fixture: DraftProject, ...options: readonly string[]): Promise<LiveProgram> {
  const words = ["exec", "writer", "--root", "live", ...options, "--", "sh"];
  const child = spawn(...fixture.command(words), { cwd: fixture.project, env: fixture.environment, stdio: "pipe" });
  const said = { output: "", errors: "" };
  child.stdout.on("data", (bytes: Buffer) => (said.output += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (said.errors += bytes.toString()));
  child.stdin.on("error", () => undefined);
  const done = once(child, "close");
  let count = 0;
  const say = async (line: string): Promise<string> => {
    const mark = `mark-${++count}.`;
    const from = said.output.length;
    child.stdin.write(`${line}\necho ${mark}\n`);
    await until(() => said.output.slice(from).includes(mark) || child.exitCode !== null, `${line}: ${said.errors}`);
    return said.output.slice(from).replace(`${mark}\n`, "");
  };
  await say("true");
  return {
    say,
    end: async () => {
      child.stdin.end();
      const [status] = (await done) as [number | null];
      return { status, errors: said.errors };
    },
    kill: () => child.kill("SIGKILL"),
  };
}
