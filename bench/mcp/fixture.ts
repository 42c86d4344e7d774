// A project with files, an agent that may read and write them, a daemon on a state of its own, and the servers on it.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchFolder, rootFolder } from "../place.ts";
import type { ServerWords } from "./client.ts";

export const OURS = "ambit";
export const FILESYSTEM = "server-filesystem";
export const EVERYTHING = "server-everything";

export const fileText: string = "0123456789abcdef".repeat(64);
export const filesCount = 32;

export interface McpFixture {
  readonly base: string;
  readonly project: string;
  readonly ambit: ServerWords;
  readonly filesystem: ServerWords;
  readonly everything: ServerWords;
  remove(): void;
}

const RECORD = `---
sandbox: .
capabilities: [fs.read, fs.write, memory.read, memory.write]
---
`;

export function makeMcpFixture(): McpFixture {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-bench-mcp-")));
  const project = join(base, "project");
  mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
  writeFileSync(join(project, ".ambit", "agents", "worker.md"), RECORD);
  for (let at = 0; at < filesCount; at++) writeFileSync(join(project, `file-${at}.txt`), fileText);
  const environment = {
    PATH: process.env["PATH"],
    XDG_STATE_HOME: join(base, "state"),
    XDG_CONFIG_HOME: join(base, "config"),
  };
  const program = join(rootFolder, "bin", "ambit");
  const run = (...words: readonly string[]): void => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
      cwd: project,
      env: environment,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`ambit ${words.join(" ")}: ${stderr}${stdout}`);
  };
  const node = { command: process.execPath, cwd: project, environment };
  const peer = (name: string, ...words: readonly string[]): ServerWords => ({
    ...{ ...node, subject: name },
    words: [join(benchFolder, "node_modules", "@modelcontextprotocol", name, "dist", "index.js"), ...words],
  });
  const remove = (): void => {
    spawnSync(process.execPath, [program, "daemon", "stop"], { cwd: project, env: environment });
    rmSync(base, { recursive: true, force: true });
  };
  try {
    run("trust", "--yes");
    run("daemon", "start");
    return {
      ...{ base, project, remove },
      ambit: { ...node, subject: OURS, words: [program, "mcp", "serve", "--agent", "worker"] },
      filesystem: peer(FILESYSTEM, project),
      everything: peer(EVERYTHING, "stdio"),
    };
  } catch (problem) {
    remove();
    throw problem;
  }
}
