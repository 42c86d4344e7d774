// An element of a list is taken out of a JSON text: the rest stays as it is written, comments and odd spacing included.
import { expect, test } from "vitest";
import type { Json } from "../core/base/json.ts";
import { valueAt, withoutElements } from "./json-edit.ts";

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
