// Set-up frames encode the plan, in the order of the protocol.
import { describe, expect, test } from "vitest";
import type { Plan } from "../plan.ts";
import { at, encode, NETWORK, PLAN, SYSTEM } from "../testing/plan.ts";
import { FrameCutter, PayloadReader } from "./frame.ts";
import { listedPorts, setupFrames } from "./setup.ts";

interface SetupFrame {
  readonly kind: string;
  readonly payload: Uint8Array;
}

function cut(frames: readonly Uint8Array[]): readonly SetupFrame[] {
  const cutter = new FrameCutter();
  return frames.flatMap((frame) => cutter.push(frame) ?? []);
}

function told(plan: Plan, landlock = 7, treeMemoryHeld = true, connects = true): readonly SetupFrame[] {
  return cut(setupFrames(plan, SYSTEM, { landlock, treeMemoryHeld, connects }, encode));
}

function text(bytes: Uint8Array | null): string {
  return String.fromCharCode(...(bytes ?? []));
}

const of = (frames: readonly SetupFrame[], kind: string): readonly SetupFrame[] =>
  frames.filter((frame) => frame.kind === kind);

describe("a sandbox", () => {
  test("gets its overlay, restrictions, limits and folders, and then the start frame", () => {
    const kinds = told(PLAN).map(({ kind }) => kind);
    expect(kinds.join("").replace(/(.)\1+/g, "$1")).toBe("VMHLSUDQG");
    expect(
      told({ ...PLAN, network: NETWORK })
        .map(({ kind }) => kind)
        .join(""),
    ).toMatch(/DDQNG$/);
  });

  test("gets its root and the masked names below it", () => {
    const overlay = (plan: Plan): readonly (readonly [number | undefined, string])[] =>
      of(told(plan), "V").map(({ payload }) => [payload[0], text(payload.subarray(1))]);
    const masks = (plan: Plan): readonly string[] => of(told(plan), "M").map(({ payload }) => text(payload));
    expect([overlay(PLAN), masks(PLAN)]).toEqual([[[2, "/home/u/work/ws\0"]], ["secrets\0", "deep/key\0"]]);
    const root = { path: at("/home/u/work/ws"), mode: "ro" } as const;
    expect([overlay({ ...PLAN, root }), masks({ ...PLAN, root })]).toEqual([
      [[1, "/home/u/work/ws\0"]],
      ["secrets\0", "deep/key\0"],
    ]);
    expect(overlay({ ...PLAN, root, masked: [] })).toEqual([]);
    expect(overlay({ ...PLAN, root: { ...root, mode: "direct" }, masked: [] })).toEqual([]);
    expect(overlay({ ...PLAN, root: null, masked: [] })).toEqual([]);
  });

  test("gets no Landlock rules if the kernel has none", () => {
    const kinds = told(PLAN, 0).map(({ kind }) => kind);
    expect(kinds).not.toContain("H");
    expect(kinds).not.toContain("L");
    expect(kinds).toContain("S");
  });

  test("gets Unix sockets with names in its private folder, if Landlock keeps them there and pid 1 can connect", () => {
    const folders = (frames: readonly SetupFrame[]): readonly string[] =>
      of(frames, "Q").map(({ payload }) => text(payload.subarray(0, payload.indexOf(0))));
    const filter = (frames: readonly SetupFrame[]): string =>
      Buffer.from(of(frames, "S")[0]?.payload ?? []).toString("hex");
    expect(folders(told(PLAN))).toEqual(["/tmp"]);
    const without = [told(PLAN, 0), told(PLAN, 7, true, false)];
    expect(without.map(folders)).toEqual([[], []]);
    expect(new Set(without.map(filter)).size).toBe(1);
    expect(without.map(filter)).not.toContain(filter(told(PLAN)));
  });

  test("gets its limits by the kernel's numbers, and never dumps core", () => {
    const limits = of(told({ ...PLAN, limits: { ...PLAN.limits, memoryBytes: 5_000_000_000 } }), "U").map(
      ({ payload }) => {
        const reader = new PayloadReader(payload);
        return [reader.u32(), reader.u64()];
      },
    );
    expect(limits).toEqual([
      [0, 120n],
      [1, 1_073_741_824n],
      [4, 1n],
      [6, 512n],
      [7, 1_024n],
      [8, 65_536n],
      [9, 5_000_000_000n],
    ]);
    expect(of(told(PLAN), "U")).toHaveLength(6);
  });

  test("gets a memory limit per process if nothing limits the tree", () => {
    const limits = of(told(PLAN, 7, false), "U").map(({ payload }) => {
      const reader = new PayloadReader(payload);
      return [reader.u32(), reader.u64()];
    });
    expect(limits).toHaveLength(7);
    expect(limits).toContainEqual([2, BigInt(PLAN.limits.treeMemoryBytes)]);
  });

  test("gets what its runtime maps and never uses on top, and only if nothing limits the tree", () => {
    const plan = { ...PLAN, limits: { ...PLAN.limits, unusedBytes: 7 } };
    const limits = of(told(plan, 7, false), "U").map(({ payload }) => {
      const reader = new PayloadReader(payload);
      return [reader.u32(), reader.u64()];
    });
    expect(limits).toContainEqual([2, BigInt(PLAN.limits.treeMemoryBytes + 7)]);
    expect(told(plan)).toEqual(told(PLAN));
  });

  test("started by root protects the kernel's own files", () => {
    const user = { ...SYSTEM.user, user: 0 };
    const frames = cut(
      setupFrames(PLAN, { ...SYSTEM, user }, { landlock: 7, treeMemoryHeld: true, connects: false }, encode),
    );
    const pins = of(frames, "P").map(({ payload }) => [payload[0], text(payload.subarray(1))]);
    expect(of(frames, "T").map(({ payload }) => text(payload))).toEqual(["/proc\0"]);
    expect(pins).toContainEqual([1, "sys\0"]);
    expect(pins).toContainEqual([2, "kcore\0"]);
    expect(of(told(PLAN), "P")).toEqual([]);
  });

  test("empties its temporary folder and the home in it, and nothing of the host", () => {
    const folders = (plan: Plan): string[] => of(told(plan), "D").map(({ payload }) => text(payload.subarray(4)));
    expect(folders(PLAN)).toEqual(["/tmp\0", "/tmp/home\0"]);
    for (const root of ["/tmp", "/tmp/project"])
      expect(folders({ ...PLAN, root: { path: at(root), mode: "draft" } })).toEqual([
        "/run/ambit/tmp\0",
        "/run/ambit/tmp/home\0",
      ]);
    expect(folders({ ...PLAN, runtime: [at("/tmp/tools")] })).toEqual(["/run/ambit/tmp\0", "/run/ambit/tmp/home\0"]);
  });

  test("gets ports only if there is a network", () => {
    expect(of(told(PLAN), "N")).toEqual([]);
    const [network] = of(told({ ...PLAN, network: NETWORK }), "N");
    expect([...(network?.payload ?? [])]).toEqual([1, 1, 0, 0, 0, 0xbb, 0x01]);
  });

  test("gets nothing longer than a path", () => {
    for (const { payload } of told(PLAN)) expect(payload.length).toBeLessThan(4_096);
  });
});

describe("ports that are opened one by one", () => {
  test.each([
    [[{ low: 443, high: 443 }], [443]],
    [
      [
        { low: 8_000, high: 8_002 },
        { low: 22, high: 22 },
      ],
      [22, 8_000, 8_001, 8_002],
    ],
    [[], []],
  ])("%j", (ranges, wanted) => expect(listedPorts(ranges)).toEqual(wanted));

  test("of all, the usual ones first, and never more than can be listened to", () => {
    const ports = listedPorts([{ low: 1, high: 65_535 }]);
    expect(ports).toHaveLength(64);
    for (const port of [22, 80, 443, 5_432]) expect(ports).toContain(port);
  });

  test("are ports of the grants and no others", () => {
    const ports = listedPorts([{ low: 9_000, high: 65_535 }]);
    expect(ports.filter((port) => port < 9_000)).toEqual([]);
  });
});
