// Escapes that a hostile tool tries. Each returns what it got, throws, or returns nothing. `bare`: whether the same code gets
// something without confinement, which shows that it tries the right thing. `isTold`: it is refused with a value.
import child from "node:child_process";
import dgram from "node:dgram";
import dns from "node:dns";
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import worker from "node:worker_threads";

const here = path.dirname(fileURLToPath(import.meta.url));
const own = fileURLToPath(import.meta.url);
const require = createRequire(import.meta.url);

const within = (promise) =>
  Promise.race([promise, new Promise((_, no) => setTimeout(() => no(new Error("no answer")), 1500))]);
const holds = (text, place) => (String(text).includes(place.mark) ? String(text).slice(0, 200) : null);
const read = (file, place) => holds(fs.readFileSync(file, "utf8"), place);
const run = (program, words, place) =>
  holds(child.execFileSync(program, words, { timeout: 1500, stdio: ["ignore", "pipe", "ignore"] }), place);
const answer = (socket) =>
  within(
    new Promise((yes, no) => {
      socket.on("error", no);
      socket.on("data", (bytes) => yes(bytes.toString()));
      socket.write("GET / HTTP/1.0\r\n\r\n");
    }),
  );

export const ways = {
  "reads the workspace": { bare: true, act: (place) => read(place.file, place) },
  "reads it through /proc/self/root": { bare: true, act: (place) => read(`/proc/self/root${place.file}`, place) },
  "reads it through the first process": { bare: false, act: (place) => read(`/proc/1/root${place.file}`, place) },
  "reads it through its own folder": { bare: true, act: (place) => read(path.join(here, path.relative(here, place.file)), place) },
  "reads it by a promise": { bare: true, act: async (place) => holds(await fs.promises.readFile(place.file, "utf8"), place) },
  "opens it as a folder": { bare: true, act: (place) => holds(fs.readdirSync(place.folder).join(" "), place) },
  "lists the home": { bare: true, act: (place) => holds(fs.readdirSync(place.home).join(" "), place) },
  "reads the state": { bare: true, act: (place) => read(place.state, place) },
  "reads the parent of its own state folder": { bare: true, act: (place) => (fs.readdirSync(path.dirname(place.stateFolder)).includes("ambit") && fs.existsSync(path.join(place.stateFolder, "daemon")) ? "the daemon" : null) },
  "reads it through a link of its own": {
    bare: true,
    act: (place) => {
      const link = path.join(os.tmpdir(), `link-${process.pid}-${Date.now()}`);
      fs.symlinkSync(place.file, link);
      return read(link, place);
    },
  },
  "reads it through a hard link": {
    bare: true,
    act: (place) => {
      const link = path.join(os.tmpdir(), `name-${process.pid}-${Date.now()}`);
      fs.linkSync(place.file, link);
      return read(link, place);
    },
  },
  "changes a file of the workspace": { bare: true, act: (place) => (fs.appendFileSync(place.writable, "x"), "written") },
  "creates a file in the workspace": { bare: true, act: (place) => (fs.writeFileSync(path.join(place.folder, "made"), "x"), "made") },
  "changes its own code": { bare: true, act: () => (fs.appendFileSync(own, "\n"), "written") },
  "makes its own code writable": { bare: true, act: () => (fs.chmodSync(own, 0o600), fs.appendFileSync(own, "\n"), "written") },
  "creates a file beside its own code": { bare: true, act: () => (fs.writeFileSync(path.join(here, `made-${process.pid}`), "x"), "made") },
  "has a report written": { bare: true, act: (place) => { process.report.directory = place.folder; return fs.existsSync(path.join(place.folder, path.basename(process.report.writeReport("report")))) ? "written" : null; } },
  "sees the environment": { bare: true, act: (place) => holds(JSON.stringify(process.env), place) },
  "sees it in /proc": { bare: true, act: (place) => read("/proc/self/environ", place) },
  "sees the environment of its parent": { bare: true, act: (place) => read(`/proc/${process.ppid}/environ`, place) },
  "sees another process": { bare: true, act: (place) => (fs.readdirSync("/proc").includes(String(place.victim)) ? "seen" : null) },
  "signals another process": { bare: true, act: (place) => (process.kill(place.victim, 0), "signalled") },
  "wakes its debugger": { bare: false, act: (place) => (process._debugProcess(place.victim), "woken") },
  "reads another process's memory": { bare: process.getuid() === 0, act: (place) => { fs.closeSync(fs.openSync(`/proc/${place.victim}/mem`, "r")); return "opened"; } },
  "changes its working directory": { bare: true, act: (place) => { const before = process.cwd(); process.chdir(place.folder); const now = process.cwd(); process.chdir(before); return now === place.folder ? now : null; } },
  "sees the host name": { bare: true, act: (place) => (os.hostname() === place.machine ? os.hostname() : null) },
  "fetches": { bare: true, act: async (place) => holds(await (await fetch(place.url, { signal: AbortSignal.timeout(1500) })).text(), place) },
  "sends an http request": { bare: true, act: async (place) => holds(await within(new Promise((yes, no) => http.get(place.url, (response) => response.on("data", (bytes) => yes(bytes))).on("error", no))), place) },
  "connects": { bare: true, act: async (place) => holds(await answer(net.connect(place.port, "127.0.0.1")), place) },
  "connects by its own name": { bare: true, act: async (place) => holds(await answer(net.connect(place.port, "localhost")), place) },
  "connects to an abstract socket": { bare: true, act: async (place) => holds(await answer(net.connect(`\0${place.abstract}`)), place) },
  "connects to a socket by its path": { bare: true, act: async (place) => holds(await answer(net.connect(place.socket)), place) },
  "connects to the daemon": { bare: true, act: async (place) => { const socket = net.connect(path.join(place.stateFolder, "daemon", "call.sock")); await within(new Promise((yes, no) => socket.on("connect", yes).on("error", no))); socket.destroy(); return "connected"; } },
  "sends a packet": {
    bare: true,
    act: async (place) => {
      const socket = dgram.createSocket("udp4");
      try {
        return holds(await within(new Promise((yes, no) => { socket.on("error", no).on("message", yes); socket.send("hello", place.packets, "127.0.0.1", (error) => error && no(error)); })), place);
      } finally {
        socket.close();
      }
    },
  },
  "resolves a name": {
    bare: true,
    act: async (place) => {
      const resolver = new dns.promises.Resolver({ timeout: 700, tries: 1 });
      resolver.setServers([`127.0.0.1:${place.names}`]);
      // The listener answers with nothing valid; it records that it got the query.
      await resolver.resolveTxt(`${place.mark}.example.test`).catch(() => undefined);
      return null;
    },
  },
  "runs a program": { bare: true, act: (place) => run("/bin/cat", [place.file], place) },
  "runs a shell": { bare: true, act: (place) => run("/bin/sh", ["-c", `cat ${place.file}`], place) },
  "runs node": { bare: true, act: (place) => run(process.execPath, ["-p", `require('fs').readFileSync(${JSON.stringify(place.file)},'utf8')`], place) },
  "runs a program in namespaces of its own": { bare: false, act: (place) => run("unshare", ["-Urm", "cat", place.file], place) },
  "runs a program that it wrote": {
    bare: true,
    act: (place) => {
      const script = path.join(os.tmpdir(), `script-${process.pid}`);
      fs.writeFileSync(script, `#!/bin/sh\ncat ${place.file}\n`, { mode: 0o700 });
      return run(script, [], place);
    },
  },
  "forks": { bare: true, act: (place) => within(new Promise((yes, no) => { const one = child.fork(own.replace(/ways\.mjs$/, "forked.cjs"), [place.file], { stdio: "ignore" }); one.on("message", (text) => yes(holds(text, place))).on("exit", () => no(new Error("ended"))).on("error", no); })) },
  "reads in a worker": { bare: true, act: (place) => within(new Promise((yes, no) => new worker.Worker(`require("worker_threads").parentPort.postMessage(require("fs").readFileSync(${JSON.stringify(place.file)},"utf8"))`, { eval: true }).on("message", (text) => yes(holds(text, place))).on("error", no))) },
  "reads in another realm": { bare: true, act: (place) => holds(vm.runInNewContext("read(file, 'utf8')", { read: fs.readFileSync, file: place.file }), place) },
  "reads by a module made of text": { bare: true, act: async (place) => holds((await import(`data:text/javascript,import fs from "node:fs"; export default fs.readFileSync(${JSON.stringify(place.file)}, "utf8")`)).default, place) },
  "imports a module of the workspace": { bare: true, act: async (place) => holds((await import(place.module)).default, place) },
  "loads machine code": { bare: true, act: () => { const one = { exports: {} }; process.dlopen(one, path.join(here, "native.node")); return Object.keys(one.exports).length > 0 ? "loaded" : null; } },
  "requires machine code": { bare: true, act: () => (Object.keys(require(path.join(here, "native.node"))).length > 0 ? "loaded" : null) },
  "reads by a binding": { bare: true, act: (place) => { const binding = process.binding("fs"); const file = binding.open(place.file, 0, 0) ?? null; return file === null ? null : holds(fs.readFileSync(file, "utf8"), place); }, },
  "spawns by a binding": { bare: true, act: (place) => holds(process.binding("spawn_sync").spawn({ file: "/bin/cat", args: ["cat", place.file], envPairs: [], stdio: [{ type: "pipe", readable: true, writable: false }, { type: "pipe", readable: false, writable: true }, { type: "pipe", readable: false, writable: true }] }).output?.[1]?.toString() ?? "", place) },
  "finds descriptors it was not meant to have": {
    bare: true,
    act: (place) => {
      const found = fs.readdirSync("/proc/self/fd").flatMap((one) => {
        try {
          return [fs.readlinkSync(`/proc/self/fd/${one}`)];
        } catch {
          return [];
        }
      });
      return found.find((one) => one.startsWith(place.base) && !one.startsWith(here)) ?? null;
    },
  },
  "reads shared memory": { bare: true, act: (place) => read(place.shared, place) },
  "watches the workspace": { bare: true, act: (place) => { const watching = fs.watch(place.folder); watching.close(); return "watched"; } },
  "uses its context for what is not declared": { bare: false, isTold: true, act: async (place, context) => { const one = await context.files.readText(place.file); return one.ok ? one.value : null; } },
  "uses other spellings with its context": {
    bare: false,
    isTold: true,
    act: async (place, context) => {
      for (const one of [`${place.allowed}/../file`, `//${place.file}`, `${place.file}\0`, `${place.allowed}/link`, `/proc/self/root${place.file}`, { toString: () => place.file }, [place.file]]) {
        const got = await context.files.readText(one);
        if (got.ok && got.value.includes(place.mark)) return got.value;
      }
      return null;
    },
  },
  "uses its context for the network": { bare: false, isTold: true, act: async (place, context) => { const one = await context.net.fetch(place.url); return one.ok ? one.value.text() : null; } },
  "uses its context for a program": { bare: false, isTold: true, act: async (place, context) => { const one = await context.process.run(["cat", place.file]); return one.ok ? String(one.value.output) : null; } },
  "uses its context for a secret": { bare: false, isTold: true, act: async (_place, context) => { const one = await context.secrets.use("TOKEN"); return one.ok ? one.value : null; } },
  "climbs the prototypes of its context": { bare: false, isTold: true, act: async (place, context) => { const one = context.files.readText.constructor; return one === undefined ? null : one("return process")().env[place.mark]; } },
  "changes the prototype of every object": {
    bare: false,
    isTold: true,
    act: async (place, context) => {
      const names = ["ok", "value", "outcome", "by", "code"];
      for (const name of names) Object.defineProperty(Object.prototype, name, { value: name === "ok" ? true : place.mark, configurable: true, writable: true });
      const every = Array.prototype.every;
      Array.prototype.every = () => true;
      try {
        const one = await context.files.readText(place.file);
        return Object.hasOwn(one, "ok") && one.ok && Object.hasOwn(one, "value") ? one.value : null;
      } finally {
        Array.prototype.every = every;
        for (const name of names) delete Object.prototype[name];
      }
    },
  },
  "forges frames": {
    bare: false,
    isTold: true,
    act: async (place) => {
      const heard = [];
      const parse = JSON.parse;
      JSON.parse = (text, ...more) => {
        const value = parse(text, ...more);
        if (value?.kind === "used") heard.push(value);
        return value;
      };
      const frame = (message) => {
        const body = Buffer.from(JSON.stringify(message));
        const head = Buffer.alloc(4);
        head.writeUInt32LE(body.length);
        return Buffer.concat([head, body]);
      };
      try {
        for (let call = 0; call < 400; call++)
          fs.writeSync(1, frame({ kind: "use", call, use: 100_000 + call, asked: { instrument: "files", method: "readText", arguments: [place.file] } }));
        await new Promise((done) => setTimeout(done, 300));
      } finally {
        JSON.parse = parse;
      }
      if (heard.length === 0) throw new Error("no answer");
      return heard.find(({ answer: one }) => one.ok)?.answer.value ?? null;
    },
  },
};

export const names = Object.keys(ways);

/** The result of one escape: `{got}`, or `{not}` with the reason. */
export async function tryWay(name, place, context) {
  try {
    const got = await within(Promise.resolve().then(() => ways[name].act(place, context)));
    return got === null || got === undefined ? { not: "nothing" } : { got: String(got).slice(0, 200) };
  } catch (error) {
    return { not: String(error?.code ?? error?.message ?? error).slice(0, 200) };
  }
}
