// `npm run test:clients`, `test:installs` and `test:engines`: tests that need programs of others. The first two have the programs as a
// package of their own beside the tests, installed on the first run and never by anything else; the third uses those of the system, and
// the clients of the first.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, stopAll } from "./house/child.mjs";
import { stampAt } from "./house/digest.mjs";
import { root, say } from "./house/root.mjs";

/** Over any network connection. */
const installMillisecondsMax = 1_800_000;
const testMillisecondsMax = 5_400_000;

/** The folder below `test` that packages are installed into, what they are, and their size. */
const PACKAGES = {
  clients: { into: "clients", what: "the clients, about 1.8 gigabytes" },
  installs: { into: "installs", what: "Node versions and pnpm, about 400 megabytes" },
  engines: { into: "clients", what: "the clients that run in containers, about 1.8 gigabytes" },
};

/** Programs of the system, each with its Debian package. */
const SYSTEM = {
  engines: { debootstrap: "debootstrap", dockerd: "docker.io", podman: "podman", runc: "runc" },
};

const [name = "", ...words] = process.argv.slice(2);
const names = Object.keys(PACKAGES);
if (!names.includes(name)) {
  process.stderr.write(`usage: node scripts/extra-tests.mjs ${names.join("|")} [options of vitest]\n`);
  process.exit(2);
}
const { into, what } = PACKAGES[name];
const folder = join(root, "test", into);
const stamp = join(folder, "node_modules", ".ambit-stamp");
process.exitCode = await main();

async function main() {
  if (Object.hasOwn(SYSTEM, name) && isMissing(SYSTEM[name])) return 1;
  const digest = packageDigest();
  if (stampAt(stamp) !== digest) {
    say(`installing into test/${into}: ${what} (npm ci)`);
    const { ok, output } = await installed();
    if (!ok) {
      say(`the packages of test/${into} could not be installed:\n${output}`);
      return 1;
    }
    // Written last, so that an interrupted install is repeated.
    writeFileSync(stamp, `${digest}\n`);
  }
  return tested();
}

/** Says what is missing, and the command that installs it. */
function isMissing(programs) {
  if (process.getuid?.() !== 0) {
    say(`npm run test:${name} needs root: sudo npm run test:${name}`);
    return true;
  }
  const folders = `${process.env.PATH}:/usr/sbin:/sbin`.split(":");
  const missing = Object.keys(programs).filter((one) => !folders.some((folder) => existsSync(join(folder, one))));
  const packages = missing.map((one) => programs[one]).join(" ");
  if (missing.length > 0)
    say(`${missing.join(", ")} not found: sudo apt-get install --no-install-recommends ${packages}`);
  return missing.length > 0;
}

function installed() {
  const stop = (signal) => void stopAll(signal).then(() => process.exit(1));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);
  // They bring the Node they need. Set here as well as in their .npmrc: an npm that started us passes its own settings on.
  const settings = ["--no-engine-strict", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  return run(["npm", "ci", "--prefix", folder, "--prefer-offline", ...settings], {
    cwd: folder,
    millisecondsMax: installMillisecondsMax,
  }).finally(() => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, stop);
  });
}

function tested() {
  const program = join(root, "node_modules", "vitest", "vitest.mjs");
  // Tests that are named run instead of all.
  const which = words.some((word) => word.endsWith(".test.ts")) ? words : [`test/${name}/`, ...words];
  const command = [process.execPath, program, "run", ...which];
  // An installation asks the registry; everything else stays on this machine.
  const [first, ...rest] = name === "clients" ? inLoopback(command) : command;
  const child = spawn(first, rest, {
    cwd: root,
    // The configuration of the tests takes the certificates out of their environment; a registry may need them.
    env: {
      ...process.env,
      AMBIT_EXTRA_TESTS: name,
      AMBIT_REGISTRY_CERTIFICATES: process.env.NODE_EXTRA_CA_CERTS ?? "",
    },
    stdio: "inherit",
    timeout: testMillisecondsMax,
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.on("error", (problem) => {
      say(problem.message);
      resolve(1);
    });
    child.on("close", (status) => resolve(status ?? 1));
  });
}

/**
 * INVARIANT: neither a client nor a daemon of these tests can reach anything but the servers that the tests start. A user who
 * is not root becomes root in there, to be allowed to bring loopback up.
 */
function inLoopback(words) {
  const mapping = process.getuid?.() === 0 ? [] : ["--map-root-user"];
  return ["unshare", ...mapping, "--net", "/bin/sh", "-c", 'ip link set lo up && exec "$@"', "sh", ...words];
}

/** Some of them contain native code, so a checkout used from another machine needs its own. */
function packageDigest() {
  const sum = createHash("sha256").update(`${process.platform} ${process.arch}\0`);
  for (const file of ["package.json", "package-lock.json", ".npmrc"])
    sum.update(readFileSync(join(folder, file))).update("\0");
  return sum.digest("hex");
}
