// What in a root stays as it is, what nobody sees, and what is only watched.
import { describe, expect, test } from "vitest";
import { namesToFind, pinsOf, watchedNames } from "./pins.ts";
import type { PlanRoot } from "./plan.ts";
import type { PlanFacts } from "./plan-facts.ts";
import { at, FACTS, found } from "./plan-fixture.ts";

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
    const kept = pins(WS, { found: [GIT, found("/home/u/work/ws/.git/HEAD", "file")] });
    expect([...kept].filter(([path]) => path.startsWith(".git"))).toEqual([
      [".git", "held, folder"],
      [".git/commondir", "readonly, leave"],
      [".git/config", "readonly, file"],
      [".git/config.worktree", "readonly, leave"],
      [".git/hooks", "readonly, folder"],
    ]);
  });

  test("a folder that is no repository may be another sandbox's: no settings are made in it", () => {
    const kept = pins(WS, { found: [GIT] });
    expect(kept.get(".git")).toBe("held, folder");
    expect(kept.get(".git/config")).toBe("readonly, leave");
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
        found("/home/u/work/ws/.git/modules/a/modules/libs/x/config", "file"),
        found("/home/u/work/ws/.git/modules/1/2/3/4/5/config", "file"),
        found("/home/u/work/ws/.git/worktrees/w/commondir", "file"),
        found("/home/u/work/ws/.git/modules/a/HEAD", "file"),
        found("/elsewhere/.git/modules/a/config", "file"),
      ],
    });
    expect(kept.get(".git/modules/a/config")).toBe("readonly, leave");
    expect(kept.get(".git/modules/b/c/hooks")).toBe("readonly, leave");
    expect(kept.get(".git/modules")).toBe("held, folder");
    // What makes git run programs in one that is there is made, or watched, as in the repository itself.
    expect(kept.get(".git/modules/a/hooks")).toBe("readonly, folder");
    expect(kept.get(".git/modules/a/commondir")).toBe("readonly, leave");
    expect(kept.get(".git/modules/a/modules/libs/x/config")).toBe("readonly, leave");
    expect(kept.has(".git/modules/1/2/3/4/5/config")).toBe(false);
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
    [".config/ambit", "masked, folder"],
    [".local/state/ambit", "masked, folder"],
    [".local/state", "held, folder"],
    [".local", "held, folder"],
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

  test("folders above it stay in their places, so that no other can take them", () => {
    const kept = pins(HOME, { protectedPaths: [at("/home/u/share/keys/rings")] });
    expect(kept.get("share/keys/rings")).toBe("masked, leave");
    expect(kept.get("share/keys")).toBe("held, leave");
    expect(kept.get("share")).toBe("held, leave");
  });
});

