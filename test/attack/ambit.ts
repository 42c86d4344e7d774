// `ambit exec --json` as a user would run it, and its output.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { CallerFacts } from "./callers.ts";
import type { Scene } from "./scene.ts";

export interface Executed {
  readonly outcome: "ran" | "refused";
  readonly code: string | null;
  readonly message?: string;
  readonly status: number | null;
  readonly ending?: { readonly kind: string; readonly because?: string; readonly signal?: number };
  readonly denials?: readonly { readonly code: string; readonly request: string; readonly times: number }[];
  readonly outputDropped?: number;
  readonly output: string;
  readonly errors: string;
}

export class Ambit {
  readonly #start: string;
  readonly #who: CallerFacts;
  readonly #scene: Scene;

  constructor(start: string, who: CallerFacts, scene: Scene) {
    this.#start = start;
    this.#who = who;
    this.#scene = scene;
  }

  async trust(folder: string = this.#scene.root): Promise<void> {
    const { status, said } = await this.#run([], folder, ["trust", "--yes"]);
    if (status !== 0) throw new Error(`not trusted: ${said}`);
  }

  /** The probe with these arguments, in the root of the scene. */
  probe(words: readonly string[], more: ExecOptions = {}): Promise<Executed> {
    const { root } = this.#scene;
    const facts = this.#who.backend === "supervised" ? "scene" : join(root, "scene");
    return this.exec([join(root, "probe"), facts, ...words], more);
  }

  async exec(
    argv: readonly string[],
    { agent = "probe", folder, before = [], options = [] }: ExecOptions = {},
  ): Promise<Executed> {
    const words = ["exec", agent, "--json", ...options, "--", ...argv];
    const { said, complaint } = await this.#run(before, folder ?? this.#scene.root, words);
    try {
      return JSON.parse(said);
    } catch {
      throw new Error(`no JSON object in the output: ${said.slice(0, 1000)} ${complaint.slice(0, 2000)}`);
    }
  }

  /** Started in the background. */
  start(argv: readonly string[]): ChildProcess {
    const [command = "", ...words] = this.#command([], ["exec", "probe", "--", ...argv]);
    return spawn(command, words, { ...this.#surroundings(this.#scene.root), stdio: ["ignore", "pipe", "inherit"] });
  }

  command(words: readonly string[]): readonly string[] {
    return this.#command([], words);
  }

  async #run(before: readonly string[], folder: string, words: readonly string[]): Promise<Ran> {
    const [command = "", ...rest] = this.#command(before, words);
    const child = spawn(command, rest, { ...this.#surroundings(folder), stdio: ["ignore", "pipe", "pipe"] });
    const [said, complaint, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    return { status, said, complaint };
  }

  #command(before: readonly string[], words: readonly string[]): readonly string[] {
    return [...before, ...this.#who.prefix, process.execPath, this.#start, ...words];
  }

  #surroundings(cwd: string): { readonly cwd: string; readonly env: Record<string, string> } {
    return { cwd, env: { ...this.#scene.environment } };
  }
}

interface Ran {
  readonly status: number | null;
  readonly said: string;
  readonly complaint: string;
}

export interface ExecOptions {
  readonly agent?: string;
  readonly folder?: string;
  /** Before the caller's own command: a namespace, a terminal. */
  readonly before?: readonly string[];
  readonly options?: readonly string[];
}
