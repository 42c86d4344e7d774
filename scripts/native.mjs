// `npm run fuzz:native`, and for tests: builds a variant of the native program and says where it is, or runs the fuzz
// target. `node scripts/native.mjs program|sanitized|fuzz-path` prints a path; `fuzz [--seconds N] [--seed N]` runs it.
import { spawn } from "node:child_process";
import { buildFuzz, buildNative, buildSanitized } from "./house/native.mjs";
import { say } from "./house/root.mjs";

const builds = { program: buildNative, sanitized: buildSanitized, "fuzz-path": buildFuzz, fuzz: buildFuzz };
const [word, ...rest] = process.argv.slice(2);
process.exitCode = await main();

async function main() {
  if (!Object.hasOwn(builds, word ?? "")) {
    say(`usage: node scripts/native.mjs ${Object.keys(builds).join("|")} [--seconds N]`);
    return 2;
  }
  try {
    const path = await builds[word]();
    if (path === undefined) {
      say("no C compiler (cc, gcc or clang) is installed");
      return 1;
    }
    if (word === "fuzz") return await start(path);
    process.stdout.write(`${path}\n`);
    return 0;
  } catch (problem) {
    say(problem.message);
    return 1;
  }
}

function start(path) {
  const child = spawn(path, rest, { stdio: "inherit" });
  return new Promise((resolve) => {
    child.on("error", () => resolve(1));
    child.on("close", (status) => resolve(status ?? 1));
  });
}
