// The macOS profile as text: nothing but what the plan names, protected names after what is allowed, quotes that hold.
import { describe, expect, test } from "vitest";
import type { Plan } from "../plan.ts";
import { at, PLAN as DRAFT, NETWORK } from "../testing/plan.ts";
import { type SeatbeltPaths, seatbeltProfile } from "./seatbelt.ts";

/** There are no overlays on macOS: writes are direct. */
const PLAN: Plan = { ...DRAFT, root: { path: at("/home/u/work/ws"), mode: "direct" } };

const PLACES: SeatbeltPaths = {
  temporary: at("/private/tmp/ambit-1"),
  program: at("/opt/ambit/ambit-native"),
  brokerPort: null,
};

function lines(plan: Plan, places: SeatbeltPaths = PLACES): readonly string[] {
  return seatbeltProfile(plan, places)?.split("\n") ?? [];
}

const rooted = (path: readonly string[], mode: "ro" | "direct" = "direct"): Plan => ({
  ...PLAN,
  root: { path, mode },
  masked: [],
});

describe("the profile", () => {
  test("begins by denying everything", () => {
    expect(lines(PLAN).slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
    expect(lines(PLAN).join("\n")).not.toMatch(/\(allow (default|file\*|file-write\* *\)|network\*)/);
  });

  test("writes the root and the temporary folder, and a read-only root not at all", () => {
    const writes = (plan: Plan): string | undefined =>
      lines(plan).find((line) => line.startsWith("(allow file-write* "));
    expect(writes(PLAN)).toBe('(allow file-write* (subpath "/home/u/work/ws") (subpath "/private/tmp/ambit-1"))');
    expect(writes(rooted(at("/home/u/work/ws"), "ro"))).toBe('(allow file-write* (subpath "/private/tmp/ambit-1"))');
  });

  test("denies protected names after everything it allows, so that the denial counts", () => {
    const all = lines(PLAN);
    const lastAllow = all.findLastIndex((line) => line.startsWith("(allow file"));
    expect(all.slice(lastAllow + 1).filter((line) => line !== "")).toEqual([
      '(deny file-read* file-write* process-exec* (subpath "/home/u/work/ws/secrets"))',
      '(deny file-read* file-write* process-exec* (subpath "/home/u/work/ws/deep/key"))',
    ]);
  });

  test("lets links to the root be followed, and their content be nothing more", () => {
    const all = lines({ ...PLAN, links: [{ path: at("/w/link"), target: at("/home/u/work") }] });
    const naming = all.filter((line) => line.includes('"/w/link"'));
    expect(naming).toEqual([
      expect.stringMatching(/^\(allow file-read-metadata .*\(literal "\/w"\).*\(literal "\/w\/link"\)/),
    ]);
  });

  test("does not exist for a draft", () => expect(seatbeltProfile(DRAFT, PLACES)).toBeNull());

  test("has a network only to the broker, and only if the plan has one", () => {
    expect(lines(PLAN, { ...PLACES, brokerPort: 4_000 }).join("\n")).not.toContain("network");
    expect(lines({ ...PLAN, network: NETWORK }).join("\n")).not.toContain("network");
    expect(lines({ ...PLAN, network: NETWORK }, { ...PLACES, brokerPort: 4_000 }).at(-2)).toBe(
      '(allow network-outbound (remote ip "localhost:4000"))',
    );
  });

  test("lets parent folders be seen as names, not read", () => {
    const line = lines(rooted(at("/a/b"))).find((one) => one.startsWith("(allow file-read-metadata"));
    expect(line).toContain('(literal "/a")');
    expect(line).not.toContain('"/a/b"');
  });
});

describe("a path", () => {
  test.each([
    ['a")(allow default)("', '(subpath "/a\\")(allow default)(\\"")'],
    ["a\\", '(subpath "/a\\\\")'],
    ['\\"', '(subpath "/\\\\\\"")'],
    ["a b;c#|d", '(subpath "/a b;c#|d")'],
  ])("%j stays inside its quotes", (name, wanted) => {
    expect(lines(rooted([name])).join("\n")).toContain(wanted);
    // Outside its quotes every line still balances.
    for (const line of lines(rooted([name]))) {
      const outside = line.replace(/"(?:[^"\\]|\\.)*"/g, "");
      expect(outside).not.toContain('"');
      expect(outside.split("(").length).toBe(outside.split(")").length);
      expect(outside).not.toContain("default)(");
    }
  });

  test.each(["a\nb", "a\0b", "a\tb", "a\u007fb", "", "a/b"])("%j has no profile", (name) => {
    expect(seatbeltProfile(rooted([name]), PLACES)).toBeNull();
    expect(seatbeltProfile({ ...PLAN, runtime: [[name]] }, PLACES)).toBeNull();
    expect(seatbeltProfile({ ...PLAN, masked: [["w", name]] }, PLACES)).toBeNull();
  });

  test("that is the whole machine has none either", () => expect(seatbeltProfile(rooted([]), PLACES)).toBeNull());
});
