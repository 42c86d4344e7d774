// Prepares a fresh checkout, and does nothing if it is ready: packages, the built program, bubblewrap, the native program; for
// the tests also strace and tmux. Plain Node without dependencies, since it runs before there are any. Everything it prints goes
// to stderr.

/** As `engines` in package.json says: the minimum of each long-term line, and every version after the last. */
const linesMin = [
  [20, 19],
  [22, 13],
  [24, 0],
];

if (!suits(process.versions.node)) {
  process.stderr.write(
    `ambit: needs Node 20.19, 22.13, 24 or newer, and this is ${process.versions.node}; please install one of them and run this again\n`,
  );
  process.exit(1);
}

// Imported only now, so that an old Node gets the message above and not a syntax error.
const { setUp, setUpProgram } = await import("./house/house.mjs");
const { keychain, strace, tmux, triggerPrograms } = await import("./house/system-package.mjs");
const { prepareNative } = await import("./house/native.mjs");
process.exitCode = await setUp();
// After it, since a new dist replaces the old one with everything in it.
if (process.exitCode === 0) await prepareNative();
if (process.exitCode === 0 && isForTests()) for (const wanted of forTests()) await setUpProgram(wanted);

/** Only the tests need it, so only users who run the tests are asked to install it. */
function isForTests() {
  return ["pretest", "pretest:long"].includes(process.env.npm_lifecycle_event ?? "");
}

function forTests() {
  return process.env.CI ? [strace, tmux, ...keychain, ...triggerPrograms] : [strace, tmux];
}

function suits(version) {
  const [major, minor] = version.split(".").map(Number);
  const [newest] = linesMin[linesMin.length - 1];
  return major > newest || linesMin.some((least) => major === least[0] && minor >= least[1]);
}
