// An element of a list is put into a JSON text and taken out of it: the rest stays as it is written, comments and odd spacing included.
import { expect, test } from "vitest";
import type { Json } from "../core/base/json.ts";
import { valueAt, withElement, withoutElements } from "./json-edit.ts";

const isOurs = (value: Json): boolean => value === "ours";

test.each([
  ['{"a":["x","ours"]}', '{"a":["x"]}'],
  ['{"a":["x","ours" ]}', '{"a":["x" ]}'],
  ['{"a": ["ours","x"]}', '{"a": ["x"]}'],
  ['{"a": [ "ours" , "x" ]}', '{"a": [ "x" ]}'],
  ['{"a": ["x", "ours", "y"]}', '{"a": ["x", "y"]}'],
  ['{"a": ["x", "ours",]}', '{"a": ["x",]}'],
  ['{\n  "a": [\n    "x",\n    "ours"\n  ]\n}', '{\n  "a": [\n    "x"\n  ]\n}'],
  ['{"a": ["x", /* of , mine */ "ours"]}', '{"a": ["x" /* of , mine */ ]}'],
  ['{"a": ["x", // mine\n"ours"]}', '{"a": ["x" // mine\n]}'],
  ['{"a": ["ours", // mine\n"x"]}', '{"a": [ // mine\n"x"]}'],
  ['{"a": ["ours", "x", "ours"]}', '{"a": ["x"]}'],
  ['{"a": ["ours"], "b": 1}', '{"b": 1}'],
  ['{"a": ["ours",]}', "{}"],
  ['{"a": "ours"}', '{"a": "ours"}'],
])("%j", (before, after) => {
  const result = withoutElements(before, ["a"], isOurs);
  expect(result.ok ? result.value.replace(/^\{\s+\}$/, "{}").replace("{ ", "{") : result).toBe(after);
  expect(valueAt(after, []).ok).toBe(true);
});

test("a file of megabytes in one line is edited, and the rest of the line stays", () => {
  const rules = Array.from({ length: 200_000 }, (_, index) => `"Bash(x${index} *)"`).join(", ");
  const before = `{"rules": [${rules}], "a": ["x"]}`;
  const after = withElement(before, ["a"], "ours");
  expect(after).toEqual({ ok: true, value: before.replace('["x"]', '["x","ours"]') });
  expect(withoutElements(after.ok ? after.value : "", ["a"], isOurs)).toEqual({ ok: true, value: before });
});

test.each([
  ["[1]", "it is not a JSON object"],
  ['{"a": 1}', "`a` is not an object"],
  ["\u{feff}{}", "it starts with a byte order mark; save it as UTF-8 without one"],
])("%j is refused", (text, message) => {
  expect(withElement(text, ["a", "b"], "ours")).toMatchObject({ ok: false, message });
});
