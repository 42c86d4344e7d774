import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isNothing } from "../../authority/axes/scope.ts";
import { meetGrants } from "../../authority/meet.ts";
import type { Json } from "../../base/json.ts";
import type { Reading } from "../reading.ts";
import { covers, HOSTILE_TEXTS } from "../testing/coverage.ts";
import { diagnosticLines, READING, treeOf } from "../testing/notation.ts";
import { type CaveatsLink, caveatsTable, readCaveats } from "./caveats.ts";
import { caveatsOf } from "./caveats-printer.ts";

type Fields = { readonly [key: string]: Json };
const TOP: Fields = {
  fs_read: "all",
  fs_write: "all",
  exec: "all",
  net: "all",
  max_calls: "unlimited",
  valid_for_generation: "all",
};
const NOTHING: Fields = {
  ...TOP,
  fs_read: { only: [] },
  fs_write: { only: [] },
  exec: { only: [] },
  net: { only: [] },
};

function read(fields: Json, reading: Reading = READING): ReturnType<typeof readCaveats> {
  return readCaveats(treeOf(fields), reading);
}

function link(fields: Fields, reading: Reading = READING): CaveatsLink {
  const { link: found, diagnostics } = read({ ...TOP, ...fields }, reading);
  if (found === null) throw new Error(diagnosticLines(diagnostics).join());
  return found;
}

describe("each axis covers its entries and nothing beside them", () => {
  test.each<[string, Fields, string, string]>([
    ["a path covers itself", { fs_read: { only: ["/a/b"] } }, "fs.read /a/b", "fs.read /a/bc"],
    ["a path covers what is below", { fs_read: { only: ["/a/b"] } }, "fs.read /a/b/c/d", "fs.read /a"],
    ["a path that climbs is the path it means", { fs_read: { only: ["/a/x/../b/"] } }, "fs.read /a/b", "fs.read /a/x"],
    [
      "a relative path is in the working directory",
      { fs_read: { only: ["src"] } },
      "fs.read /work/src/a",
      "fs.read /src/a",
    ],
    ["reading is not writing", { fs_write: { only: ["/b"] } }, "fs.read /a", "fs.write /a"],
    ["writing includes deleting", { fs_write: { only: ["/b"] } }, "fs.delete /b/x", "fs.delete /c/x"],
    ["everything may be read", { fs_read: "all" }, "fs.read /etc/passwd", "fs.read /home/u/.ssh/id"],
    ["a program by its name", { exec: { only: ["git"] } }, "proc.exec -- git status", "proc.exec -- gi status"],
    ["a name is not a path", { exec: { only: ["git"] } }, "proc.exec -- git", "proc.exec -- /usr/bin/git"],
    ["a path is not a name", { exec: { only: ["/usr/bin/git"] } }, "proc.exec -- /usr/bin/git", "proc.exec -- git"],
    ["any program in the working directory", { exec: "all" }, "proc.exec -- rm -rf x", "proc.exec in=/other -- rm"],
    [
      "a host covers itself",
      { net: { only: ["github.com"] } },
      "net.get https://github.com/x",
      "net.get https://api.github.com/x",
    ],
    [
      "a host is case-insensitive",
      { net: { only: ["GitHub.com"] } },
      "net.put https://github.com:8443/",
      "net.put https://githubb.com/",
    ],
    [
      "a name does not open private addresses",
      { net: { only: ["a.com"] } },
      "net.get https://a.com/ address=8.8.8.8",
      "net.get https://a.com/ address=127.0.0.1",
    ],
    [
      "a literal address opts in",
      { net: { only: ["127.0.0.1"] } },
      "net.get http://127.0.0.1/",
      "net.get http://127.0.0.2/",
    ],
    [
      "processes may connect too",
      { net: { only: ["a.com"] } },
      "net.connect a.com:22",
      "net.connect a.com:22 raw=true",
    ],
    [
      "everywhere means every public address",
      { net: "all" },
      "net.delete https://8.8.8.8/",
      "net.delete https://10.0.0.1/",
    ],
    ["built-in tools, not third-party ones", {}, "tool.invoke fs_read", "tool.invoke foreign"],
  ])("%s", (_, fields, allowed, denied) => {
    const { grants } = link(fields);
    expect(covers(grants, allowed)).toBe(true);
    expect(covers(grants, denied)).toBe(false);
  });
});

