// The rule under a real ESLint. Where there is none the tests say that they were not run.
import assert from "node:assert/strict";
import { test } from "node:test";
import plugin from "../index.mjs";
import { CLEAN, FOUND } from "./cases.mjs";

/** Another installed copy can be named, to try another version. */
const { Linter } = await import(process.env.AMBIT_ESLINT ?? "eslint").catch(() => ({ Linter: null }));
const options = Linter === null ? { skip: "eslint is not installed" } : {};

/** TypeScript is for whoever has its parser; what the rule needs of it is tried by the nodes' shape alone. */
const mine = ({ typescript = false, only = ["eslint"] }) => !typescript && only.includes("eslint");

function messagesOf(code, more = {}) {
  const linter = new Linter({ configType: "flat" });
  const config = {
    files: ["**/*.mjs"],
    languageOptions: { ecmaVersion: "latest", sourceType: "module" },
    plugins: { ambit: plugin },
    rules: { "ambit/no-ambient-authority": ["error", more] },
  };
  return linter.verify(code, [config], "tool.mjs");
}

for (const row of FOUND.filter(mine))
  test(`is found: ${row.code}`, options, () => {
    const found = messagesOf(row.code);
    assert.ok(found.length > 0);
    for (const one of found) {
      assert.equal(one.ruleId, "ambit/no-ambient-authority", one.message);
      assert.match(one.message, /Use .+\.$/);
    }
  });

for (const row of CLEAN.filter(mine))
  test(`is left alone: ${row.code}`, options, () => {
    assert.deepEqual(messagesOf(row.code), []);
  });

test("a message says what is reached and what to use instead, at its place", options, () => {
  const [found] = messagesOf('const a = 1;\nimport fs from "node:fs";');
  assert.equal(found.line, 2);
  assert.equal(found.column, 16);
  assert.equal(found.message, '"node:fs" reaches files outside of what the tool declares. Use context.files.');
});

test("a name that is allowed is left alone, and no other", options, () => {
  assert.deepEqual(messagesOf("fetch(url);", { allow: ["fetch"] }), []);
  assert.equal(messagesOf("fetch(url); eval(x);", { allow: ["fetch"] }).length, 1);
});

test("the recommended configuration turns it on", options, () => {
  const linter = new Linter({ configType: "flat" });
  const [found] = linter.verify("eval(x);", [plugin.configs.recommended], "tool.js");
  assert.equal(found.severity, 2);
  assert.equal(found.ruleId, "ambit/no-ambient-authority");
});
