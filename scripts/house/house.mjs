// The whole of setup: looks first without a lock, and only takes it when there is something to do.
import { bubblewrapMissing, installBubblewrap } from "./bubblewrap.mjs";
import { alone } from "./lock.mjs";
import { installPackages, packagesMissing } from "./packages.mjs";
import { buildProgram, programMissing } from "./program.mjs";
import { say } from "./root.mjs";

/** Returns an exit status. Says nothing when there was nothing to do. */
export async function setUp() {
  try {
    if (packagesMissing() || programMissing()) await alone(prepare);
  } catch (problem) {
    say(problem.message);
    return 1;
  }
  if (bubblewrapMissing()) {
    // Not a reason to fail, nor is a checkout we may not write to: package managers have locks of their own.
    await alone(prepareSandbox).catch(installBubblewrap);
  }
  return 0;
}

// Both look again under the lock: whoever held it before us may have done it all.

async function prepare() {
  if (packagesMissing()) await installPackages();
  if (programMissing()) {
    say("building");
    await buildProgram();
  }
}

async function prepareSandbox() {
  if (bubblewrapMissing()) await installBubblewrap();
}
