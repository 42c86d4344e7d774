// The whole of setup: looks first without a lock, and only takes it when there is something to do.
import { alone } from "./lock.mjs";
import { installPackages, packagesMissing } from "./packages.mjs";
import { buildProgram, programMissing } from "./program.mjs";
import { say } from "./root.mjs";
import { bubblewrap, install, isMissing } from "./system-package.mjs";

/** Returns an exit status. Says nothing when there was nothing to do. */
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

/** Not a reason to fail, nor is a checkout we may not write to: package managers have locks of their own. */
export async function setUpProgram(wanted) {
  if (!isMissing(wanted)) return;
  await alone(async () => {
    if (isMissing(wanted)) await install(wanted);
  }).catch(() => install(wanted));
}

// Everything looks again under the lock: whoever held it before us may have done it all.

async function prepare() {
  if (packagesMissing()) await installPackages();
  if (programMissing()) {
    say("building");
    await buildProgram();
  }
}
