// The ESLint rule under the real ESLint.
import { Linter } from "eslint";
import { expect, test } from "vitest";
import { AMBIENT, CLEAN } from "../testing/ambient-cases.ts";
import { plugin } from "./eslint-plugin.ts";

function messages(code: string, options: object = {}): readonly Linter.LintMessage[] {
  const config = {
    files: ["**/*.mjs"],
    languageOptions: { ecmaVersion: "latest", sourceType: "module" },
    plugins: { ambit: plugin },
    rules: { "ambit/no-ambient-authority": ["error", options] },
  };
  return new Linter({ configType: "flat" }).verify(code, [config as unknown as Linter.Config], "tool.mjs");
}

/** ESLint without another parser parses JavaScript alone. */
const isJavaScript = (code: string): boolean => messages(code).every(({ fatal }) => fatal !== true);

test("the tables contain JavaScript that ESLint parses", () => {
  expect(AMBIENT.filter(isJavaScript).length).toBeGreaterThan(50);
  expect(CLEAN.filter(isJavaScript).length).toBeGreaterThan(10);
});

test.each(AMBIENT.filter(isJavaScript))("reports %s", (code) => {
  const found = messages(code);
  expect(found.length).toBeGreaterThan(0);
  for (const { ruleId, message } of found) {
    expect(ruleId).toBe("ambit/no-ambient-authority");
    expect(message).toMatch(/Use .+\.$/);
  }
});

test.each(CLEAN.filter(isJavaScript))("accepts %s", (code) => expect(messages(code)).toEqual([]));

test("a message names the use and its replacement, at its position", () => {
  expect(messages('const a = 1;\nimport fs from "node:fs";')).toMatchObject([
    {
      ...{ line: 2, column: 16 },
      message: "`node:fs` reaches files outside the tool's declaration. Use context.files.",
    },
  ]);
});

test("a position counts from the first character also after a byte order mark", () => {
  expect(messages("\ufefffetch(url);")).toMatchObject([{ line: 1, column: 1 }]);
});

test("an allowed name is accepted, and no other", () => {
  expect(messages("fetch(url);", { allow: ["fetch"] })).toEqual([]);
  expect(messages("fetch(url); eval(x);", { allow: ["fetch"] })).toHaveLength(1);
});

test("a file that is too large is reported", { timeout: 60_000 }, () => {
  expect(messages("a;".repeat(300_000))).toMatchObject([{ messageId: "large" }]);
});

test("the recommended configuration turns the rule on", () => {
  const linter = new Linter({ configType: "flat" });
  expect(linter.verify("eval(x);", [plugin.configs.recommended as Linter.Config], "tool.js")).toMatchObject([
    { severity: 2, ruleId: "ambit/no-ambient-authority" },
  ]);
});
