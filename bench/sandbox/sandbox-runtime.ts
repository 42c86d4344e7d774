// @anthropic-ai/sandbox-runtime, as a library in our process and as its command line.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";
import { pathToFileURL } from "node:url";
import { benchFolder } from "../place.ts";
import { runBare } from "./bare.ts";
import type { BenchFixture } from "./fixture.ts";

export const RUNTIME = "sandbox-runtime";
export const RUNTIME_CLI = "sandbox-runtime CLI";

/** The parts of it that are used. */
interface Library {
  initialize(config: object): Promise<void>;
  wrapWithSandbox(command: string): Promise<string>;
  cleanupAfterCommand(): void;
  reset(): Promise<void>;
}

export interface SandboxRuntime {
  /** The command's output: wrapped, started in a shell as its manual says, to its end. */
  run(command: string): Promise<string>;
  /** A separate Node that does the same once. */
  runCli(program: string): Promise<string>;
  close(): Promise<void>;
}

const folder = join(benchFolder, "node_modules", "@anthropic-ai", "sandbox-runtime", "dist");

/** The requirements it lacks; empty if there are none. */
export function runtimeMissing(): readonly string[] {
  return ["bwrap", "socat", "rg"].filter((name) => spawnSync(name, ["--version"], { stdio: "ignore" }).error);
}

export async function startRuntime({ folder: own, project }: BenchFixture): Promise<SandboxRuntime> {
  const loaded = (await import(pathToFileURL(join(folder, "index.js")).href)) as Readonly<Record<string, Library>>;
  const library = loaded["SandboxManager"];
  if (library === undefined) throw new Error(`${RUNTIME} has another door now`);
  const config = {
    network: { allowedDomains: ["localhost"], deniedDomains: [] },
    filesystem: { denyRead: [], allowWrite: [project], denyWrite: [] },
  };
  const settings = join(own, "sandbox-runtime.json");
  writeFileSync(settings, JSON.stringify(config));
  await library.initialize(config);
  const options = { cwd: project, env: process.env };
  return {
    run: async (command) => {
      const wrapped = await library.wrapWithSandbox(command);
      try {
        return await runBare(wrapped, [], { ...options, shell: "/bin/bash" });
      } finally {
        library.cleanupAfterCommand();
      }
    },
    runCli: (program) => runBare(execPath, [join(folder, "cli.js"), "--settings", settings, program], options),
    close: () => library.reset(),
  };
}
