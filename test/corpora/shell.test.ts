// The runner of shell.json: every kind of policy can be missed, and none passes by silence.
import { describe, expect, test } from "vitest";
import { runShell } from "./shell.ts";
import type { Outcome } from "./tally.ts";

type Given = string | readonly string[];

function outcome(given: Given, kind: string, expected: string, policy: object = {}): Outcome {
  const input = typeof given === "string" ? { cmd: given } : { argv: given };
  const [group] = runShell({ cases: [{ ...input, expect: expected, policy: { kind, ...policy } }] });
  const [only, ...others] = group?.cases ?? [];
  if (only === undefined || others.length > 0) throw new Error("one case, one outcome");
  return only.outcome;
}

describe("a read-only command", () => {
  test.each<[Given, string, Outcome["kind"]]>([
    ["ls -la", "allow", "held"],
    ["ls -la", "deny", "missed"],
    ["ls && rm -rf a", "deny", "held"],
    ["ls\nrm -rf a", "deny", "held"],
    ["ls > a", "deny", "held"],
    ["cat < a", "allow", "held"],
    ["cat < /etc/passwd", "deny", "held"],
    ["rm a", "allow", "refused"],
    ["ls $A", "allow", "refused"],
    ["ls & ls", "allow", "inexpressible"],
    ["(ls)", "allow", "inexpressible"],
    ["cd a", "allow", "inexpressible"],
    [["bash", "-lc", "ls"], "allow", "inexpressible"],
    [["bash", "-lc", "ls"], "deny", "held"],
    ["find . -delete", "deny", "held"],
    ["git diff -p", "deny", "decided"],
    ["git diff -p && ls", "deny", "missed"],
    ["sort --help", "deny", "decided"],
  ])("%j, expected %s, is %s", (given, expected, kind) => {
    expect(outcome(given, "read_only_auto_approve", expected).kind).toBe(kind);
  });
});

describe("a line of plain words", () => {
  test.each<[Given, string, Outcome["kind"]]>([
    ["a 'b c' | d", "allow", "held"],
    ["a 'b c' | d", "deny", "missed"],
    ["a $b", "deny", "held"],
    ["a > b", "deny", "held"],
    ["a b~", "allow", "refused"],
    ["if a; then b; fi", "deny", "held"],
    ["A=b c", "deny", "held"],
    [["a"], "allow", "skipped"],
  ])("%j, expected %s, is %s", (given, expected, kind) => {
    expect(outcome(given, "plain_words_only", expected).kind).toBe(kind);
  });
});

describe("prefix rules", () => {
  const rule = (prefix: string, decision = "allow", more: object = {}) => ({ prefix, decision, ...more });
  test.each<[Given, string, readonly object[], Outcome["kind"]]>([
    ["git log -3", "allow", [rule("git log")], "held"],
    ["git log -3", "ask", [rule("git log")], "missed"],
    ["git logs", "ask", [rule("git log")], "held"],
    ["git log && ls", "ask", [rule("git log")], "held"],
    ["git log && ls", "allow", [rule("git log"), rule("ls")], "held"],
    ["git log > a", "ask", [rule("git log")], "held"],
    ["git log > a", "allow", [rule("git log", "allow", { allow_redirection: true })], "held"],
    ["ls > a", "ask", [rule("git log", "allow", { allow_redirection: true }), rule("ls")], "held"],
    ["git push", "deny", [rule("git"), rule("git push", "deny")], "skipped"],
    ["find . -delete", "ask", [rule("find")], "held"],
  ])("%j, expected %s under %j, is %s", (given, expected, rules, kind) => {
    expect(outcome(given, "prefix_rules", expected, { rules, default: "ask" }).kind).toBe(kind);
  });

  test("are skipped if everything else is allowed", () => {
    expect(outcome("ls", "prefix_rules", "deny", { rules: [], default: "allow" }).kind).toBe("skipped");
  });
});

describe("other policies", () => {
  test.each<[string, Given, string, object, Outcome["kind"]]>([
    ["destructive_needs_user_intent", "git reset --hard", "deny", {}, "held"],
    ["destructive_needs_user_intent", "git status", "deny", {}, "missed"],
    ["destructive_needs_user_intent", "git status", "allow", {}, "skipped"],
    ["allow_bin", "git log", "allow", { allowed_cmds: ["git"] }, "held"],
    ["allow_bin", "ls", "deny", { allowed_cmds: ["git"] }, "held"],
    ["allow_bin", "git log", "deny", { allowed_cmds: ["git"] }, "skipped"],
    ["allow_bin", "ls", "deny", {}, "skipped"],
    ["argv_literal", ["echo", "; id"], "literal", { allowed_cmds: ["echo"] }, "held"],
    ["argv_literal", ["echo", "$(id)\n'\"\\"], "literal", { allowed_cmds: ["echo"] }, "held"],
    ["deny_rule", "rm a", "deny", {}, "skipped"],
    ["wildcard_rule", "ls a", "allow", {}, "skipped"],
  ])("%s: %j, expected %s under %j, is %s", (kind, given, expected, policy, wanted) => {
    expect(outcome(given, kind, expected, policy).kind).toBe(wanted);
  });
});
