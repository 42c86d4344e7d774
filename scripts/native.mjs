// `npm run fuzz:native`, and for tests: builds a variant of the native program and says where it is, or runs the fuzz
// target. `node scripts/native.mjs program|sanitized|fuzz-path` prints a path; `fuzz [--seconds N] [--seed N]` runs it;
// `package` builds it for every processor that the package is for, and fails if one is missing.
import { spawn } from "node:child_process";
import { architectures, buildFuzz, buildNative, buildSanitized, buildStatic } from "./house/native.mjs";
import { say } from "./house/root.mjs";

const buildPackage = async () => {
  const built = await Promise.all(architectures.map(buildStatic));
  const missing = architectures.filter((_, at) => built[at] === undefined);
  if (missing.length > 0)
    throw new Error(`no C compiler for ${missing.join(", ")} is installed (Debian: gcc-aarch64-linux-gnu)`);
  return built.join("\n");
};
const builds = {
  package: buildPackage,
  program: buildNative,
  sanitized: buildSanitized,
  "fuzz-path": buildFuzz,
  fuzz: buildFuzz,
};
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
