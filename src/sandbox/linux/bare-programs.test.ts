import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CompletedRun } from "../../core/ports/process.ts";
import type { Plan } from "../plan/plan.ts";
import { DEFAULT_LIMITS } from "../plan/plan-facts.ts";
import { barePrograms } from "./bare-programs.ts";

let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ambit-bare-test-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function planOf(limits: Partial<Plan["limits"]> = {}): Plan {
  const path = folder.split("/").filter((name) => name !== "");
  return {
    root: { path, mode: "draft" },
    runtime: [],
    masked: [],
    directory: path,
    environment: [["PATH", "/usr/bin:/bin"]],
    network: null,
    limits: { ...DEFAULT_LIMITS, ...limits },
  };
}

async function run(
  script: string,
  limits: Partial<Plan["limits"]> = {},
): Promise<{ ran: CompletedRun; output: string }> {
  const plan = planOf(limits);
  let output = "";
  const sinks = {
    output: (bytes: Uint8Array) => {
      output += Buffer.from(bytes).toString();
    },
    errors: () => undefined,
  };
  const owner = { agent: "a", session: "s", generation: 0 };
  const input = (async function* () {
    yield Buffer.from("given");
  })();
  const undecided = (): never => {
    throw new Error("no decision is requested");
  };
  const result = await barePrograms().run(
    owner,
    plan,
    { argv: ["/bin/sh", "-c", script], input },
    sinks,
    undecided,
    null,
  );
  if (!result.ok) throw new Error(result.refused.message);
  return { ran: result.ran, output };
}

test("it runs where it was told, and every axis says that it was not enforced", async () => {
  const { ran, output } = await run("pwd; cat; echo; env | grep -c .; exit 3");
  expect(ran.ending).toEqual({ kind: "exited", status: 3 });
  expect(output).toMatch(new RegExp(`^${folder}\ngiven\n[3-6]\n$`));
  expect(ran.enforcement.filter(({ strength }) => strength === "none").map(({ axis }) => axis)).toEqual([
    "root",
    "mode",
    "host",
    "port",
    "raw",
  ]);
});

test("a throw-away sandbox is refused: nothing could keep the machine out of it", async () => {
  const plan: Plan = { ...planOf(), root: null };
  const sinks = { output: () => undefined, errors: () => undefined };
  const asked = [{ agent: "a", session: "s", generation: 0 }, plan, { argv: ["true"], input: null }] as const;
  const result = await barePrograms().run(
    ...asked,
    sinks,
    () => ({ outcome: "deny", code: "expired", at: null }),
    null,
  );
  expect(result).toMatchObject({ ok: false, refused: { code: "sandbox_unavailable" } });
});

test("its home is private and removed afterwards", async () => {
  const { output } = await run("touch $HOME/a; printf %s $HOME");
  expect(output).toMatch(/ambit-bare-/);
  expect(existsSync(output)).toBe(false);
});

test.each([
  ["time", "sleep 600 & sleep 600", { wallMilliseconds: 300 }],
  ["output", "yes", { outputBytes: 10_000 }],
] as const)("it ends for %s, with its children", async (because, script, limits) => {
  const { ran, output } = await run(script, limits);
  expect(ran.ending).toEqual({ kind: "ended", because });
  expect(output.length).toBeLessThanOrEqual(10_000);
});

test("a signal and a missing program are reported as such", async () => {
  expect((await run("kill -9 $$")).ran.ending).toEqual({ kind: "signalled", signal: 9 });
  rmSync(folder, { recursive: true });
  expect((await run("true")).ran.ending.kind).toBe("unstarted");
});