describe("a name that is a link", () => {
  const ws = "/home/u/work/ws";

  test("stays as a name, and so does what it leads to, in its place", () => {
    const kept = pins(WS, {
      found: [found(`${ws}/.vscode`, "link", `${ws}/set/code`), found(`${ws}/set/code`, "folder")],
    });
    expect(kept.get(".vscode")).toBe("readonly, folder");
    expect(kept.get("set/code")).toBe("readonly, folder");
    expect(kept.get("set")).toBe("held, leave");
    expect(pins(WS).has("set/code")).toBe(false);
  });

  test("that leads nowhere yet: nothing is made, and what appears there is seen", () => {
    const kept = pins(WS, { found: [found(`${ws}/.vscode`, "link", `${ws}/code`)] });
    expect(kept.get("code")).toBe("readonly, leave");
  });

  test("that leads on over another: that one is watched as well", () => {
    const links = [found(`${ws}/.vscode`, "link", `${ws}/b`, `${ws}/in/a`), found(`${ws}/b`, "folder")];
    expect(pins(WS, { found: links }).get("in/a")).toBe("readonly, leave");
    expect(pins(WS, { found: links }).get("in")).toBe("held, leave");
  });

  test("that leads out of the root: there is nothing here to keep but the name", () => {
    const elsewhere = { found: [found(`${ws}/.vscode`, "link", "/home/u/code")] };
    expect([...pins(WS, elsewhere)]).toEqual([...pins(WS)]);
  });

  test("that leads to the root or out above it: nothing could be written, so there is no such sandbox", () => {
    for (const target of [ws, "/home/u/work"])
      expect(pinsOf(WS, [], { ...FACTS, found: [found(`${ws}/.vscode`, "link", target)] })).toMatchObject({
        ok: false,
        refused: { code: "self_modification" },
      });
  });

  test("on the way to a name: the name behind it is kept", () => {
    const config = [found("/home/u/.config", "link", "/home/u/dot/config"), found("/home/u/dot/config", "folder")];
    const kept = pins(HOME, { found: config, ours: [] });
    expect(kept.get("dot/config/git")).toBe("readonly, folder");
    expect(kept.get("dot/config/fish")).toBe("readonly, folder");
    expect(kept.get("dot")).toBe("held, leave");
  });

  test("and masked: what it leads to is masked, also where the root is only read", () => {
    const links = [found("/home/u/.ssh", "link", "/home/u/dot/ssh"), found("/home/u/dot/ssh", "folder")];
    expect(pins(HOME, { found: links }).get("dot/ssh")).toBe("masked, leave");
    expect(pins({ ...HOME, mode: "ro" }, { found: links }).get("dot/ssh")).toBe("masked, leave");
    const homes = [found("/home/v", "link", "/home/w/v"), found("/home/w/v", "folder")];
    expect(pins({ path: at("/home"), mode: "ro" }, { found: homes }).get("w/v/.aws")).toBe("masked, leave");
  });

  test("and is a repository: its hooks and settings stay, the rest is git's to write", () => {
    const kept = pins(WS, {
      found: [
        found(`${ws}/.git`, "link", `${ws}/real`),
        found(`${ws}/real`, "folder"),
        found(`${ws}/real/HEAD`, "file"),
        found(`${ws}/real/modules/a/config`, "file"),
      ],
    });
    expect(kept.get("real")).toBe("held, folder");
    expect(kept.get("real/hooks")).toBe("readonly, folder");
    expect(kept.get("real/config")).toBe("readonly, file");
    expect(kept.get("real/modules/a/config")).toBe("readonly, leave");
  });

  test("and is how our program is started: it is watched, and its folder stays", () => {
    const kept = pins(WS, {
      found: [found(`${ws}/node_modules/.bin/ambit`, "link", `${ws}/node_modules/ambit/bin/ambit`)],
    });
    expect(kept.get("node_modules/.bin/ambit")).toBe("readonly, leave");
    expect(kept.get("node_modules/.bin")).toBe("held, leave");
    expect(pins(WS).has("node_modules/.bin/ambit")).toBe(false);
  });

  test("on the way to our own files: no mount could hold it, so nothing around it is written", () => {
    const links = [found("/home/u/.local/state", "link", "/var/state")];
    expect(pinsOf(HOME, [], { ...FACTS, found: links })).toMatchObject({
      ok: false,
      refused: { code: "self_modification" },
    });
    expect(pinsOf({ ...HOME, mode: "ro" }, [], { ...FACTS, found: links }).ok).toBe(true);
    expect(pinsOf(HOME, [], { ...FACTS, found: [found("/home/u/.local/states", "link", "/var/state")] }).ok).toBe(true);
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
    // Names that are known are looked for because they may be links.
    expect(patterns).toContain("/home/u/.ssh");
    expect(patterns).toContain("/home/u/.bashrc");
    expect(patterns).toContain("/home/u/.local/state/ambit");
    expect(patterns).not.toContain("/etc/shadow");
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
    const patterns = namesToFind({ path: at("/home"), mode: "ro" }, FACTS).map((path) => `/${path.join("/")}`);
    expect(patterns).toEqual([
      "/home/u/.ssh",
      "/home/*/.aws",
      "/home/u/work/ws/.ambit",
      "/home/u/.local/state/ambit",
      "/home/u/.config/ambit",
    ]);
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
