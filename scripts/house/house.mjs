// All of setup: checks first without a lock, and only takes it if there is something to do.
import { alone } from "./lock.mjs";
import { installPackages, packagesMissing } from "./packages.mjs";
import { buildProgram, programMissing } from "./program.mjs";
import { say } from "./root.mjs";
import { bubblewrap, install, isMissing } from "./system-package.mjs";

/** Returns an exit status. Prints nothing if there was nothing to do. */
export async function setUp() {
  try {
    if (packagesMissing() || programMissing()) await alone(prepare);
  } catch (problem) {
    say(problem.message);
    return 1;
  }
  await setUpProgram(bubblewrap);
  return 0;
}

/** Not a reason to fail, nor is a read-only checkout: package managers have locks of their own. */
export async function setUpProgram(wanted) {
  if (!isMissing(wanted)) return;
  await alone(async () => {
    if (isMissing(wanted)) await install(wanted);
  }).catch(() => install(wanted));
}

// Everything is checked again under the lock: its previous holder may have done it all.

async function prepare() {
  if (packagesMissing()) await installPackages();
  if (programMissing()) {
    say("building");
    await buildProgram();
  }
}
