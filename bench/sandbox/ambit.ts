// Our own sandboxes as the product composes them, and a run in one that returns its output.
import { join } from "node:path";
import { nativeProgram } from "../../src/platform/native-program.ts";
import { DraftFolders } from "../../src/sandbox/drafts/draft-folders.ts";
import { ControlGroups } from "../../src/sandbox/linux/control-groups.ts";
import { detectSandbox, type SandboxEnvironment } from "../../src/sandbox/linux/detect-sandbox.ts";
import { groupFolders } from "../../src/sandbox/linux/group-folders.ts";
import { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import type { NetworkBroker } from "../../src/sandbox/linux/network.ts";
import type { SandboxOwner } from "../../src/sandbox/plan/sandboxes.ts";
import { rootFolder } from "../place.ts";
import type { BenchFixture, Planned } from "./fixture.ts";

export const OURS = "ambit";
const AGENT = "bench";

export function sandboxGround(): SandboxEnvironment {
  const native = nativeProgram(rootFolder);
  const detected = detectSandbox({ native, install: () => "install bubblewrap" });
  if (!detected.ok) throw new Error(`${detected.refused.message}: ${detected.refused.fix ?? ""}`);
  return detected.environment;
}

/** `grouped`: with control groups, if the kernel allows them, as the product does. */
export function sandboxesOn(
  ground: SandboxEnvironment,
  { folder }: BenchFixture,
  broker: NetworkBroker | null,
  grouped: boolean,
): LinuxSandboxes {
  const places = grouped ? groupFolders() : [];
  const groups = places.length === 0 ? null : new ControlGroups(places);
  return new LinuxSandboxes({ environment: ground, groups, broker, drafts: new DraftFolders(join(folder, "state")) });
}

let sessions = 0;

/** A new owner each time: it has no warm sandbox yet. */
export function newOwner(): SandboxOwner {
  const name = `${AGENT}-${++sessions}`;
  return { agent: name, session: name, generation: 0 };
}

/** Its output. Throws for anything but status 0. */
export async function runInside(
  sandboxes: LinuxSandboxes,
  owner: SandboxOwner,
  { plan, judge }: Planned,
  argv: readonly [string, ...string[]],
): Promise<string> {
  const said = { output: "", errors: "" };
  const sinks = {
    output: (bytes: Uint8Array) => {
      said.output += Buffer.from(bytes).toString("latin1");
    },
    errors: (bytes: Uint8Array) => {
      said.errors += Buffer.from(bytes).toString("latin1");
    },
  };
  const result = await sandboxes.run(owner, plan, { argv, input: null }, sinks, judge, null);
  if (!result.ok) throw new Error(`${argv.join(" ")}: ${result.refused.message}`);
  const { ending, denials } = result.ran;
  if (ending.kind === "exited" && ending.status === 0) return said.output;
  throw new Error(`${argv.join(" ")}: ${JSON.stringify(ending)} ${JSON.stringify(denials)} ${said.errors}`);
}
