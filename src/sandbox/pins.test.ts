// What in a root stays as it is, what nobody sees, and what is only watched.
import { describe, expect, test } from "vitest";
import { namesToFind, pinsOf, watchedNames } from "./pins.ts";
import type { PlanRoot } from "./plan.ts";
import type { FoundName, PlanFacts } from "./plan-facts.ts";
import { at, FACTS } from "./plan-fixture.ts";

const WS: PlanRoot = { path: at("/home/u/work/ws"), mode: "rw" };
const HOME: PlanRoot = { path: at("/home/u"), mode: "rw" };

/** `path: action, absent`, one for each pin. */
function pins(root: PlanRoot, facts: Partial<PlanFacts> = {}): Map<string, string> {
  const result = pinsOf(root, facts.runtime ?? [], { ...FACTS, ...facts });
  if (!result.ok) throw new Error(result.refused.message);
  return new Map(
    result.value.flatMap((base) =>
      base.pins.map((pin) => [pin.path.join("/"), `${pin.action}, ${pin.absent}`] as const),
    ),
  );
}

const found = (path: string, kind: FoundName["kind"]): FoundName => ({ path: at(path), kind });
const GIT = found("/home/u/work/ws/.git", "folder");

describe("in a project", () => {
  test.each([
    [".ambit", "readonly, folder"],
    [".vscode", "readonly, folder"],
    [".claude", "readonly, folder"],
    [".codex", "readonly, folder"],
    [".cursor", "readonly, folder"],
    [".devcontainer", "readonly, leave"],
    [".mcp.json", "readonly, leave"],
    [".bashrc", "readonly, leave"],
    [".zshenv", "readonly, leave"],
    [".envrc", undefined],
    [".gitmodules", undefined],
    ["node_modules", undefined],
    ["package.json", undefined],
  ])("%s: %s", (name, wanted) => expect(pins(WS).get(name)).toBe(wanted));

  test("that is only read nothing is made and nothing is kept", () => {
    expect([...pins({ ...WS, mode: "ro" })]).toEqual([]);
  });

  test("our own package is kept where there is one, and the folders above stay in their places", () => {
    const facts = { found: [found("/home/u/work/ws/node_modules/ambit", "folder")] };
    expect(pins(WS, facts).get("node_modules/ambit")).toBe("readonly, leave");
    expect(pins(WS, facts).get("node_modules")).toBe("held, leave");
    const kept = { found: [found("/home/u/work/ws/node_modules/.pnpm/ambit@1.0.0/node_modules/ambit", "folder")] };
    expect(pins(WS, kept).get("node_modules/.pnpm/ambit@1.0.0/node_modules/ambit")).toBe("readonly, leave");
  });

  test("our program and trees of programs are kept where they lie in it", () => {
    const kept = pins(WS, { program: at("/home/u/work/ws/tools/ambit"), runtime: [at("/home/u/work/ws/sdk")] });
    expect(kept.get("tools/ambit")).toBe("readonly, leave");
    expect(kept.get("tools")).toBe("held, leave");
    expect(kept.get("sdk")).toBe("readonly, leave");
  });
});

describe("git", () => {
  test("a repository: hooks and settings stay, the folder stays in its place, the rest is git's to write", () => {
    const kept = pins(WS, { found: [GIT] });
    expect([...kept].filter(([path]) => path.startsWith(".git"))).toEqual([
      [".git", "held, folder"],
      [".git/commondir", "readonly, leave"],
      [".git/config", "readonly, file"],
      [".git/config.worktree", "readonly, leave"],
      [".git/hooks", "readonly, folder"],
    ]);
  });

  test("no repository yet: its place is taken, and settings that appear are seen", () => {
    const kept = pins(WS);
    expect(kept.get(".git")).toBe("held, folder");
    expect(kept.get(".git/hooks")).toBe("readonly, folder");
    expect(kept.get(".git/config")).toBe("readonly, leave");
  });

  test.each(["file", "link"] as const)("a %s that says where the repository is", (kind) => {
    const kept = pins(WS, { found: [found("/home/u/work/ws/.git", kind)] });
    expect([...kept].filter(([path]) => path.startsWith(".git"))).toEqual([[".git", "readonly, leave"]]);
  });

  test("submodules and worktrees have settings of their own", () => {
    const kept = pins(WS, {
      found: [
        GIT,
        found("/home/u/work/ws/.git/modules/a/config", "file"),
        found("/home/u/work/ws/.git/modules/b/c/hooks", "folder"),
        found("/home/u/work/ws/.git/worktrees/w/commondir", "file"),
        found("/home/u/work/ws/.git/modules/a/HEAD", "file"),
        found("/elsewhere/.git/modules/a/config", "file"),
      ],
    });
    expect(kept.get(".git/modules/a/config")).toBe("readonly, leave");
    expect(kept.get(".git/modules/b/c/hooks")).toBe("readonly, leave");
    expect(kept.get(".git/modules")).toBe("held, leave");
    expect(kept.get(".git/worktrees/w/commondir")).toBe("readonly, leave");
    expect(kept.has(".git/modules/a/HEAD")).toBe(false);
  });
});

