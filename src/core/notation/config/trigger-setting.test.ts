// `triggers` of a config.yml: parsed with its errors reported, and never wider than written.
import { describe, expect, test } from "vitest";
import type { Json } from "../../base/json.ts";
import { HOSTILE_TEXTS } from "../testing/coverage.ts";
import { diagnosticLines, READING, treeOf } from "../testing/notation.ts";
import { readConfig } from "./config.ts";
import type { ConfigLevel } from "./config-keys.ts";

function read(level: ConfigLevel, triggers: Json): ReturnType<typeof readConfig> {
  return readConfig(treeOf({ triggers }), level, READING);
}

test("names are parsed with their class", () => {
  const config = read("user", { allow: ["AGENTS.md"], ask: ["/Makefile", "a/b/"], never: ["~/.x", "*.cfg"] });
  expect(diagnosticLines(config.diagnostics)).toEqual([]);
  expect(config.triggers.rules).toEqual([
    { class: "allow", names: ["AGENTS.md"], place: "anywhere" },
    { class: "ask", names: ["Makefile"], place: "top" },
    { class: "ask", names: ["a", "b"], place: "anywhere" },
    { class: "never", names: [".x"], place: "home" },
    { class: "never", names: ["*.cfg"], place: "anywhere" },
  ]);
});

describe("mistakes break the level", () => {
  test.each<[string, ConfigLevel, Json, string]>([
    ["a list", "user", [], "error wrong_type triggers"],
    ["a class that does not exist", "user", { alow: ["x"] }, "error unknown_key triggers.alow:"],
    ["a text", "user", { ask: "x" }, "error wrong_type triggers.ask"],
    ["a project that allows", "project", { allow: ["x"] }, "error unknown_key triggers.allow:"],
    ["git", "user", { ask: [".git/hooks"] }, "error bad_value triggers.ask[0]"],
    ["our files in another case", "user", { allow: ["a/.Ambit"] }, "error bad_value triggers.allow[0]"],
    ["an empty name", "user", { ask: [""] }, "error bad_value triggers.ask[0]"],
    ["a parent path", "user", { ask: ["../x"] }, "error bad_value triggers.ask[0]"],
    ["everything", "user", { allow: ["*"] }, "error bad_value triggers.allow[0]"],
    ["two stars", "user", { ask: ["**/x"] }, "error bad_value triggers.ask[0]"],
    ["a long one", "user", { ask: ["x".repeat(300)] }, "error bad_value triggers.ask[0]"],
    ["a deep one", "user", { ask: ["a/a/a/a/a/a/a/a/a"] }, "error bad_value triggers.ask[0]"],
  ])("%s", (_, level, triggers, said) => {
    const config = read(level, triggers);
    expect(diagnosticLines(config.diagnostics)[0]?.startsWith(said), diagnosticLines(config.diagnostics)[0]).toBe(true);
    expect(config.broken).toBe(true);
  });

  test("no text makes the parser throw", () => {
    for (const text of HOSTILE_TEXTS)
      for (const value of [text, [text], { [text]: text }, { ask: [text] }]) read("user", value);
  });
});

test("a project may be stricter, and git may be named as what never lands", () => {
  expect(read("project", { ask: ["Makefile"], never: [".x", ".git"] })).toMatchObject({ broken: false });
});