describe("an entry that names nothing matches nothing", () => {
  test.each<[string, string, string]>([
    ["exec", "*", "bad_pattern"],
    ["exec", "gi*", "bad_pattern"],
    ["exec", "git/", "bad_pattern"],
    ["exec", "git ", "bad_pattern"],
    ["exec", "./git", "bad_pattern"],
    ["exec", "", "bad_value"],
    ["net", "*", "bad_value"],
    ["net", "*.github.com", "bad_value"],
    ["net", "10.0.0.0/8", "bad_value"],
    ["net", "a.com:443", "bad_value"],
    ["fs_read", "/x/*", "bad_pattern"],
    ["fs_read", "/x\0", "bad_value"],
    ["fs_write", "", "bad_value"],
  ])("%s: %j", (field, entry, code) => {
    const { link: found, diagnostics } = read({
      ...NOTHING,
      fs_read: field === "fs_read" ? { only: [] } : "all",
      [field]: { only: [entry] },
    });
    const verb = field === "exec" ? "proc." : field === "net" ? "net." : `fs.${field.slice(3)}`;
    const named = found?.grants.filter((grant) => grant.verb.verb.startsWith(verb)) ?? [];
    expect(named.length).toBeGreaterThan(0);
    expect(named.every((grant) => grant.scopes.some(isNothing))).toBe(true);
    expect(diagnosticLines(diagnostics)).toEqual([`warning ${code} ${field}.only[0]`]);
  });
  test("the entries beside it stay", () => {
    expect(covers(link({ exec: { only: ["*", "git"] } }).grants, "proc.exec -- git")).toBe(true);
  });
});

describe("programs run in the working directory, if it may be read", () => {
  const run = (
    fields: Fields,
    base: readonly string[] | null,
    ceiling: readonly string[] | null = null,
  ): { roots: string[]; said: string[] } => {
    const reading: Reading = { ...READING, ceiling, pathSettings: { ...READING.pathSettings, base } };
    const { link: found, diagnostics } = read({ ...TOP, ...fields }, reading);
    const roots = (found?.grants ?? []).flatMap((grant) =>
      grant.verb.verb === "proc.exec" ? [(grant.root ?? []).join("/")] : [],
    );
    return { roots, said: diagnosticLines(diagnostics) };
  };
  test.each<[string, Fields, readonly string[] | null, readonly string[], readonly string[]]>([
    ["all may be read", {}, ["work"], ["work"], []],
    ["the folder may be read", { fs_read: { only: ["/work"] } }, ["work"], ["work"], []],
    ["a part may be read", { fs_read: { only: ["/work/a", "/x"] } }, ["work"], ["work/a"], ["warning narrowed exec"]],
    ["nothing of it may be read", { fs_read: { only: ["/workx"] } }, ["work"], [], ["warning narrowed exec"]],
    ["it is a protected folder", {}, ["home", "u", ".ssh"], [], ["warning narrowed exec"]],
    ["it is the whole machine", {}, [], [], ["warning inert exec"]],
    ["there is none", {}, null, [], ["warning inert exec"]],
  ])("%s", (_, fields, base, roots, said) => {
    expect(run(fields, base)).toEqual({ roots, said });
  });
  test("it is outside the outer root", () => {
    expect(run({}, ["work"], ["home"])).toMatchObject({ roots: [] });
    expect(run({}, ["home", "u"], ["home"])).toMatchObject({ roots: ["home/u"] });
  });
});