describe("in a home folder", () => {
  test.each([
    [".bashrc", "readonly, file"],
    [".zshrc", "readonly, file"],
    [".bash_profile", "readonly, leave"],
    [".gitconfig", "readonly, leave"],
    [".config/git", "readonly, folder"],
    [".config/fish", "readonly, folder"],
    [".config", "held, folder"],
    [".ssh", "masked, leave"],
    [".config/ambit", "masked, leave"],
    [".local/state/ambit", "masked, leave"],
  ])("%s: %s", (name, wanted) => expect(pins(HOME).get(name)).toBe(wanted));

  test("a workspace in it has its names kept, and stays in its place", () => {
    const kept = pins(HOME);
    expect(kept.get("work/ws/.ambit")).toBe("readonly, folder");
    expect(kept.get("work/ws/.git/hooks")).toBe("readonly, folder");
    // One that is gone is not made again.
    expect(kept.get("work/ws")).toBe("held, leave");
    expect(kept.get("work")).toBe("held, leave");
    expect(pins(HOME, { workspaces: [] }).has("work/ws/.ambit")).toBe(false);
    expect(kept.get("work/other/.ambit")).toBeUndefined();
  });

  test("around several homes as well", () => {
    const kept = pins({ path: at("/home"), mode: "rw" }, { found: [found("/home/v/.aws", "folder")] });
    expect(kept.get("u/.bashrc")).toBe("readonly, file");
    expect(kept.get("u/.ssh")).toBe("masked, leave");
    expect(kept.get("v/.aws")).toBe("masked, leave");
    expect(kept.get("u")).toBe("held, leave");
  });
});

describe("what is masked", () => {
  test("is masked in a root that is only read, too", () => {
    expect([...pins({ ...HOME, mode: "ro" })]).toEqual([
      [".aws", "masked, leave"],
      [".ssh", "masked, leave"],
      [".config/ambit", "masked, leave"],
      [".local/state/ambit", "masked, leave"],
    ]);
  });

  test("authority files are not: git would take them for deleted", () => {
    expect(pins(WS).get(".ambit")).toBe("readonly, folder");
    expect(pins({ path: at("/home/u/work"), mode: "rw" }).get("ws/.ambit")).toBe("readonly, folder");
  });

  test("nothing is pinned below it, and what is kept whole is kept once", () => {
    const kept = pins(HOME, {
      protectedPaths: [at("/home/u/.config"), at("/home/u/.vscode/keys")],
      program: at("/home/u/.vscode/ambit"),
    });
    expect([...kept.keys()].filter((path) => path.startsWith(".config/"))).toEqual([]);
    expect([...kept.keys()].filter((path) => path.startsWith(".vscode"))).toEqual([".vscode", ".vscode/keys"]);
  });
});

describe("the order", () => {
  test("folders come before what lies in them", () => {
    const seen = new Set<string>();
    for (const path of pins(HOME, { found: [found("/home/u/work/ws/node_modules/ambit", "folder")] }).keys()) {
      const folders = path
        .split("/")
        .slice(0, -1)
        .map((_, place, all) => all.slice(0, place + 1).join("/"));
      for (const folder of folders.filter((one) => pins(HOME).has(one))) expect(seen.has(folder)).toBe(true);
      seen.add(path);
    }
    expect(seen.size).toBeGreaterThan(60);
  });
});

describe("what is looked for before", () => {
  test("only patterns that lie in the root, with stars only where a name is not known", () => {
    const patterns = namesToFind({ path: at("/home"), mode: "rw" }, FACTS).map((path) => `/${path.join("/")}`);
    expect(patterns).toContain("/home/*/.aws");
    expect(patterns).toContain("/home/u/work/ws/.git");
    expect(patterns).toContain("/home/u/work/ws/.git/modules/*/config");
    expect(patterns).toContain("/home/u/work/ws/node_modules/ambit");
    expect(patterns).not.toContain("/home/u/.ssh");
    for (const pattern of patterns) expect(pattern.startsWith("/home/")).toBe(true);
    expect(namesToFind(WS, FACTS).some((path) => path.includes(".aws"))).toBe(false);
  });

  test("and where trees of programs have their programs, also without a root", () => {
    const facts = { ...FACTS, runtime: [at("/opt/nvm")] };
    const patterns = ["/opt/nvm/bin", "/opt/nvm/*/bin", "/opt/nvm/*/*/bin"].map(at);
    expect(namesToFind(null, facts)).toEqual(patterns);
    expect(namesToFind(WS, facts).slice(0, 3)).toEqual(patterns);
  });

  test("less for a root that is only read", () => {
    expect(namesToFind({ path: at("/home"), mode: "ro" }, FACTS)).toEqual([at("/home/*/.aws")]);
  });
});

test("watched is what could not be made: whole paths of names that may still appear", () => {
  const result = pinsOf(WS, [], FACTS);
  const watched = watchedNames({ pinned: result.ok ? result.value : [] }).map((path) => `/${path.join("/")}`);
  expect(watched).toContain("/home/u/work/ws/.mcp.json");
  expect(watched).toContain("/home/u/work/ws/.git/commondir");
  expect(watched).not.toContain("/home/u/work/ws/.claude");
  expect(watched).not.toContain("/home/u/work/ws/.git");
});

test("more names than can be held are no plan", () => {
  const protectedPaths = Array.from({ length: 1_100 }, (_, number) => at(`/home/u/work/ws/secret-${number}`));
  expect(pinsOf(WS, [], { ...FACTS, protectedPaths })).toMatchObject({
    ok: false,
    refused: { code: "sandbox_unavailable" },
  });
});
