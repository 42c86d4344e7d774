// `npm run check`: every automatic check of the sources, one line per check. `--json` for programs.
import { join } from "node:path";
import { run } from "./house/child.mjs";
import { root } from "./house/root.mjs";

/** As many at once as the smallest machine we support has cores. The slowest come first. */
const atOnceMax = 2;

const checks = [
  { name: "types, all", argv: ["typescript/bin/tsc", "-p", "tsconfig.json"] },
  { name: "tidy", argv: ["vitest/vitest.mjs", "run", "test/tidy"] },
  { name: "types, pure", argv: ["typescript/bin/tsc", "-p", "tsconfig.pure.json"] },
  { name: "knip", argv: ["knip/bin/knip.js", "--no-progress", "--no-config-hints"] },
  { name: "biome", argv: ["@biomejs/biome/bin/biome", "check", "--error-on-warnings", "--colors=off"] },
  { name: "publint", argv: ["publint/src/cli.js", "run", "--strict"] },
];

const json = process.argv.includes("--json");
const results = await inLanes(checks, atOnceMax, perform);

if (json) {
  const rows = results.map(({ name, ok, seconds }) => ({ name, ok, seconds }));
  process.stdout.write(`${JSON.stringify({ checks: rows })}\n`);
}
process.exitCode = results.every((result) => result.ok) ? 0 : 1;

async function perform({ name, argv: [program, ...rest] }) {
  const started = performance.now();
  const path = join(root, "node_modules", program);
  const { ok, output } = await run([process.execPath, path, ...rest], { env: { NO_COLOR: "1", FORCE_COLOR: "0" } });
  const seconds = Math.round((performance.now() - started) / 10) / 100;
  if (!json) report({ name, ok, seconds, output });
  return { name, ok, seconds };
}

function report({ name, ok, seconds, output }) {
  process.stdout.write(`${ok ? "ok    " : "FAILED"} ${name.padEnd(12)} ${seconds.toFixed(2).padStart(6)} s\n`);
  if (!ok) process.stdout.write(`${output.trimEnd().replace(/^/gm, "       ")}\n`);
}

/** Does the work for each item, with limited concurrency; the results keep the order of the items. */
async function inLanes(items, lanes, work) {
  const done = [];
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const at = next++;
      done[at] = await work(items[at]);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return done;
}
