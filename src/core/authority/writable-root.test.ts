// A process may change its root only if the same chain allows writing files there.
import { describe, expect, test } from "vitest";
import { chain, grant, link, moment, verb } from "../../../test/forge/authority.ts";
import { tree } from "./axes/path.ts";
import { ANY } from "./axes/scope.ts";
import type { Authority } from "./chain.ts";
import type { Grant } from "./grant.ts";
import { judge } from "./judge.ts";
import { literal, ONE } from "./patterns/segment.ts";
import { segmentsOf } from "./patterns/sequence.ts";
import type { Request } from "./request.ts";

const run = grant("proc.exec", [{ kind: "sequences", of: [tree(["w"])] }, ANY, { kind: "words", of: ["ro", "rw"] }]);
const write = (root: readonly string[], conditions = {}): Grant =>
  grant("fs.write", [{ kind: "sequences", of: [tree(root)] }], conditions);
const request = (root: readonly string[], mode: "ro" | "rw"): Request => ({
  verb: verb("proc.exec"),
  values: [segmentsOf(root), segmentsOf(["make"]), mode],
});
const flat = grant("fs.write", [{ kind: "sequences", of: [[literal("w")], [literal("w"), ONE]] }]);

describe("a root is writable", () => {
  const rows: readonly (readonly [string, Authority, readonly string[], "ro" | "rw", string])[] = [
    ["for a process that only reads, whatever else is held", [chain(link("r", [run]))], ["w"], "ro", "allow"],
    ["not without a grant to write", [chain(link("r", [run]))], ["w"], "rw", "deny"],
    ["with a grant to write the whole tree", [chain(link("r", [run, write(["w"])]))], ["w"], "rw", "allow"],
    ["with a grant to write a tree around it", [chain(link("r", [run, write([])]))], ["w", "a"], "rw", "allow"],
    ["not with a grant for a part of it", [chain(link("r", [run, write(["w", "a"])]))], ["w"], "rw", "deny"],
    ["in that part", [chain(link("r", [run, write(["w", "a"])]))], ["w", "a"], "rw", "allow"],
    ["not with a grant for its first level alone", [chain(link("r", [run, flat]))], ["w"], "rw", "deny"],
    [
      "only if every link says so",
      [chain(link("r", [run, write(["w"])]), link("l", [run], {}, "limit"))],
      ["w"],
      "rw",
      "deny",
    ],
    ["only if one chain says both", [chain(link("a", [run])), chain(link("b", [write(["w"])]))], ["w"], "rw", "deny"],
    [
      "after approval, if writing needs approval",
      [chain(link("r", [run, write(["w"], { ask: 1 })]))],
      ["w"],
      "rw",
      "ask",
    ],
    ["not with an expired grant", [chain(link("r", [run, write(["w"], { expires: 1 })]))], ["w"], "rw", "deny"],
  ];
  test("in a protected path only if a grant names that path", () => {
    const keys = { segments: ["w", "keys"], guarded: [false, true] };
    const asked: Request = { verb: verb("proc.exec"), values: [keys, segmentsOf(["make"]), "rw"] };
    const runs = grant("proc.exec", [
      { kind: "sequences", of: [tree(["w", "keys"])] },
      ANY,
      { kind: "words", of: ["ro", "rw"] },
    ]);
    const outcome = (...grants: readonly Grant[]): string =>
      judge([chain(link("r", [...grants]))], asked, moment()).outcome;
    expect(outcome(runs, write(["w"]))).toBe("deny");
    expect(outcome(runs, write(["w", "keys"]))).toBe("allow");
  });

  for (const [title, authority, root, mode, outcome] of rows) {
    test(title, () => {
      const decision = judge(authority, request(root, mode), moment());
      expect(decision.outcome).toBe(outcome);
      if (decision.outcome === "deny")
        expect(decision).toMatchObject({ code: "scope_violation", at: { axis: "mode" } });
    });
  }
});
