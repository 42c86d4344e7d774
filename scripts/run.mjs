// `npm run vectors|corpora|bench`: bundles a runner written in TypeScript and runs it with the arguments given.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setUp } from "./house/house.mjs";
import { root, say } from "./house/root.mjs";

const runners = {
  vectors: "test/vectors/main.ts",
  corpora: "test/corpora/main.ts",
  bench: "bench/main.ts",
};

const [name, ...rest] = process.argv.slice(2);
process.exitCode = await main();

async function main() {
  const entry = Object.hasOwn(runners, name ?? "") ? runners[name] : undefined;
  if (entry === undefined) {
    say(`usage: node scripts/run.mjs ${Object.keys(runners).join("|")} [arguments]`);
    return 2;
  }
  if (!existsSync(join(root, entry))) {
    say(`the ${name} runner is not written yet: there is no ${entry}`);
    return 1;
  }
  const status = await setUp();
  if (status !== 0) return status;
  const program = await bundle(entry);
  return program === undefined ? 1 : start(program);
}

async function bundle(entry) {
  const { build } = await import("esbuild");
  const folder = join(root, "dist", "dev");
  const program = join(folder, `${name}.mjs`);
  const draft = join(folder, `${name}-${process.pid}.mjs`);
  mkdirSync(folder, { recursive: true });
  try {
    await build({
      absWorkingDir: root,
      entryPoints: [entry],
      outfile: draft,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      packages: "external",
      sourcemap: "inline",
      logLevel: "error",
    });
  } catch {
    // esbuild has already printed what is wrong.
    return undefined;
  }
  renameSync(draft, program);
  return program;
}

function start(program) {
  const child = spawn(process.execPath, ["--enable-source-maps", program, ...rest], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.on("error", (problem) => {
      say(problem.message);
      resolve(1);
    });
    child.on("close", (status, signal) => resolve(status ?? (signal === "SIGINT" ? 130 : 143)));
  });
}
