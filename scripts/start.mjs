// `npm start`: shows ambit at work.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./house/root.mjs";

const tour = join(root, "examples", "tour.mjs");

if (existsSync(tour)) {
  const run = spawnSync(process.execPath, [tour, ...process.argv.slice(2)], { stdio: "inherit", cwd: root });
  process.exitCode = run.status ?? 1;
} else {
  process.stderr.write("ambit: examples/tour.mjs is not written yet\n");
  process.exitCode = 1;
}
