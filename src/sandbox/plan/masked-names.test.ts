// Which names below a root no program sees, by their own name and behind links.
import { describe, expect, test } from "vitest";
import { maskedNames, namesToFind } from "./masked-names.ts";
import type { PlanRoot } from "./plan.ts";
import type { PlanFacts } from "./plan-facts.ts";
import { at, existingName, FACTS } from "./testing/plan.ts";

const WS: PlanRoot = { path: at("/home/u/work/ws"), mode: "draft" };
const HOME: PlanRoot = { path: at("/home/u"), mode: "draft" };

function masked(root: PlanRoot, facts: Partial<PlanFacts> = {}): readonly string[] {
  const result = maskedNames(root, { ...FACTS, ...facts });
  if (!result.ok) throw new Error(result.refused.message);
  return result.value.map((path) => `/${path.join("/")}`);
}

describe("masked", () => {
  test.each(["ro", "draft"] as const)("are our own folders and protected paths, in a root that is %s", (mode) => {
    expect(masked({ ...HOME, mode })).toEqual([
      "/home/u/.aws",
      "/home/u/.ssh",
      "/home/u/.config/ambit",
      "/home/u/.local/state/ambit",
    ]);
    expect(masked({ ...WS, mode })).toEqual([]);
  });

  test("are those of other homes if there are any", () => {
    const homes = { path: at("/home"), mode: "ro" } as const;
    expect(masked(homes)).not.toContain("/home/v/.aws");
    expect(masked(homes, { found: [existingName("/home/v/.aws", "folder")] })).toContain("/home/v/.aws");
    expect(masked(homes, { found: [existingName("/home/v/.awsome", "folder")] })).not.toContain("/home/v/.awsome");
  });

  test("are not authority files: git would treat them as deleted", () => {
    expect(masked({ path: at("/home/u/work"), mode: "draft" })).toEqual([]);
  });

  test("is nothing below a masked folder, and each name once", () => {
    const protectedPaths = [at("/home/u/.config"), at("/home/u/.config/keys"), at("/home/u/.config")];
    expect(masked(HOME, { protectedPaths })).toEqual(["/home/u/.config", "/home/u/.local/state/ambit"]);
  });

  test("comes with parents first, whatever the order of the facts", () => {
    const protectedPaths = [at("/home/u/a/b/c"), at("/home/u/b"), at("/home/u/a/x")];
    expect(masked(HOME, { protectedPaths, ours: [] })).toEqual(["/home/u/b", "/home/u/a/x", "/home/u/a/b/c"]);
  });
});

describe("behind a link", () => {
  test("the name and its target are masked", () => {
    const links = [existingName("/home/u/.ssh", "link", "/home/u/dot/ssh"), existingName("/home/u/dot/ssh", "folder")];
    expect(masked(HOME, { found: links })).toEqual(expect.arrayContaining(["/home/u/.ssh", "/home/u/dot/ssh"]));
    expect(masked(HOME)).not.toContain("/home/u/dot/ssh");
  });

  test("on the way to the name, and through a second link", () => {
    const links = [
      existingName("/home/u/.config", "link", "/home/u/dot"),
      existingName("/home/u/dot/ambit", "link", "/home/u/real"),
    ];
    expect(masked(HOME, { found: links })).toEqual(
      expect.arrayContaining(["/home/u/.config/ambit", "/home/u/dot/ambit", "/home/u/real"]),
    );
  });

  test("of a name that a star matches", () => {
    const homes = [existingName("/home/v", "link", "/home/w/v"), existingName("/home/w/v", "folder")];
    expect(masked({ path: at("/home"), mode: "ro" }, { found: homes })).toContain("/home/w/v/.aws");
  });

  test("outside the root there is nothing to mask but the name", () => {
    const links = [existingName("/home/u/.ssh", "link", "/srv/ssh")];
    expect(masked(HOME, { found: links })).toEqual(masked(HOME));
  });

  test.each(["/home/u", "/home"])("that leads to %s: everything would be masked, so there is no plan", (target) => {
    const facts = { ...FACTS, found: [existingName("/home/u/.ssh", "link", target)] };
    expect(maskedNames(HOME, facts)).toMatchObject({ ok: false, refused: { code: "scope_violation" } });
  });
});

describe("the patterns to search first", () => {
  test("only those in the root", () => {
    const patterns = namesToFind({ path: at("/home"), mode: "ro" }, FACTS).map((path) => `/${path.join("/")}`);
    expect(patterns).toEqual([
      "/home/u/.ssh",
      "/home/*/.aws",
      "/home/u/work/ws/.ambit",
      "/home/u/.local/state/ambit",
      "/home/u/.config/ambit",
      "/home/u/work/ws/.ambit/records",
    ]);
  });

  test("and where program trees have their programs, also without a root", () => {
    const facts = { ...FACTS, runtime: [at("/opt/nvm")] };
    const patterns = ["/opt/nvm/bin", "/opt/nvm/*/bin", "/opt/nvm/*/*/bin"].map(at);
    expect(namesToFind(null, facts)).toEqual(patterns);
    expect(namesToFind(WS, facts).slice(0, 3)).toEqual(patterns);
  });
});

test("more names than can be masked give no plan", () => {
  const names = (length: number): PlanFacts["protectedPaths"] =>
    Array.from({ length }, (_, number) => at(`/home/u/work/ws/secret-${number}`));
  expect(masked(WS, { protectedPaths: names(4_096) })).toHaveLength(4_096);
  expect(maskedNames(WS, { ...FACTS, protectedPaths: names(4_097) })).toMatchObject({
    ok: false,
    refused: { code: "sandbox_unavailable" },
  });
});
