// The command line, twice: the whole program, and a short one that answers a plain `can`. Each is one file of CommonJS in
// a function, so that the starter in bin can hand V8 its cache of it.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./child.mjs";
import { lateModules } from "./late-modules.mjs";
import { mcpProgram, rehearsedLines } from "./mcp-program.mjs";
import { root } from "./root.mjs";
import { shortProgram } from "./short-program.mjs";

/** Returns the digests the starter knows them by. A further program is one more call, with its entry and its name. */
export async function buildCommandLine(folder) {
  const esbuild = await import("esbuild");
  const { default: ts } = await import("typescript");
  return Promise.all([
    buildFile(esbuild, "start", lateModules(esbuild, ts), join(folder, "ambit.cjs")),
    buildFile(esbuild, "answer", shortProgram, join(folder, "can.cjs")),
    buildFile(esbuild, "start", mcpProgram, join(folder, "mcp.cjs"), "./src/compose/mcp-main.ts"),
  ]);
}

/** `name` is what the starter calls; what only others need is left out. */
async function buildFile(esbuild, name, plugin, file, entry = "./src/cli/main.ts") {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    stdin: { contents: `export { ${name} } from ${JSON.stringify(entry)};`, resolveDir: root },
    write: false,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    // A package's module form first: an old-style wrapper hides its imports from the bundler.
    mainFields: ["module", "main"],
    minify: true,
    charset: "ascii",
    // A script has no loader of its own: what is imported late is asked for with `require`, and nothing has a URL.
    supported: { "dynamic-import": false },
    logOverride: { "empty-import-meta": "error" },
    plugins: [plugin],
    logLevel: "error",
  });
  const text = `(function(exports,require,module,__filename,__dirname,absent){${outputFiles[0].text}\n})`;
  // The starter reads one byte as one character, and the digest at its place.
  if (/[^\0-\x7f]/.test(text)) throw new Error(`${file} is not ASCII`);
  const digest = createHash("sha256").update(text).digest("hex");
  writeFileSync(file, `/*${digest}*/${text}\n`);
  return digest;
}

/** The example counts once it is trusted. Then requests that are allowed, that ask, and that are denied; then the rest. */
const rehearsals = [
  ["trust", "--yes"],
  ["can", "scout", "net.get", "https://api.github.com/repos"],
  ["can", "scout", "net.post", "https://api.github.com/repos"],
  ["can", "scout", "fs.read", "../a.txt"],
  ["can", "scout", "proc.exec", "--json", "--", "git", "push"],
  ["--version"],
  ["agents", "list"],
];

/** Runs the built programs until their caches are there. Never a reason to fail: without it the program starts slower. */
export async function rehearse(digests) {
  // Nobody's own configuration is read, and nobody's state is written.
  const user = mkdtempSync(join(tmpdir(), "ambit-build-"));
  const env = { AMBIT_REHEARSAL: digests.join(), NODE_OPTIONS: "", XDG_CONFIG_HOME: user, XDG_STATE_HOME: user };
  try {
    for (const words of rehearsals) {
      const cwd = join(root, "examples", "workspace");
      await run([process.execPath, join(root, "bin", "ambit"), ...words], { cwd, env });
    }
    const server = [process.execPath, join(root, "bin", "ambit"), "mcp", "serve", "--agent", "scout"];
    for (const input of rehearsedLines) await run(server, { cwd: user, env, input });
  } finally {
    rmSync(user, { recursive: true, force: true });
  }
}
