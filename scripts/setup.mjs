// Makes a fresh checkout ready, and does nothing when it is: packages, the built program, bubblewrap, the native
// program.
// Plain Node without dependencies, since it runs before there are any. Everything it says goes to stderr.

const nodeMin = [20, 19, 0];

if (tooOld(process.versions.node)) {
  process.stderr.write(
    `ambit: needs Node ${nodeMin.join(".")} or newer, and this is ${process.versions.node}; please install a newer Node and run this again\n`,
  );
  process.exit(1);
}

// Imported only now, so that an old Node gets the message above and not a syntax error.
const { setUp } = await import("./house/house.mjs");
const { prepareNative } = await import("./house/native.mjs");
process.exitCode = await setUp();
// After it, since a new dist takes the place of the old one with everything in it.
if (process.exitCode === 0) await prepareNative();

function tooOld(version) {
  const parts = version.split(".").map(Number);
  const at = nodeMin.findIndex((least, index) => parts[index] !== least);
  return at !== -1 && parts[at] < nodeMin[at];
}
