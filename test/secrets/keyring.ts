// A real desktop keychain without a desktop: its own session bus and keyring in its own folder.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../house/until.ts";

const PROGRAMS = ["dbus-daemon", "dbus-send", "gnome-keyring-daemon", "secret-tool"];
const PASSWORD = "of-the-login-keyring";

/** The programs it needs that are not installed. */
export function missingPrograms(): readonly string[] {
  return PROGRAMS.filter((name) => {
    try {
      accessSync(join("/usr/bin", name), constants.X_OK);
      return false;
    } catch {
      return true;
    }
  });
}

export class Keyring {
  readonly #folder: string = mkdtempSync(join(tmpdir(), "ambit-keyring-"));
  #bus: ChildProcess | null = null;
  #keyring: ChildProcess | null = null;
  address = "";

  async start(): Promise<void> {
    mkdirSync(join(this.#folder, "run"), { mode: 0o700 });
    this.#bus = spawn(
      "dbus-daemon",
      ["--session", "--nofork", "--print-address", `--address=unix:dir=${this.#folder}`],
      {
        env: this.#environment(),
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    this.address = await firstLine(this.#bus);
    await this.unlocked();
  }

  /** As at login: the keyring's password unlocks it. */
  async unlocked(): Promise<void> {
    await ended(this.#keyring);
    this.#keyring = spawn("gnome-keyring-daemon", ["--foreground", "--unlock", "--components=secrets"], {
      env: this.#environment(),
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#keyring.stdin?.end(PASSWORD);
    const isThere = (): boolean => {
      const asked = "string:org.freedesktop.secrets";
      const owner = ["/org/freedesktop/DBus", "org.freedesktop.DBus.NameHasOwner", asked];
      return this.#send("org.freedesktop.DBus", owner).includes("boolean true");
    };
    await until(isThere, "the keyring starts");
  }

  lock(): void {
    const login = "array:objpath:/org/freedesktop/secrets/collection/login";
    this.#send("org.freedesktop.secrets", ["/org/freedesktop/secrets", "org.freedesktop.Secret.Service.Lock", login]);
  }

  async stop(): Promise<void> {
    await ended(this.#keyring);
    await ended(this.#bus);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #send(to: string, words: readonly string[]): string {
    const argv = ["--session", "--print-reply", `--dest=${to}`, ...words];
    return execFileSync("dbus-send", argv, { env: this.#environment(), timeout: 20_000 }).toString();
  }

  /** No display: a prompt for a person fails at once. */
  #environment(): Record<string, string> {
    const own = { HOME: this.#folder, XDG_RUNTIME_DIR: join(this.#folder, "run"), PATH: "/usr/bin:/bin" };
    return this.address === "" ? own : { ...own, DBUS_SESSION_BUS_ADDRESS: this.address };
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((give, fail) => {
    let text = "";
    child.stdout?.on("data", (bytes: Buffer) => {
      text += bytes.toString();
      if (text.includes("\n")) give(text.slice(0, text.indexOf("\n")));
    });
    child.once("exit", () => fail(new Error("the session bus does not start")));
  });
}

function ended(child: ChildProcess | null): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((done) => {
    child.once("exit", () => done());
    child.kill("SIGKILL");
  });
}
