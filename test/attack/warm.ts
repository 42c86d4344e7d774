// Sandboxes of a caller: `owner.ts` as a process, one command after another.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { nativeProgram } from "../../src/platform/native-program.ts";
import { bundleProgram } from "../e2e/bundle.ts";
import { type Outcome, outcomesIn } from "./attempt.ts";
import type { CallerFacts } from "./callers.ts";
import type { AttackFixture } from "./fixture.ts";
import type { Scene } from "./scene.ts";

export class Warm {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #scene: Scene;

  private constructor(child: ChildProcessWithoutNullStreams, scene: Scene) {
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    this.#scene = scene;
  }

  static async start(
    fixture: AttackFixture,
    who: CallerFacts,
    scene: Scene,
    mode: "direct" | "draft" = "direct",
  ): Promise<Warm> {
    const program = await bundleProgram("test/attack/owner.ts");
    chmodSync(join(program, ".."), 0o755);
    const native = nativeProgram(join(fixture.folder, "program"));
    const state = join(scene.folder, "state", "ambit");
    const own = [program, scene.root, native, state, mode];
    const [command = "", ...words] = [...who.prefix, process.execPath, ...own];
    const child = spawn(command, words, { cwd: "/", env: { ...scene.environment }, stdio: ["pipe", "pipe", "pipe"] });
    child.stderr.pipe(process.stderr);
    return new Warm(child, scene);
  }

  async run(argv: readonly string[]): Promise<{ readonly ending: object; readonly output: string }> {
    this.#child.stdin.write(`${JSON.stringify(argv)}\n`);
    const line = await this.#lines.next();
    if (line.done === true) throw new Error("the owner has exited");
    return JSON.parse(line.value);
  }

  async probe(...words: readonly string[]): Promise<readonly Outcome[]> {
    const { root } = this.#scene;
    const { output } = await this.run([join(root, "probe"), join(root, "scene"), ...words]);
    return outcomesIn(output);
  }

  async end(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.stdin.end();
    await ended;
  }
}
