// A person at a terminal of their own: a relay to the control socket on a pseudo-terminal that no client shares.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../house/until.ts";

/** Renamed to its final name once it listens, so that no client connects too early. */
const RELAY = `
  const net = require("node:net");
  const [own, control] = process.argv.slice(1);
  net.createServer((near) => {
    const far = net.connect(control);
    for (const [one, other] of [[near, far], [far, near]]) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
  }).listen(own + ".new", () => require("node:fs").renameSync(own + ".new", own));
`;

export class Person {
  /** The socket to connect to, in place of the daemon's own. */
  readonly folder: string;
  readonly #child: ChildProcess;

  constructor(base: string, daemon: string) {
    this.folder = join(base, "person");
    mkdirSync(this.folder, { mode: 0o700 });
    const words = [process.execPath, "-e", RELAY, join(this.folder, "control.sock"), join(daemon, "control.sock")];
    const line = words.map((word) => `'${word}'`).join(" ");
    this.#child = spawn("script", ["-qec", line, "/dev/null"], { stdio: ["ignore", "ignore", "ignore"] });
  }

  async ready(): Promise<void> {
    await until(() => existsSync(join(this.folder, "control.sock")), "the person has a terminal");
  }

  end(): void {
    this.#child.kill("SIGKILL");
  }
}
