// An owner of a sandbox without namespaces, to be killed: runs one script and says when it starts it.
import { DraftFolders } from "../../src/sandbox/drafts/draft-folders.ts";
import { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import { systemFacts } from "../../src/sandbox/linux/system-facts.ts";
import { DEFAULT_LIMITS } from "../../src/sandbox/plan/plan-facts.ts";

const [folder = "", native = "", script = ""] = process.argv.slice(2);
const system = systemFacts(native);
if (system === null) throw new Error("no filter for this architecture");
const sandboxes = new LinuxSandboxes({
  environment: { system, backend: { kind: "supervised", because: "chosen by a test" } },
  groups: null,
  broker: null,
  drafts: new DraftFolders(`${folder}-state`),
});
const path = folder.split("/").filter((name) => name !== "");
process.stdout.write("starts\n");
void sandboxes.run(
  { agent: "agent", session: "session", generation: 1 },
  {
    ...{ root: { path, mode: "direct" }, runtime: [], masked: [], directory: path, network: null },
    environment: [["PATH", "/usr/bin:/bin"]],
    limits: DEFAULT_LIMITS,
  },
  { argv: ["/bin/sh", "-c", script], input: null },
  { output: () => {}, errors: () => {} },
  () => ({ outcome: "deny", code: "not_available", at: null }),
  null,
);
