// Cases that once were wrong, each as the rule it broke. Random search may not find these again.
import { describe, expect, test } from "vitest";
import { argvPatternText, guardArgv, parseArgvPattern } from "../../src/core/authority/axes/argv.ts";
import type { Constraint } from "../../src/core/authority/axes/constraint.ts";
import { parseNamePattern, parseToolPattern } from "../../src/core/authority/axes/name.ts";
import { tree } from "../../src/core/authority/axes/path.ts";
import { ANY, type Scope } from "../../src/core/authority/axes/scope.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import { segmentsOf } from "../../src/core/authority/patterns/sequence.ts";
import { parseRange } from "../../src/core/base/address.ts";
import type { Result } from "../../src/core/base/result.ts";
import { OTHER_GROUND, PATH_SETTINGS } from "./alphabet.ts";
import { grantOf, PLAIN_MOMENT, verbOf } from "./arbitraries.ts";
import { CORE, single } from "./implementation.ts";

function good<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

const command = (...patterns: readonly string[]): Grant =>
  grantOf(verbOf("proc.exec"), [
    ANY,
    { kind: "sequences", of: patterns.map((text) => good(parseArgvPattern(text))) },
    ANY,
  ]);
const keys = (...patterns: readonly string[]): Grant =>
  grantOf(verbOf("memory.read"), [{ kind: "sequences", of: patterns.map((text) => good(parseNamePattern(text))) }]);
const tools = (...patterns: readonly string[]): Grant =>
  grantOf(verbOf("tool.invoke"), [
    { kind: "sequences", of: patterns.map((text) => good(parseToolPattern(text))) },
    ANY,
  ]);
const hosts = (...ranges: readonly string[]): Grant =>
  grantOf(verbOf("provider.web_fetch"), [
    {
      kind: "destinations",
      names: [],
      ranges: ranges.map((text) => good(parseRange(text))),
      everyPublic: false,
      openings: [],
    },
  ]);
const argument = (...constrained: readonly (readonly [readonly string[], Constraint])[]): Grant => {
  const scope: Scope = {
    kind: "arguments",
    constrained: constrained.map(([at, constraint]) => ({ at, constraint })),
    only: false,
  };
  return grantOf(verbOf("tool.invoke"), [ANY, scope]);
};
const below = (pathSettings: typeof PATH_SETTINGS): Constraint => ({
  kind: "path",
  patterns: [tree(["a"])],
  pathSettings,
});
const ONE_ONLY: Constraint = { kind: "values", values: [1] };

/** All of `::/64` below the IPv4-mapped block. */
const BELOW_MAPPED = [
  "::/81",
  ...Array.from({ length: 15 }, (_, at) => `::${((0xffff << (15 - at)) & 0xffff).toString(16)}:0:0/${82 + at}`),
];

const kind = (child: Grant, ...parent: readonly Grant[]): string => CORE.within([child], single(parent), false).kind;

describe("containment", () => {
  test.each([
    ["F1: any command is within any command", command("**"), [command("**")], "within"],
    [
      "F2: a glob after one dash may be an option with two, which is not a bundle of letters",
      command("rg -*z"),
      [],
      "exceeds",
    ],
    ["F2: a glob that is always a bundle with a risky letter covers nothing", command("rg -z*"), [], "within"],
    [
      "F3: a risky option is risky however the program's path is spelled",
      command("* --hostname-bin"),
      [command("rg --hostname-bin", "/rg --hostname-bin", "* **")],
      "exceeds",
    ],
    [
      "F3: also if the folder is known",
      command("/usr/* --hostname-bin"),
      [command("/usr/rg --hostname-bin", "/usr/* **")],
      "exceeds",
    ],
    [
      "F3: and if its option is named for every program, it is covered",
      command("* --hostname-bin"),
      [command("* --hostname-bin **")],
      "within",
    ],
    [
      "an unknown subcommand may be the one under which a word is risky",
      command("git * -u"),
      [command("git **")],
      "exceeds",
    ],
    ["also where the program is unknown", command("* clone -u"), [command("* **")], "exceeds"],
    ["also where both are unknown", command("* ** -u"), [command("* **")], "exceeds"],
    ["if its option is named, it is covered", command("git * -u"), [command("git * -u")], "within"],
    ["a subcommand under which it is harmless is covered", command("git push -u"), [command("git **")], "within"],
    ["an unknown letter may take the risky one for its value", command("make -k*f"), [], "exceeds"],
    ["if no letter takes a value, it cannot", command("rg -k*z"), [], "within"],
    ["a script is risky for an unknown program", command("* wout"), [command("* **")], "exceeds"],
    ["a first word without a dash is risky for tar alone", command("* xI"), [command("* **")], "exceeds"],
    [
      "after `--` a glob is no option, where an unknown word may precede it",
      command("git * -- --upload-pack=*"),
      [],
      "exceeds",
    ],
    ["and a literal may still be one", command("git * -- --upload-pack"), [command("git **")], "exceeds"],
    ["F4: addresses after the IPv4-mapped block are checked", hosts("::/64"), [hosts(...BELOW_MAPPED)], "exceeds"],
    ["F4: and covered if included", hosts("::/64"), [hosts("::/64")], "within"],
    ["F5: every key has a segment", keys("**"), [keys("*/**")], "within"],
    ["F5: not every key has two", keys("**"), [keys("*/*/**")], "exceeds"],
    ["F5: every tool has a name", tools("tool:**"), [tools("tool:*.**")], "within"],
    [
      "F8: a relative path is another path in another folder",
      argument([["p"], below(PATH_SETTINGS)]),
      [argument([["p"], below(OTHER_GROUND)])],
      "unknown",
    ],
    [
      "F8: in the same folder it is the same",
      argument([["p"], below(PATH_SETTINGS)]),
      [argument([["p"], below({ ...PATH_SETTINGS })])],
      "within",
    ],
    [
      "F9: a constraint inside a constrained value never holds",
      argument([["a"], ONE_ONLY], [["a", "b"], ONE_ONLY]),
      [],
      "within",
    ],
    ["F9: beside it, it may", argument([["a", "c"], ONE_ONLY], [["a", "b"], ONE_ONLY]), [], "exceeds"],
  ] as const)("%s", (_title, child, parent, expected) => {
    expect(kind(child, ...parent)).toBe(expected);
  });
});

describe("suggestions and notation", () => {
  test("F6: the suggestion for one record is that record, not its class", () => {
    const verb = verbOf("records.delete");
    const request = { verb, values: [segmentsOf(["note"]), segmentsOf(["a", "b"])] };
    const other = { verb, values: [segmentsOf(["note"]), segmentsOf(["a", "c"])] };
    expect(CORE.level(single([CORE.suggest(request) as Grant]), request, PLAIN_MOMENT, "use")).toBe(0);
    expect(CORE.level(single([CORE.suggest(request) as Grant]), other, PLAIN_MOMENT, "use")).toBeNull();
  });

  test.each(["***", "git ***", "git *** log"])("F7: printing %j and parsing it again covers nothing more", (text) => {
    const parsed = good(parseArgvPattern(text));
    const again = grantOf(verbOf("proc.exec"), [
      ANY,
      { kind: "sequences", of: [good(parseArgvPattern(argvPatternText(parsed)))] },
      ANY,
    ]);
    expect(kind(again, command(text))).toBe("within");
  });

  test("F1: an empty command has no risky words", () => {
    expect(guardArgv([])).toEqual({ segments: [], guarded: null });
  });
});
