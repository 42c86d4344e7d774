// What a tool must not reach for by itself, why, and which instrument of the context to use instead.

const FILES = { why: "files outside of what the tool declares", use: "context.files" };
const NETWORK = { why: "the network around every check", use: "context.net.fetch" };
const PROCESS = { why: "programs outside of any sandbox", use: "context.process.run" };
const CODE = { why: "code that nobody has read", use: "plain functions" };
const LOADER = { why: "other modules by a way that no check sees", use: "a static import at the top of the file" };
const MACHINE = { why: "facts and powers of the whole machine", use: "what the input and the context hand over" };
const SECRETS = { why: "every secret in the environment", use: "context.secrets" };
const STORE = { why: "a database that no grant covers", use: "context.storage" };

/** Modules of Node, without `node:`. What is not here is harmless by itself: path, url, util, events, buffer and so on. */
export const MODULES = new Map([
  ...["fs", "fs/promises"].map((name) => [name, FILES]),
  ...["net", "tls", "dgram", "dns", "dns/promises", "http", "https", "http2", "_http_client", "_tls_wrap"].map((name) => [
    name,
    NETWORK,
  ]),
  ...["child_process", "cluster", "worker_threads"].map((name) => [name, PROCESS]),
  ...["vm", "repl", "wasi"].map((name) => [name, CODE]),
  ...["module", "inspector", "inspector/promises", "process"].map((name) => [name, LOADER]),
  ...["os", "v8", "trace_events", "perf_hooks", "diagnostics_channel", "async_hooks"].map((name) => [name, MACHINE]),
  ["sqlite", STORE],
]);

/** Packages that are nothing but another way to the same. */
export const PACKAGES = new Map([
  ...["undici", "axios", "got", "node-fetch", "node-fetch-native", "cross-fetch", "isomorphic-fetch", "ky", "needle"].map(
    (name) => [name, NETWORK],
  ),
  ...["request", "superagent", "phin", "ofetch", "ws", "socket.io-client", "ssh2", "nodemailer", "puppeteer"].map((name) => [
    name,
    NETWORK,
  ]),
  ...["playwright", "playwright-core", "puppeteer-core"].map((name) => [name, NETWORK]),
  ...["fs-extra", "graceful-fs", "rimraf", "chokidar", "glob", "fast-glob", "globby", "memfs"].map((name) => [name, FILES]),
  ...["execa", "cross-spawn", "shelljs", "zx", "node-pty", "tinyexec", "nano-spawn"].map((name) => [name, PROCESS]),
  ...["dotenv", "dotenv-flow", "env-var", "envalid", "keytar"].map((name) => [name, SECRETS]),
  ...["better-sqlite3", "pg", "mysql2", "mongodb", "ioredis", "redis"].map((name) => [name, STORE]),
  ...["vm2", "isolated-vm", "esm", "import-fresh", "require-from-string", "jiti"].map((name) => [name, CODE]),
  ...["bindings", "node-gyp-build", "ffi-napi", "koffi"].map((name) => [name, MACHINE]),
]);

/** Names that are there without being imported. */
export const GLOBALS = new Map([
  ...["fetch", "WebSocket", "WebSocketStream", "XMLHttpRequest", "EventSource", "WebTransport"].map((name) => [name, NETWORK]),
  ...["eval", "Function", "WebAssembly", "ShadowRealm"].map((name) => [name, CODE]),
  ...["Worker", "SharedWorker", "importScripts"].map((name) => [name, PROCESS]),
  ...["Deno", "Bun"].map((name) => [name, MACHINE]),
  ...["localStorage", "sessionStorage", "indexedDB", "caches"].map((name) => [name, STORE]),
]);

/** The objects all globals hang on. */
export const GLOBAL_OBJECTS = new Set(["globalThis", "global", "window", "self"]);

/** What hangs on `process`; the rest of it (argv, cwd, nextTick, platform) says little and does little. */
export const PROCESS_MEMBERS = new Map([
  ["env", SECRETS],
  ...["binding", "_linkedBinding", "dlopen", "getBuiltinModule", "mainModule", "moduleLoadList"].map((name) => [name, LOADER]),
  ...["kill", "abort", "exit", "reallyExit", "chdir", "umask", "setuid", "setgid", "seteuid", "setegid"].map((name) => [
    name,
    MACHINE,
  ]),
  ...["setgroups", "initgroups", "report", "execve", "loadEnvFile"].map((name) => [name, MACHINE]),
]);

/** Ways to a module that take its name as a text. */
export const LOADERS = new Set(["require", "createRequire", "getBuiltinModule", "binding", "_linkedBinding"]);

/** Why a module must not be loaded; null where nothing is known against it. */
export function ambientModule(name) {
  if (typeof name !== "string") return null;
  const plain = name.startsWith("node:") ? name.slice(5) : name;
  const known = MODULES.get(plain);
  if (known !== undefined) return known;
  if (name.startsWith("node:")) return null;
  if (/^(?:data|http|https|blob):/i.test(name)) return CODE;
  if (/\.node$/.test(name)) return { why: "native code, which nothing here can hold", use: "the context" };
  const whole = name.startsWith("@") ? name.split("/").slice(0, 2).join("/") : name.split("/")[0];
  return PACKAGES.get(whole) ?? null;
}

export const COMPUTED = { why: "a module whose name nobody can read here", use: "a static import with a written name" };
export { CODE, LOADER, MACHINE };