describe("a missing, unknown or malformed field denies everything", () => {
  const { net: _, ...withoutNet } = TOP;
  test.each<[string, Json, string]>([
    ["a missing field", withoutNet, "error missing_field "],
    ["only one field", { exec: "all" }, "error missing_field "],
    ["an added field", { ...TOP, net_private: "all" }, "error unknown_key net_private:"],
    [
      "`__proto__` is a field like any other",
      JSON.parse(JSON.stringify(TOP).replace("{", '{"__proto__":1,')) as Json,
      "error unknown_key __proto__:",
    ],
    ["another word than all", { ...TOP, exec: "ALL" }, "error wrong_type exec"],
    ["a bare list", { ...TOP, exec: ["git"] }, "error wrong_type exec"],
    ["only and something else", { ...TOP, exec: { only: [], not: [] } }, "error wrong_type exec"],
    ["only that is text", { ...TOP, exec: { only: "git" } }, "error wrong_type exec"],
    ["an entry that is not text", { ...TOP, exec: { only: [5] } }, "error wrong_type exec.only[0]"],
    ["a negative count", { ...TOP, max_calls: { at_most: -1 } }, "error wrong_type max_calls"],
    ["a fractional count", { ...TOP, max_calls: { at_most: 1.5 } }, "error wrong_type max_calls"],
    ["a bare count", { ...TOP, max_calls: 5 }, "error wrong_type max_calls"],
    ["all is not a count", { ...TOP, max_calls: "all" }, "error wrong_type max_calls"],
    [
      "unlimited is not a generation",
      { ...TOP, valid_for_generation: "unlimited" },
      "error wrong_type valid_for_generation",
    ],
    [
      "a generation that is text",
      { ...TOP, valid_for_generation: { only: ["1"] } },
      "error wrong_type valid_for_generation.only[0]",
    ],
    ["a list", [], "error wrong_type "],
    ["nothing", null, "error wrong_type "],
    ["text", "all", "error wrong_type "],
  ])("%s", (_, fields, said) => {
    const { link: found, diagnostics } = read(fields);
    expect(found).toBe(null);
    expect(diagnosticLines(diagnostics)).toContain(said);
  });
  test("all six fields are enough", () => {
    expect(read(TOP).link).toMatchObject({ calls: null, generations: null });
    const { link: found } = read({ ...NOTHING, max_calls: { at_most: 0 }, valid_for_generation: { only: [7, 8] } });
    expect(found).toMatchObject({ calls: 0, generations: [7, 8] });
    // Every axis is named, so a denial says "outside its scope"; none covers anything.
    expect(new Set(found?.grants.map((grant) => grant.verb.verb.split(".")[0]))).toEqual(
      new Set(["fs", "proc", "net", "tool"]),
    );
    expect(found?.grants.every((grant) => grant.verb.verb === "tool.invoke" || grant.scopes.some(isNothing))).toBe(
      true,
    );
  });
  test("a file has them in a table", () => {
    expect(caveatsTable(treeOf({ caveats: TOP, other: 1 }))).toMatchObject({ kind: "map" });
    expect(caveatsTable(treeOf({ Caveats: TOP }))).toBe(null);
    expect(caveatsTable(treeOf([]))).toBe(null);
  });
  test("hostile text in every field", () => {
    for (const text of HOSTILE_TEXTS) {
      for (const field of Object.keys(TOP)) {
        expect(read({ ...TOP, [field]: text }).link).toBe(null);
        expect(() => read({ ...NOTHING, fs_read: "all", [field]: { only: [text] } })).not.toThrow();
      }
    }
  });
});

