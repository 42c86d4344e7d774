// Landlock handles every right the kernel knows and grants no more than the plan.
import { describe, expect, test } from "vitest";
import type { Plan } from "../plan.ts";
import { at, PLAN, SYSTEM } from "../testing/plan.ts";
import { handledAll, handledRights, landlockRules } from "./landlock.ts";

const WRITES = 0x5ff2n;
const EXECUTE = 1n;

function rightsAt(plan: Plan, path: string, version = 7): bigint {
  const rules = landlockRules(plan, SYSTEM, version)?.rules ?? [];
  return rules.filter((rule) => `/${rule.path.join("/")}` === path).reduce((all, { rights }) => all | rights, 0n);
}

test.each([
  [1, 0x1fffn, 0n, 0n],
  [2, 0x3fffn, 0n, 0n],
  [3, 0x7fffn, 0n, 0n],
  [4, 0x7fffn, 3n, 0n],
  [5, 0xffffn, 3n, 0n],
  [6, 0xffffn, 3n, 3n],
  [7, 0xffffn, 3n, 3n],
  [9, 0xffffn, 3n, 3n],
])("version %i: every right it has", (version, files, network, scopes) => {
  expect(handledAll(version)).toEqual({ files, network, scopes });
  expect(handledRights(version)).toEqual({ files, network: 0n, scopes });
});

test("no Landlock, no rules", () => {
  expect(landlockRules(PLAN, SYSTEM, 0)).toBeNull();
  expect(handledAll(0)).toBeNull();
});

describe("the rules", () => {
  test("allow reading, writing and ioctl on terminals if the plan has them, and not creating them", () => {
    const plan: Plan = { ...PLAN, hasTerminals: true };
    for (const path of ["/dev/pts", "/dev/tty"]) {
      expect(rightsAt(PLAN, path)).toBe(0n);
      expect(rightsAt(plan, path) & 0x8006n).toBe(0x8006n);
      expect(rightsAt(plan, path) & ~0x800en).toBe(0n);
    }
  });

  test.each([1, 2, 3, 4, 5, 6, 7])("of version %i name no right that is not handled", (version) => {
    const { handled, rules } = landlockRules(PLAN, SYSTEM, version) ?? { handled: { files: 0n }, rules: [] };
    expect(rules.length).toBeGreaterThan(5);
    for (const { rights } of rules) expect(rights & ~handled.files).toBe(0n);
  });

  test.each(["/", "/usr", "/lib64", "/etc", "/proc", "/run/ambit/ambit-native", "/home/u/.tools/node"])(
    "%s is never writable",
    (path) => {
      expect(rightsAt(PLAN, path)).not.toBe(0n);
      expect(rightsAt(PLAN, path) & WRITES).toBe(0n);
    },
  );

  test("the root is writable, without devices and sockets, and /tmp without devices", () => {
    expect(rightsAt(PLAN, "/home/u/work/ws") & WRITES).toBe(WRITES & ~(0x40n | 0x200n | 0x800n));
    expect(rightsAt(PLAN, "/tmp") & WRITES).toBe(WRITES & ~(0x40n | 0x800n));
  });

  test("a read-only root is not writable", () => {
    const read: Plan = { ...PLAN, root: { path: at("/home/u/work/ws"), mode: "ro" } };
    expect(rightsAt(read, "/home/u/work/ws")).toBe(0b1101n);
  });

  test("nothing is executed in /proc and /etc, and devices allow reading, writing and ioctl", () => {
    expect(rightsAt(PLAN, "/proc") & EXECUTE).toBe(0n);
    expect(rightsAt(PLAN, "/etc") & EXECUTE).toBe(0n);
    expect(rightsAt(PLAN, "/dev/null")).toBe(0x8006n);
    expect(rightsAt(PLAN, "/dev/null", 4)).toBe(0x6n);
  });
});
