// Decisions during a call: never more than is held now, and nothing is approved twice.
import { describe, expect, test } from "vitest";
import { chain, grant, link, moment, verb } from "../../../test/forge/authority.ts";
import { guardPath, tree } from "../../core/authority/axes/path.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import type { Conditions } from "../../core/authority/grant.ts";
import type { Request } from "../../core/authority/request.ts";
import { changeJudge, contextJudge } from "./context-judge.ts";

function names(text: string): readonly string[] {
  return text.split("/").filter((name) => name !== "");
}

function request(text: string): Request {
  const [name = "", path = ""] = text.split(" ");
  const asked = { verb: verb(name.replace("!", "")), values: [guardPath(names(path), [["p", "keys"]])] };
  // `fs.write!`: marked as a trigger by the gate's rule, and therefore approved.
  return name.endsWith("!") ? { ...asked, isTrigger: true } : asked;
}

type Written = readonly [verb: string, root: string, conditions?: Partial<Conditions>];

function holds(...written: readonly Written[]): Authority {
  const grants = written.map(([name, root, conditions]) =>
    grant(name, [{ kind: "sequences", of: [tree(names(root))] }], conditions),
  );
  return [chain(link("record", grants))];
}

function decided(authority: Authority, asked: readonly string[], met: string, more: Partial<Moment> = {}): string {
  const classOf = (path: readonly string[]) =>
    path.includes(".git") ? "never" : path.includes(".envrc") ? "ask" : "free";
  const requests = asked.map(request);
  const held = { authority, moment: moment(more) };
  const decide = contextJudge({ requests, holds: () => held, once: null });
  const judge = changeJudge(requests, { classOf, makesFolders: true }, decide);
  const decision = judge(request(met));
  return decision.outcome === "deny" ? decision.code : decision.outcome;
}

describe("a call's own judge", () => {
  const plain = holds(["fs.read", "/p"], ["fs.write", "/p"]);
  const asking = holds(
    ["fs.read", "/p", { ask: 1 }],
    ["fs.read", "/q", { ask: 1 }],
    ["fs.read", "/p/deep", { ask: 2 }],
  );
  const counted = holds(["fs.read", "/p", { calls: 1 }]);

  test.each<[string, Authority, readonly string[], string, string]>([
    ["what was decided", plain, ["fs.read /p/a"], "fs.read /p/a", "allow"],
    ["another held grant", plain, ["fs.read /p/a"], "fs.read /p/b", "allow"],
    ["what is not held", plain, ["fs.read /p/a"], "fs.read /q", "scope_violation"],
    ["what was decided and is no longer held", plain, ["fs.read /q"], "fs.read /q", "scope_violation"],
    ["another verb", plain, ["fs.read /p/a"], "fs.delete /p/a", "capability_absent"],
    ["a protected name", plain, ["fs.read /p"], "fs.read /p/keys/id", "scope_violation"],
    ["a kept name, read", plain, ["fs.read /p"], "fs.read /p/.git/config", "allow"],
    ["a kept name, written", plain, ["fs.write /p/.git/config"], "fs.write /p/.git/config", "self_modification"],
    ["a trigger, read", plain, ["fs.read /p"], "fs.read /p/.envrc", "allow"],
    ["an approved trigger", plain, ["fs.write! /p/.envrc"], "fs.write /p/.envrc", "allow"],
    ["a trigger without an approval", plain, ["fs.write /p/.envrc"], "fs.write /p/.envrc", "approval_required"],
    ["a trigger beside an approved one", plain, ["fs.write! /p/.envrc"], "fs.write /p/a/.envrc", "approval_required"],
    ["a trigger in a folder that was decided", plain, ["fs.write! /p"], "fs.write /p/.envrc", "approval_required"],
    ["the folder above a trigger's file", plain, ["fs.write! /p/.envrc/a"], "fs.write /p/.envrc", "allow"],
    ["what was approved", asking, ["fs.read /p/a"], "fs.read /p/a", "allow"],
    ["a path below what was approved", asking, ["fs.read /p"], "fs.read /p/a/b", "allow"],
    ["a path beside what was approved", asking, ["fs.read /p/a"], "fs.read /p/b", "approval_required"],
    ["a path with the same beginning", asking, ["fs.read /p/a"], "fs.read /p/ab", "approval_required"],
    ["what another grant requires approval for", asking, ["fs.read /p"], "fs.read /q/a", "approval_required"],
    ["what was paid for", counted, ["fs.read /p/a"], "fs.read /p/a", "allow"],
    ["what was not paid for", counted, ["fs.read /p/a"], "fs.read /p/b", "budget_exhausted"],
  ])("%s", (_, authority, asked, met, expected) => {
    expect(decided(authority, asked, met)).toBe(expected);
  });

  test("a revoked or expired grant does not apply, whatever was decided", () => {
    expect(decided(plain, ["fs.read /p/a"], "fs.read /p/a", { revoked: () => true })).toBe("revoked");
    const ending = holds(["fs.read", "/p", { expires: 1_500 }]);
    expect(decided(ending, ["fs.read /p/a"], "fs.read /p/a", { now: 1_499 })).toBe("allow");
    expect(decided(ending, ["fs.read /p/a"], "fs.read /p/a", { now: 1_500 })).toBe("expired");
    const judge = contextJudge({ requests: [request("fs.read /p/a")], holds: () => null, once: null });
    expect(judge(request("fs.read /p/a"))).toMatchObject({ outcome: "deny", code: "revoked" });
  });

  test("a stricter approval below an approved folder is required", () => {
    const stricter: Authority = [
      chain(
        link("record", [grant("fs.read", [{ kind: "sequences", of: [tree(["p"])] }], { ask: 1 })]),
        link("limit", [
          grant("fs.read", [{ kind: "sequences", of: [[...tree(["p"]).slice(0, 1)]] }]),
          grant("fs.read", [{ kind: "sequences", of: [tree(["p", "deep"])] }], { ask: 2 }),
        ]),
      ),
    ];
    expect(decided(stricter, ["fs.read /p"], "fs.read /p/deep/a")).toBe("approval_required");
  });
});
