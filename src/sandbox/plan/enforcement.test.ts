// The report states what was enforced, and no more: by the kernel, by the broker, or not at all.
import { describe, expect, test } from "vitest";
import { enforcementOf } from "./enforcement.ts";
import type { Ready } from "./start/answers.ts";
import { NETWORK, PLAN } from "./testing/plan.ts";

const DRAFT = "changes are a draft until they land";

const READY: Ready = {
  landlock: true,
  seccomp: true,
  network: "none",
  memfdHeld: true,
  startNanoseconds: 1n,
  pins: [],
};

function report(plan = PLAN, ready: Partial<Ready> = {}): Record<string, readonly [string, string | null]> {
  const lines = enforcementOf(plan, { kind: "sandbox", ready: { ...READY, ...ready } });
  return Object.fromEntries(lines.map(({ axis, strength, note }) => [axis, [strength, note]]));
}

describe("in a sandbox", () => {
  test("the kernel enforces the root and its mode, the arguments were checked, and there is no network", () => {
    const none = ["kernel", "there is no network in the sandbox"];
    expect(report()).toEqual({
      root: ["kernel", DRAFT],
      mode: ["kernel", DRAFT],
      argv: ["checked", "a program may start others inside the sandbox"],
      host: none,
      port: none,
      raw: none,
    });
  });

  test("only a draft is reported as one", () => {
    for (const mode of ["ro", "direct"] as const)
      expect(report({ ...PLAN, root: { path: ["w"], mode } })["root"]).toEqual(["kernel", null]);
  });

  test("the broker enforces the network if there is one", () => {
    const plan = { ...PLAN, network: NETWORK };
    expect(report(plan, { network: "transparent" })["host"]).toEqual(["broker", null]);
    expect(report(plan, { network: "ports" })["port"]).toEqual([
      "broker",
      "the kernel refuses connections to ports without a grant, and they are not reported",
    ]);
  });

  test("reduced enforcement is reported", () => {
    expect(report(PLAN, { landlock: false })["root"]?.[1]).toContain("no Landlock");
  });
});

test("without a sandbox nothing is enforced", () => {
  const lines = enforcementOf(PLAN, { kind: "bare" });
  expect(lines.filter(({ strength }) => strength !== "none").map(({ axis }) => axis)).toEqual(["argv"]);
  for (const { note } of lines) expect(note).toContain("without a sandbox");
});
