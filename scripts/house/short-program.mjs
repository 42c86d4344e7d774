// What the short program holds: all that a plain `can` about a record needs, in one scope, and stand-ins for the rest.
// A module that is absent here has only to be called for the starter to hand the command to the whole program.
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { root } from "./root.mjs";

/** Called by other commands, or for agents that are not records. Wrong here is slow, never a different answer. */
const absent = new Set([
  "src/authority/within.ts",
  "src/cli/program.ts",
  "src/cli/prompts.ts",
  "src/compose/doctor.ts",
  "src/compose/first-steps.ts",
  "src/compose/records.ts",
  "src/compose/revision.ts",
  "src/compose/trusting-files.ts",
  "src/node/authority-files.ts",
  "src/notation/caveats.ts",
  "src/notation/declaration.ts",
  "src/notation/manifest.ts",
  "src/compose/programs.ts",
  "src/record/review.ts",
  "src/text/json.ts",
  "src/text/toml.ts",
  "src/text/yaml-library.ts",
]);
/** Slow to load or to evaluate, and seldom called. */
const late = new Set([
  "node:child_process",
  "node:crypto",
  "node:os",
  "node:tty",
  "node:url",
  "src/authority/special.ts",
]);

/** A plugin for esbuild. Functions have stand-ins; what else a module exports is taken from itself, if anything needs it. */
export const shortProgram = {
  name: "short-program",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:|\.ts$/ }, ({ path, resolveDir, namespace }) => {
      const isOurs = path.endsWith(".ts");
      const whole = isOurs ? resolve(resolveDir, path) : path;
      const name = isOurs ? relative(root, whole) : path;
      const isItself = namespace === "absent" || namespace === "late";
      // Nothing of ours does work when it is imported: what is not used is left out.
      if (!isItself && absent.has(name)) return { path: whole, namespace: "absent", sideEffects: false };
      if (!isItself && late.has(name)) return { path: whole, namespace: "late", sideEffects: false };
      return { path: whole, external: !isOurs, sideEffects: false };
    });
    // The package's module form: as it is packed for Node it is 70 small modules, evaluated one by one.
    onResolve({ filter: /^yaml$/ }, () => ({
      path: join(root, "node_modules", "yaml", "browser", "index.js"),
      sideEffects: false,
    }));
    onLoad({ filter: /.*/, namespace: "absent" }, ({ path }) =>
      standIns(path, (name) => `export function ${name}() { return absent(); }`),
    );
    onLoad({ filter: /.*/, namespace: "late" }, ({ path }) =>
      standIns(
        path,
        (name, from) => `export function ${name}(...words) { return require(${from}).${name}(...words); }`,
      ),
    );
  },
};

async function standIns(path, standIn) {
  const { functions, rest } = path.endsWith(".ts") ? exportsOf(path) : await exportsIn(path);
  const from = JSON.stringify(path);
  return {
    contents: [rest(from), ...functions.map((name) => standIn(name, from))].join("\n"),
    resolveDir: path.endsWith(".ts") ? dirname(path) : root,
  };
}

function exportsOf(path) {
  const found = readFileSync(path, "utf8").matchAll(/^export (?:async )?function (\w+)/gm);
  // A name of one's own goes before one that a star brings.
  return { functions: Array.from(found, ([, name]) => name), rest: (from) => `export * from ${from};` };
}

async function exportsIn(builtin) {
  const found = Object.entries(await import(builtin)).filter(([name]) => name !== "default");
  const isFunction = ([, value]) => typeof value === "function" && !/^class\b/.test(value);
  const names = (some) => some.map(([name]) => name);
  const others = names(found.filter((one) => !isFunction(one)));
  return {
    functions: names(found.filter(isFunction)),
    rest: (from) => `export { ${others.join(", ")} } from ${from};`,
  };
}
