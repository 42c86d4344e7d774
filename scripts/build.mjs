// `npm run build`: builds dist from the sources, whether or not they changed.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { alone } from "./house/lock.mjs";
import { prepareNative } from "./house/native.mjs";
import { buildProgram } from "./house/program.mjs";
import { root, say } from "./house/root.mjs";

if (existsSync(join(root, "node_modules", "typescript"))) {
  try {
    await alone(buildProgram);
    await prepareNative();
  } catch (problem) {
    say(problem.message);
    process.exitCode = 1;
  }
} else {
  say("packages are not installed yet; install and build with: node scripts/setup.mjs");
  process.exitCode = 1;
}
