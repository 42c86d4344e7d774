// Makes a fresh checkout ready, and does nothing when it is: packages, the built program, bubblewrap, the native
// program; for the tests also strace.
// Plain Node without dependencies, since it runs before there are any. Everything it says goes to stderr.

const nodeMin = [20, 19, 0];

if (tooOld(process.versions.node)) {
  process.stderr.write(
    `ambit: needs Node ${nodeMin.join(".")} or newer, and this is ${process.versions.node}; please install a newer Node and run this again\n`,
  );
  process.exit(1);
}

// Imported only now, so that an old Node gets the message above and not a syntax error.
const { setUp, setUpProgram } = await import("./house/house.mjs");
const { strace } = await import("./house/system-package.mjs");
const { prepareNative } = await import("./house/native.mjs");
process.exitCode = await setUp();
// After it, since a new dist takes the place of the old one with everything in it.
if (process.exitCode === 0) await prepareNative();
if (process.exitCode === 0 && isForTests()) await setUpProgram(strace);

/** Only the tests need it, and only whoever runs them is asked to have it. */
function isForTests() {
  return ["pretest", "pretest:long"].includes(process.env.npm_lifecycle_event ?? "");
}

function tooOld(version) {
  const parts = version.split(".").map(Number);
  const at = nodeMin.findIndex((least, index) => parts[index] !== least);
  return at !== -1 && parts[at] < nodeMin[at];
}
