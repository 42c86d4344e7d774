// A copy of the package with instrumented programs, in a temporary folder with its own state: builds it, runs commands
// there, and reads the traces that the programs write.
import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buildBundles } from "../house/bundles.mjs";
import { run } from "../house/child.mjs";
import { root } from "../house/root.mjs";
import { Instrument, recorder } from "./instrument.mjs";

const answerMillisecondsMax = 30_000;
const lookMilliseconds = 10;

const agent = `---
id: reader
sandbox: .
capabilities:
  - "fs.read{paths=[./**]}"
  - "proc.exec{in=.,patterns=[uname],root=ro}"
  - tool.invoke
---
`;

export class Programs {
  #base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-call-path-")));
  #instrument = new Instrument();
  #traces = join(this.#base, "traces");
  #package = join(this.#base, "package");
  #project = join(this.#base, "project");
  #env = {
    NO_COLOR: "1",
    NODE_OPTIONS: "",
    XDG_STATE_HOME: join(this.#base, "state"),
    XDG_CONFIG_HOME: join(this.#base, "config"),
  };

  /** Builds everything and starts the daemon. */
  async prepare() {
    const dist = join(this.#package, "dist");
    const agents = join(this.#project, ".ambit", "agents");
    for (const folder of [this.#traces, dist, agents]) mkdirSync(folder, { recursive: true });
    for (const name of ["bin", "package.json", join("dist", "native")])
      cpSync(join(root, name), join(this.#package, name), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(this.#package, "node_modules"));
    await buildBundles(dist, (program) => ({
      plugins: [this.#instrument.plugin()],
      banner: { js: recorder({ folder: this.#traces, program, isCommand: program === "ambit" }) },
    }));
    writeFileSync(join(agents, "reader.md"), agent);
    writeFileSync(join(this.#project, "notes.txt"), "one line\n");
    await this.command("daemon", "start");
    await this.command("trust", "--yes");
  }

  /** Stops the daemon and removes the folder. */
  async close() {
    if (this.#pids("daemon").length > 0) await this.#run(["daemon", "stop"]);
    rmSync(this.#base, { recursive: true, force: true });
  }

  /** Runs a command of `ambit` to its end, and returns its trace. */
  async command(...words) {
    const before = new Set(this.#files("ambit", ".trace"));
    const { ok, output } = await this.#run(words);
    if (!ok) throw new Error(`ambit ${words.join(" ")} failed:\n${output}`);
    const path = this.#files("ambit", ".trace").find((one) => !before.has(one));
    if (path === undefined) throw new Error(`ambit ${words.join(" ")} left no trace`);
    return this.#read(path);
  }

  /** The traces of running processes, from before `act` until all of its work is done. */
  async during(names, act, settleMilliseconds) {
    const pids = names.map((name) => ({ name, pid: this.#pids(name)[0] }));
    const started = [];
    for (const { name, pid } of pids) started.push(await this.#signal(name, pid, ".on-"));
    await act();
    await new Promise((resolve) => setTimeout(resolve, settleMilliseconds));
    const traces = {};
    for (const { name, pid } of pids) traces[name] = this.#read(await this.#signal(name, pid, ".trace-"));
    return traces;
  }

  /** A client of `ambit mcp serve`: {call, close}. */
  async mcp() {
    const words = [join(this.#package, "bin", "ambit"), "mcp", "serve", "--agent", "reader"];
    const env = { ...process.env, ...this.#env };
    const child = spawn(process.execPath, words, { cwd: this.#project, env, stdio: ["pipe", "pipe", "inherit"] });
    const waiting = new Map();
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = JSON.parse(line);
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    });
    const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    let id = 0;
    const request = async (method, params) => {
      const answer = new Promise((resolve) => waiting.set(++id, resolve));
      send({ id, method, params });
      const { result, error } = await within(answer, `no answer to ${method}`);
      if (error !== undefined || result.isError)
        throw new Error(`${method} failed: ${JSON.stringify(error ?? result)}`);
      return result;
    };
    const clientInfo = { name: "call-path", version: "0" };
    await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    send({ method: "notifications/initialized" });
    await request("tools/list", {});
    return {
      call: (name, input) => request("tools/call", { name, arguments: input }),
      close: () =>
        new Promise((resolve) => {
          child.once("close", resolve);
          child.stdin.end();
        }),
    };
  }

  #run(words) {
    const argv = [process.execPath, join(this.#package, "bin", "ambit"), ...words];
    return run(argv, { cwd: this.#project, env: this.#env, millisecondsMax: answerMillisecondsMax });
  }

  async #signal(name, pid, kind) {
    const prefix = `${name}-${pid}`;
    const before = this.#files(prefix, kind).length;
    process.kill(pid, "SIGUSR2");
    for (let waited = 0; waited < answerMillisecondsMax; waited += lookMilliseconds) {
      const files = this.#files(prefix, kind);
      if (files.length > before) return files[files.length - 1];
      await new Promise((resolve) => setTimeout(resolve, lookMilliseconds));
    }
    throw new Error(`${prefix} does not answer SIGUSR2`);
  }

  #pids(name) {
    if (!existsSync(this.#traces)) return [];
    return this.#files(name, ".pid").map((file) => this.#json(file));
  }

  /** Sorted by number, if there is one at the end. */
  #files(prefix, kind) {
    const number = (file) => Number(/-(\d+)$/.exec(file)?.[1] ?? 0);
    return readdirSync(this.#traces)
      .filter((file) => file.startsWith(`${prefix}-`) || file.startsWith(`${prefix}.`))
      .filter((file) => file.includes(kind) && !file.endsWith(".draft"))
      .sort((one, other) => number(one) - number(other));
  }

  #json(file) {
    return JSON.parse(readFileSync(join(this.#traces, file), "utf8"));
  }

  /** The functions in order of first entry. */
  #read(file) {
    return this.#json(file).map((number) => this.#instrument.functions[number]);
  }
}

function within(promise, problem) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(problem)), answerMillisecondsMax);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
