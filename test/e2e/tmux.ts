// A real terminal for tests: a separate tmux to which keys are sent and whose screen is read.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pause } from "../house/pause.ts";

const waitMillisecondsMax = 40_000;
const lookMilliseconds = 50;

export class Tmux {
  readonly #folder = mkdtempSync(join(tmpdir(), "ambit-tmux-"));

  /** A shell in that folder, with exactly these variables. */
  constructor(columns: number, rows: number, cwd: string, environment: Readonly<Record<string, string>>) {
    const variables = Object.entries({ PS1: "$ ", ...environment }).map(([name, value]) => `${name}=${value}`);
    this.#run(
      "new-session",
      "-d",
      "-s",
      "s",
      "-x",
      String(columns),
      "-y",
      String(rows),
      "-c",
      cwd,
      "env",
      "-i",
      ...variables,
      "TERM=screen-256color",
      "bash",
      "--norc",
      "--noprofile",
    );
  }

  /** Keys by tmux's names, or text. */
  send(...keys: readonly string[]): void {
    this.#run("send-keys", "-t", "s", ...keys);
  }

  type(text: string): void {
    this.#run("send-keys", "-t", "s", "-l", text);
  }

  /** Typed text followed by Enter. */
  line(text: string): void {
    this.type(text);
    this.send("Enter");
  }

  resize(columns: number, rows: number): void {
    this.#run("resize-window", "-t", "s", "-x", String(columns), "-y", String(rows));
  }

  screen(): string {
    return this.#run("capture-pane", "-p", "-t", "s");
  }

  /** A tmux format such as `#{pane_title}`. */
  about(format: string): string {
    return this.#run("display-message", "-p", "-t", "s", format).trim();
  }

  /** The screen, once it matches. */
  async until(fits: RegExp): Promise<string> {
    const end = performance.now() + waitMillisecondsMax;
    for (;;) {
      const screen = this.screen();
      if (fits.test(screen)) return screen;
      if (performance.now() > end) throw new Error(`${fits} is not on the screen:\n${screen}`);
      await pause(lookMilliseconds, "tmux reports no change of the screen");
    }
  }

  end(): void {
    try {
      this.#run("kill-server");
    } catch {
      // It exited with its last shell.
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #run(...words: readonly string[]): string {
    const [socket, settings] = [join(this.#folder, "socket"), "/dev/null"];
    return execFileSync("tmux", ["-S", socket, "-f", settings, ...words], { encoding: "utf8" });
  }
}
