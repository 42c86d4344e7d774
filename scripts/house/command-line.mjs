// The command line in one file: CommonJS in a function, so that the starter in bin can hand V8 its cache of it.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./child.mjs";
import { lateModules } from "./late-modules.mjs";
import { root } from "./root.mjs";

/** Returns the digest the starter knows it by. */
export async function buildCommandLine(folder) {
  const esbuild = await import("esbuild");
  const { default: ts } = await import("typescript");
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: ["src/cli/main.ts"],
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
    plugins: [lateModules(esbuild, ts)],
    logLevel: "error",
  });
  const text = `(function(exports,require,module,__filename,__dirname){${outputFiles[0].text}\n})`;
  // The starter reads one byte as one character, and the digest at its place.
  if (/[^\0-\x7f]/.test(text)) throw new Error("the bundle is not ASCII");
  const digest = createHash("sha256").update(text).digest("hex");
  writeFileSync(join(folder, "ambit.cjs"), `/*${digest}*/${text}\n`);
  return digest;
}

/** The example counts once it is trusted. Then one request that is allowed, one that asks, and two that are denied. */
const rehearsals = [
  ["trust", "--yes"],
  ["can", "scout", "net.get", "https://api.github.com/repos"],
  ["can", "scout", "net.post", "https://api.github.com/repos"],
  ["can", "scout", "fs.read", "../a.txt"],
  ["can", "scout", "proc.exec", "--json", "--", "git", "push"],
];

/** Runs the built program until its cache is there. Never a reason to fail: without it the program starts slower. */
export async function rehearse(digest) {
  // Nobody's own configuration is read, and nobody's state is written.
  const user = mkdtempSync(join(tmpdir(), "ambit-build-"));
  const env = { AMBIT_REHEARSAL: digest, NODE_OPTIONS: "", XDG_CONFIG_HOME: user, XDG_STATE_HOME: user };
  try {
    for (const words of rehearsals) {
      const cwd = join(root, "examples", "workspace");
      await run([process.execPath, join(root, "bin", "ambit"), ...words], { cwd, env });
    }
  } finally {
    rmSync(user, { recursive: true, force: true });
  }
}
