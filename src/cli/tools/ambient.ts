// Ambient authority that a tool must not use, why, and the part of the context that replaces it. `ambit tools lint` and the
// ESLint rule read this table.

export interface Reason {
  readonly why: string;
  readonly use: string;
}

const FILES: Reason = { why: "files outside the tool's declaration", use: "context.files" };
const NETWORK: Reason = { why: "the network without any check", use: "context.net.fetch" };
const PROCESS: Reason = { why: "programs outside the sandbox", use: "context.process.run" };
export const CODE: Reason = { why: "code generated at run time", use: "plain functions" };
export const LOADER: Reason = {
  why: "modules in a way that cannot be checked",
  use: "a static import at the top of the file",
};
const MACHINE: Reason = {
  why: "the whole machine",
  use: "the input and the context",
};
const SECRETS: Reason = { why: "all environment variables", use: "context.secrets" };
const STORE: Reason = { why: "a database that no grant covers", use: "context.storage" };
export const COMPUTED: Reason = {
  why: "a module whose name is computed",
  use: "a static import with a literal name",
};
const NATIVE: Reason = { why: "native code, which cannot be confined here", use: "the context" };

function table(...rows: readonly (readonly [Reason, string])[]): ReadonlyMap<string, Reason> {
  return new Map(rows.flatMap(([reason, names]) => names.split(" ").map((name): [string, Reason] => [name, reason])));
}

/** Modules of Node, without `node:`. */
const MODULES: ReadonlyMap<string, Reason> = table(
  [FILES, "fs fs/promises"],
  [NETWORK, "net tls dgram dns dns/promises http https http2 _http_client _tls_wrap"],
  [PROCESS, "child_process cluster worker_threads"],
  [CODE, "vm repl wasi"],
  [LOADER, "module inspector inspector/promises process"],
  [MACHINE, "os v8 trace_events perf_hooks diagnostics_channel async_hooks"],
  [STORE, "sqlite"],
);

/** Packages that are nothing but another way to the same. */
const PACKAGES: ReadonlyMap<string, Reason> = table(
  [NETWORK, "undici axios got node-fetch node-fetch-native cross-fetch isomorphic-fetch ky needle request superagent"],
  [NETWORK, "phin ofetch ws socket.io-client ssh2 nodemailer puppeteer playwright playwright-core puppeteer-core"],
  [FILES, "fs-extra graceful-fs rimraf chokidar glob fast-glob globby memfs"],
  [PROCESS, "execa cross-spawn shelljs zx node-pty tinyexec nano-spawn"],
  [SECRETS, "dotenv dotenv-flow env-var envalid keytar"],
  [STORE, "better-sqlite3 pg mysql2 mongodb ioredis redis"],
  [CODE, "vm2 isolated-vm esm import-fresh require-from-string jiti"],
  [MACHINE, "bindings node-gyp-build ffi-napi koffi"],
);

/** Names that are there without being imported. */
export const GLOBALS: ReadonlyMap<string, Reason> = table(
  [NETWORK, "fetch WebSocket WebSocketStream XMLHttpRequest EventSource WebTransport"],
  [CODE, "eval Function WebAssembly ShadowRealm"],
  [PROCESS, "Worker SharedWorker importScripts"],
  [MACHINE, "Deno Bun"],
  [STORE, "localStorage sessionStorage indexedDB caches"],
);

export const GLOBAL_OBJECTS: ReadonlySet<string> = new Set(["globalThis", "global", "window", "self"]);

export const PROCESS_MEMBERS: ReadonlyMap<string, Reason> = table(
  [SECRETS, "env"],
  [LOADER, "binding _linkedBinding dlopen getBuiltinModule mainModule moduleLoadList"],
  [MACHINE, "kill abort exit reallyExit chdir umask setuid setgid seteuid setegid setgroups initgroups report execve"],
  [MACHINE, "loadEnvFile"],
);

export function ambientModule(name: string): Reason | null {
  const isNode = name.startsWith("node:");
  const known = MODULES.get(isNode ? name.slice(5) : name);
  if (known !== undefined) return known;
  if (isNode) return null;
  if (/^(?:data|http|https|blob):/i.test(name)) return CODE;
  if (name.endsWith(".node")) return NATIVE;
  const whole = name.startsWith("@") ? name.split("/").slice(0, 2).join("/") : (name.split("/")[0] ?? "");
  return PACKAGES.get(whole) ?? null;
}