describe("caveats print back as they were parsed", () => {
  const printed = (fields: Fields): unknown => {
    const { grants, calls, generations } = link(fields);
    return caveatsOf(grants, calls, generations);
  };
  test.each<[Fields]>([
    [{}],
    [{ fs_read: { only: ["/a", "/b/c"] }, exec: { only: [] } }],
    [{ fs_write: { only: [] }, exec: { only: ["/usr/bin/git", "echo"] } }],
    [{ net: { only: ["10.0.0.1", "::1", "a.com"] }, max_calls: { at_most: 3 } }],
    [{ fs_read: { only: ["/home/u", "/home/u/.ssh"] }, exec: { only: [] }, valid_for_generation: { only: [1, 2] } }],
    [NOTHING],
  ])("%j", (fields) => {
    expect(printed(fields)).toEqual({ ...TOP, ...fields });
  });
  test("what they cannot express is not printed", () => {
    const { grants } = link({});
    const changed = (verb: string, conditions: object): unknown =>
      caveatsOf(
        grants.map((grant) =>
          grant.verb.verb === verb ? { ...grant, conditions: { ...grant.conditions, ...conditions } } : grant,
        ),
        null,
        null,
      );
    expect(changed("fs.read", { ask: 1 })).toBe(null);
    expect(changed("fs.read", {})).not.toBe(null);
    expect(
      caveatsOf(
        grants.filter((grant) => grant.verb.verb !== "net.post"),
        null,
        null,
      ),
    ).toBe(null);
    expect(
      caveatsOf(
        grants.filter((grant) => grant.verb.verb !== "fs.delete"),
        null,
        null,
      ),
    ).toBe(null);
    expect(
      caveatsOf(
        grants.filter((grant) => grant.verb.verb !== "tool.invoke"),
        null,
        null,
      ),
    ).toBe(null);
  });
});

describe("the meet of two is the meet of each axis", () => {
  const meet = (left: Fields, right: Fields): unknown =>
    caveatsOf(
      meetGrants(link(left).grants, link(right).grants).grants,
      null,
      null,
      READING.pathSettings.protectedPaths,
    );
  test.each<[string, Fields, Fields, Fields]>([
    ["all is the identity", { exec: "all" }, { exec: { only: ["a", "b"] } }, { exec: { only: ["a", "b"] } }],
    ["lists intersect", { exec: { only: ["a", "b"] } }, { exec: { only: ["b", "c"] } }, { exec: { only: ["b"] } }],
    ["disjoint lists are nothing", { exec: { only: ["a"] } }, { exec: { only: ["b"] } }, { exec: { only: [] } }],
    [
      "hosts intersect",
      { net: { only: ["a.com", "10.0.0.1"] } },
      { net: { only: ["10.0.0.1", "b.com"] } },
      { net: { only: ["10.0.0.1"] } },
    ],
    [
      "everywhere does not open a private literal",
      { net: "all" },
      { net: { only: ["10.0.0.1", "a.com"] } },
      { net: { only: ["a.com"] } },
    ],
    [
      "trees keep the inner one",
      { fs_write: { only: ["/a"] } },
      { fs_write: { only: ["/a/b", "/c"] } },
      { fs_write: { only: ["/a/b"] } },
    ],
    [
      "covered trees are dropped",
      { fs_write: { only: ["/a", "/a/b"] } },
      { fs_write: { only: ["/a"] } },
      { fs_write: { only: ["/a"] } },
    ],
  ])("%s", (_, left, right, expected) => {
    expect(meet(left, right)).toEqual({ ...TOP, ...expected });
    expect(meet(right, left)).toEqual({ ...TOP, ...expected });
  });
  test("a protected path that only one side names cannot be expressed", () => {
    const named: Fields = { fs_write: { only: ["/home/u/.ssh"] } };
    expect(meet(named, { fs_write: "all" })).toBe(null);
    expect(meet(named, named)).toEqual({ ...TOP, ...named });
  });
  test("on program names it is set intersection", () => {
    const scope = fc.oneof(
      fc.constant<Json>("all"),
      fc.subarray(["a", "b", "c", "/repo", "/repo/src"]).map((only): Json => ({ only: only.toSorted() })),
    );
    fc.assert(
      fc.property(scope, scope, (left, right) => {
        const set = (one: Json): string[] | null => (one === "all" ? null : (one as { only: string[] }).only);
        const [first, second] = [set(left), set(right)];
        const both =
          first === null ? right : second === null ? left : { only: first.filter((name) => second.includes(name)) };
        expect(meet({ exec: left }, { exec: right })).toEqual({ ...TOP, exec: both });
      }),
    );
  });
});
