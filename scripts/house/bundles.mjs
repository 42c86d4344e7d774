// One bundle for each program, made by esbuild: a CommonJS file in dist that loads nothing of ours but itself.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.mjs";

/** The processes that the programs below start, and what they load on demand. */
const processes = [
  { name: "broker", entry: "src/sandbox/network/main.ts", options: {} },
  {
    name: "daemon",
    entry: "src/main/daemon-main.ts",
    options: {
      // Names are kept for the stack traces in the daemon's log. `keepNames` would define a property of every created function, a
      // dozen for each call.
      minifyIdentifiers: false,
      plugins: [withoutSchemaChecker("client"), besideUs("age-encryption", "./age.cjs")],
    },
  },
  // Only users who have a key of age load it.
  { name: "age", entry: "age-encryption", options: {} },
  // linkedom requires a canvas only to draw.
  { name: "page", entry: "src/tools/web/page-main.ts", options: { external: ["canvas"] } },
  { name: "tool-host", entry: "src/main/tool-host-main.ts", options: {} },
  { name: "trial", entry: "src/main/trial-main.ts", options: {} },
];

/** The programs that `bin/ambit` starts: each exports `start`. */
const started = [
  { name: "ambit", entry: "src/main/cli.ts", options: {} },
  { name: "lsp", entry: "src/main/lsp-main.ts", options: {} },
  { name: "mcp", entry: "src/main/mcp-main.ts", options: { plugins: [withoutSchemaChecker("server")] } },
];

/** What an application imports: modules with shared parts, because a warrant is known by the one module that makes it. */
const entryPoints = [
  "src/index.ts",
  "src/node-entry.ts",
  "src/adapters/ai-sdk.ts",
  "src/adapters/anthropic.ts",
  "src/adapters/openai-agents.ts",
  "src/cli/tools/eslint-plugin.ts",
];

/** Packages stay outside: npm installs them beside ours, and an application may have the same ones. */
export async function buildDoors(folder) {
  const { build } = await import("esbuild");
  await build({
    absWorkingDir: root,
    entryPoints,
    outdir: folder,
    outbase: "src",
    chunkNames: "shared/[hash]",
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "error",
  });
}

/**
 * Returns the folders of the packages in the bundles, below node_modules. `more` gives esbuild further options for a program; a
 * measurement adds its own calls to the sources.
 */
export async function buildBundles(folder, more = () => ({})) {
  const { build } = await import("esbuild");
  const packages = new Set();
  const bundle = async ({ name, entry, options }) => {
    const { plugins = [], ...added } = more(name);
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: [entry],
      outfile: join(folder, `${name}.cjs`),
      bundle: true,
      platform: "node",
      format: "cjs",
      target: "node20",
      // A package's module form first: the older form hides its imports from the bundler.
      mainFields: ["module", "main"],
      minifyWhitespace: true,
      minifySyntax: true,
      minifyIdentifiers: true,
      logLevel: "error",
      metafile: true,
      ...options,
      ...added,
      plugins: [...(options.plugins ?? []), ...plugins],
    });
    for (const output of Object.values(metafile.outputs))
      for (const [input, { bytesInOutput }] of Object.entries(output.inputs))
        if (bytesInOutput > 0)
          packages.add(/^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]);
  };
  await Promise.all([
    ...processes.map(bundle),
    ...started.map(async ({ name, entry, options }) => {
      // The starter runs the text as a script: `import()` becomes `require`, and a module has no URL.
      const asScript = { supported: { "dynamic-import": false }, logOverride: { "empty-import-meta": "error" } };
      await bundle({ name, entry, options: { ...options, ...asScript, charset: "ascii" } });
      wrap(join(folder, `${name}.cjs`));
    }),
  ]);
  return [...packages].filter((path) => path !== undefined);
}

/** Makes the bundle one function, with its digest in front: `bin/ambit` compares it with the digest in the code cache. */
function wrap(file) {
  const text = `(function(exports,require,module,__filename,__dirname){${readFileSync(file, "utf8")}\n})`;
  // The starter reads one byte as one character.
  if (/[^\0-\x7f]/.test(text)) throw new Error(`${file} is not ASCII`);
  writeFileSync(file, `/*${createHash("sha256").update(text).digest("hex")}*/${text}\n`);
}

/** The package is a bundle of its own, in the folder of the bundle that imports it. */
function besideUs(name, path) {
  return {
    name: "beside-us",
    setup({ onResolve }) {
      onResolve({ filter: new RegExp(`^${name}$`) }, ({ kind }) =>
        kind === "entry-point" ? undefined : { path, external: true },
      );
    },
  };
}

/** The MCP library loads a JSON Schema validator for messages that our server never sends, and our sign-ins never read. */
function withoutSchemaChecker(side) {
  const contents = `
export { default as process } from "node:process";
export const CORS_IS_POSSIBLE = false;
export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error("no schema is checked here");
  }
}`;
  return {
    name: "without-schema-checker",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: new RegExp(`^@modelcontextprotocol/${side}/_shims$`) }, ({ path }) => ({
        path,
        namespace: "shims",
      }));
      onLoad({ filter: /.*/, namespace: "shims" }, () => ({ contents }));
    },
  };
}
