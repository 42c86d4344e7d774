// A process that owns sandboxes and is about to be killed: starts some, prints that, and waits for its end.

import { ControlGroups } from "../../src/sandbox/linux/control-groups.ts";
import { groupFolders } from "../../src/sandbox/linux/group-folders.ts";
import { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import { DENY_ALL, draftsIn, OWNER, planFor, sandboxEnvironment } from "./fixture.ts";

const [folder = "", count = "1", limits = "single", then = "wait"] = process.argv.slice(2);
const sandboxes = new LinuxSandboxes({
  environment: sandboxEnvironment(),
  groups: limits === "groups" ? new ControlGroups(groupFolders()) : null,
  broker: null,
  drafts: draftsIn(folder),
});
const plan = planFor(folder, { masked: [[...folder.split("/").slice(1), ".env"]] });
const sinks = { output: (): void => say("running\n"), errors: (): void => {} };
let started = 0;
start();

/** One after the other, so that each is at a different stage when the end comes. */
function start(): void {
  const script = then === "wait" ? "echo running; sleep 600 & sleep 600" : "echo running";
  const argv = ["/bin/sh", "-c", script, folder] as const;
  void sandboxes.run(OWNER, plan, { argv: [...argv], input: null }, sinks, DENY_ALL, null);
  started++;
  if (started === 1) setImmediate(() => say("started\n"));
  if (started < Number(count)) setTimeout(start, 1);
}

function say(text: string): void {
  process.stdout.write(text);
}
