// The collector's side of a test: its process, stopped, continued and killed by the test.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bundleProgram } from "../e2e/bundle.ts";
import type { CollectorMode } from "./collector.ts";

export class Collectors {
  readonly #program: string;
  readonly #children = new Set<ChildProcess>();

  private constructor(program: string) {
    this.#program = program;
  }

  static async make(): Promise<Collectors> {
    return new Collectors(await bundleProgram(fileURLToPath(new URL("./collector.ts", import.meta.url))));
  }

  /** Resolves once it listens. */
  async start(socket: string, file: string, mode: CollectorMode = "honest"): Promise<ChildProcess> {
    rmSync(socket, { force: true });
    const child = fork(this.#program, [socket, file, mode], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      execArgv: [],
    });
    this.#children.add(child);
    await once(child, "message");
    return child;
  }

  async end(child: ChildProcess): Promise<void> {
    this.#children.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const over = once(child, "close");
    child.kill("SIGKILL");
    await over;
  }

  async remove(): Promise<void> {
    for (const child of [...this.#children]) await this.end(child);
  }
}
