// A program started by Node and nothing else, and the same under plain bubblewrap with the mounts of our own plan.
import { type SpawnOptions, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { SandboxEnvironment } from "../../src/sandbox/linux/detect-sandbox.ts";
import type { Plan } from "../../src/sandbox/plan/plan.ts";
import { bubblewrapCommand } from "../../src/sandbox/plan/start/bubblewrap.ts";

export const BARE = "bare spawn";
export const BUBBLEWRAP = "bubblewrap";

/** Its output, once it has exited and closed its output. Throws for anything but status 0. */
export function runBare(
  program: string,
  argv: readonly string[],
  { data = [], ...options }: SpawnOptions & { readonly data?: readonly Data[] } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const stdio: ("ignore" | "pipe")[] = ["ignore", "pipe", "pipe"];
    for (const { fd } of data) {
      while (stdio.length < fd) stdio.push("ignore");
      stdio[fd] = "pipe";
    }
    const child = spawn(program, argv, { env: { PATH: "/usr/bin:/bin" }, ...options, stdio });
    for (const { fd, bytes } of data) (child.stdio[fd] as Writable).on("error", () => {}).end(bytes);
    const said = { output: "", errors: "" };
    (child.stdout as Readable).on("data", (bytes: Buffer) => {
      said.output += bytes.toString("latin1");
    });
    (child.stderr as Readable).on("data", (bytes: Buffer) => {
      said.errors += bytes.toString("latin1");
    });
    child.on("error", reject);
    child.on("close", (status, signal) => {
      if (status === 0) resolve(said.output);
      else reject(new Error(`${program.slice(0, 40)} ended with ${status ?? signal}: ${said.errors.slice(0, 500)}`));
    });
  });
}

interface Data {
  readonly fd: number;
  readonly bytes: Uint8Array;
}

/** The exact flags of our own sandbox, with another program in it: without our setup, and without our restrictions. */
export function runBubblewrap(ground: SandboxEnvironment, plan: Plan, program: string): Promise<string> {
  // Without a setup there is no overlay.
  const root: Plan["root"] =
    plan.root === null ? null : { ...plan.root, mode: plan.root.mode === "ro" ? "ro" : "direct" };
  const direct = { root, masked: [] };
  const { argv, data } = bubblewrapCommand({ ...plan, ...direct }, ground.system, (text) => Buffer.from(text), null);
  const flags = argv.slice(0, argv.indexOf("--"));
  if (ground.backend.kind !== "namespaces") throw new Error(ground.backend.because);
  return runBare(ground.backend.bubblewrap, [...flags, "--", program], { env: {}, cwd: "/", data });
}
