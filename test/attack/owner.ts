// An owner of sandboxes: runs the given commands one after another, and reports for each how it ended and what it wrote. A root
// that is written directly keeps its sandbox warm; a draft gets a new one for each. One JSON object per line, both ways.
import { createInterface } from "node:readline";
import { DraftFolders } from "../../src/sandbox/drafts/draft-folders.ts";
import { detectSandbox } from "../../src/sandbox/linux/detect-sandbox.ts";
import { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import type { Plan } from "../../src/sandbox/plan/plan.ts";
import { DEFAULT_LIMITS } from "../../src/sandbox/plan/plan-facts.ts";
import { environmentOf } from "../../src/sandbox/plan/start/environment.ts";

const [root = "", native = "", state = "", mode = "draft"] = process.argv.slice(2);
const detected = detectSandbox({ native, install: () => "" });
if (!detected.ok) throw new Error(detected.refused.message);
const sandboxes = new LinuxSandboxes({
  environment: detected.environment,
  groups: null,
  broker: null,
  drafts: new DraftFolders(state),
});
const segments = root.split("/").filter((name) => name !== "");
const bare: Omit<Plan, "environment"> = {
  root: { path: segments, mode: mode === "direct" ? "direct" : "draft" },
  runtime: [],
  masked: [],
  directory: segments,
  network: null,
  limits: DEFAULT_LIMITS,
};
const host = { user: "user", terminal: null, language: null, timeZone: null, allowed: [] };
const plan: Plan = { ...bare, environment: environmentOf(bare, host) };
const owner = { agent: "attack", session: "attack", generation: 1 };

void serve();

async function serve(): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const argv = JSON.parse(line) as [string, ...string[]];
    const parts: Uint8Array[] = [];
    const keep = (bytes: Uint8Array): void => {
      parts.push(bytes.slice());
    };
    const result = await sandboxes.run(
      owner,
      plan,
      { argv, input: null },
      { output: keep, errors: keep },
      () => ({ outcome: "deny", code: "scope_violation", at: null }),
      null,
    );
    const output = Buffer.concat(parts).toString("utf8");
    process.stdout.write(`${JSON.stringify({ ending: result.ok ? result.ran.ending : result.refused, output })}\n`);
  }
  await sandboxes.end(null);
}
