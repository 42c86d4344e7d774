// The state key in the desktop's keychain: the Secret Service on Linux through `secret-tool`, the macOS keychain
// through `security`. Each key is stored under its own id, so a new key never replaces one that is still needed.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Answer, Refusal } from "../core/ports/daemon/exchange.ts";
import { type KeyProgramFailure, type KeyProgramResult, programIn, runProgram } from "./key-program.ts";

const outputBytesMax = 4096;
const RETRY = "unlock the keychain, then run: ambit secrets unlock";

export interface KeychainEnvironment {
  readonly platform: string;
  readonly home: string | null;
  /** Folders in which the program is searched. */
  readonly programs: readonly string[];
  readonly millisecondsMax: number;
  /** Where each user has a folder for sockets; by default the session bus is in it. */
  readonly runtime: string;
}

/** A command and its standard input. INVARIANT: a key is never an argument. */
export interface KeychainCommand {
  readonly argv: readonly [string, ...string[]];
  readonly input: string | null;
}

export interface KeychainCommands {
  put(text: string): KeychainCommand;
  readonly get: KeychainCommand;
  /** Distinguishes a locked item from a missing one; null if `get` does so itself. */
  readonly find: KeychainCommand | null;
  readonly drop: KeychainCommand;
}

export function secretToolCommands(program: string, id: string): KeychainCommands {
  const attributes = ["application", "ambit", "key", id];
  return {
    put: (text) => ({ argv: [program, "store", "--label=ambit: key of the secrets", ...attributes], input: text }),
    get: { argv: [program, "lookup", ...attributes], input: null },
    find: { argv: [program, "search", ...attributes], input: null },
    drop: { argv: [program, "clear", ...attributes], input: null },
  };
}

/** Untested on a real machine. `-i` reads the command from its input: other users could read an argument. */
export function securityCommands(program: string, id: string): KeychainCommands {
  const item = ["-s", "ambit", "-a", id];
  return {
    put: (text) => ({
      argv: [program, "-i"],
      input: `add-generic-password -l "ambit: key of the secrets" ${item.join(" ")} -w ${text}\n`,
    }),
    get: { argv: [program, "find-generic-password", ...item, "-w"], input: null },
    find: null,
    drop: { argv: [program, "delete-generic-password", ...item], input: null },
  };
}

/** Base64 only: it contains nothing that a command line could interpret. */
const KEPT = /^[A-Za-z0-9+/]{43}=$/;

export class Keychain {
  readonly #context: KeychainEnvironment;

  constructor(context: KeychainEnvironment) {
    this.#context = context;
  }

  /** Stored and read back: the keychain's own report is not enough. */
  async put(id: string, key: Buffer, bus: string | null): Promise<Answer<null>> {
    const ready = this.#ready(id, bus);
    if (!ready.ok) return ready;
    const { commands, environment } = ready.value;
    const said = await this.#run(commands.put(key.toString("base64")), environment);
    if (!said.ok) return this.#failed(said);
    said.output.fill(0);
    const back = await this.get(id, bus);
    const isSame = back.ok && back.value.equals(key);
    if (back.ok) back.value.fill(0);
    if (isSame) return { ok: true, value: null };
    // Nothing was ever sealed with it.
    await this.drop(id, bus);
    return back.ok ? locked("the keychain returned a different value than was stored", RETRY) : back;
  }

  async get(id: string, bus: string | null): Promise<Answer<Buffer>> {
    const ready = this.#ready(id, bus);
    if (!ready.ok) return ready;
    const { commands, environment } = ready.value;
    const said = await this.#run(commands.get, environment);
    if (!said.ok) return this.#why(said, commands, environment);
    const text = said.output.toString("latin1").replace(/\n$/, "");
    said.output.fill(0);
    if (!KEPT.test(text)) return locked("the keychain entry is not an ambit key", null);
    return { ok: true, value: Buffer.from(text, "base64") };
  }

  /** A missing item counts as dropped. */
  async drop(id: string, bus: string | null): Promise<Answer<null>> {
    const ready = this.#ready(id, bus);
    if (!ready.ok) return ready;
    const { commands, environment } = ready.value;
    const said = await this.#run(commands.drop, environment);
    if (said.ok) return { ok: true, value: null };
    const why = await this.#why(said, commands, environment);
    return why === GONE ? { ok: true, value: null } : why;
  }

  #run(
    { argv, input }: KeychainCommand,
    environment: Readonly<Record<string, string | undefined>>,
  ): Promise<KeyProgramResult> {
    const { millisecondsMax } = this.#context;
    const bytes = input === null ? null : Buffer.from(input);
    return runProgram({ argv, input: bytes, environment, millisecondsMax, outputBytesMax });
  }

  #ready(
    id: string,
    bus: string | null,
  ): Answer<{ readonly commands: KeychainCommands; readonly environment: Readonly<Record<string, string>> }> {
    const { platform, programs, home } = this.#context;
    if (!/^[0-9a-f]{32}$/.test(id)) throw new Error("a key has an id of 32 digits");
    const shared = { PATH: "/usr/bin:/bin", LANG: "C.UTF-8", ...(home === null ? {} : { HOME: home }) };
    if (platform === "darwin") {
      const program = programIn("security", programs);
      if (program === null) return locked("the program `security` was not found", null);
      return { ok: true, value: { commands: securityCommands(program, id), environment: shared } };
    }
    const program = programIn("secret-tool", programs);
    if (program === null)
      return locked(
        `secret-tool is not installed (looked in ${programs.join(", ")}), so the keychain cannot be read`,
        "install it, for example: apt install libsecret-tools; then run: ambit secrets unlock",
      );
    const address = busAddress(bus, this.#context.runtime);
    if (!address.ok) return address;
    const environment = { ...shared, DBUS_SESSION_BUS_ADDRESS: address.value };
    return { ok: true, value: { commands: secretToolCommands(program, id), environment } };
  }

  /** No output and no complaint: the item is missing, or it exists and stays locked. */
  async #why(
    failed: KeyProgramFailure,
    { find }: KeychainCommands,
    environment: Readonly<Record<string, string | undefined>>,
  ): Promise<Refusal> {
    if (failed.why !== "failed" || failed.complaint !== null || find === null) return this.#failed(failed);
    const said = await this.#run(find, environment);
    if (!said.ok) return this.#failed(said);
    const isThere = said.output.length > 0;
    said.output.fill(0);
    return isThere ? locked("the keychain is locked, or access to the key was refused", RETRY) : GONE;
  }

  #failed(said: KeyProgramFailure): Refusal {
    const name = this.#context.platform === "darwin" ? "security" : "secret-tool";
    if (name === "security" && said.status === 44) return GONE;
    if (said.why === "late")
      return locked(`${name} ${said.message}: the keychain may be waiting to be unlocked`, RETRY);
    const complaint = said.complaint === null ? "" : ` (${said.complaint})`;
    return locked(`${name} ${said.message}${complaint}`, RETRY);
  }
}

const GONE: Refusal = locked(
  "the keychain has no ambit key",
  "restore the keychain that had it, then run: ambit secrets unlock; if it is lost, delete the secrets and set them again",
);

/** Only sockets of this machine: other kinds of address start programs or reach over the network. */
const ADDRESS = /^unix:(?:path|abstract)=[\x21-\x2b\x2d-\x3a\x3c-\x7e]{1,256}(?:,guid=[0-9a-f]{32})?$/;

/** The given address, else the user's own at its usual path. The daemon has no environment to take it from. */
export function busAddress(given: string | null, runtime: string): Answer<string> {
  if (given !== null)
    return ADDRESS.test(given)
      ? { ok: true, value: given }
      : locked(
          "the address of the session bus is not a socket on this machine",
          "check the variable DBUS_SESSION_BUS_ADDRESS",
        );
  const user = process.getuid?.() ?? 0;
  const path = join(runtime, String(user), "bus");
  try {
    const found = lstatSync(path);
    if (found.isSocket() && found.uid === user) return { ok: true, value: `unix:path=${path}` };
  } catch {
    // Not found.
  }
  return locked(
    "there is no D-Bus session bus, so the keychain cannot be reached",
    "in your desktop session, run: ambit secrets unlock",
  );
}

function locked(message: string, fix: string | null): Refusal {
  return { ok: false, code: "secret_refused", message, fix };
}
