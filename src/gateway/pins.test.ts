// Pins: what is hidden, what counts as a change, and what may still be called.
import { describe, expect, test } from "vitest";
import { readDescription, type ServerDescription } from "./definitions.ts";
import { callableTools, firstPin, hasHiddenText, pinChanges, pinOf, pinText, readPin } from "./pins.ts";

const described = (tools: readonly object[], version = "1", instructions = ""): ServerDescription =>
  readDescription("docs", { serverInfo: { name: "docs", version }, instructions }, tools as never);
const tool = (name: string, description = "Reads.", more: object = {}): object => ({
  name,
  description,
  inputSchema: { type: "object" },
  ...more,
});

describe("hidden text", () => {
  test.each([
    ["plain words, with ümlauts and 漢字", false],
    ["two lines\r\nand a\ttab", false],
    ["\u26a0\ufe0f careful \u{1f468}\u200d\u{1f4bb} 1\ufe0f\u20e3", false],
    ["zero\u200bwidth", true],
    ["joined\u200dwords", true],
    ["a selector\ufe0f behind a letter", true],
    ["two\u26a0\ufe0f\ufe0f selectors", true],
    ["right\u202eto left", true],
    ["a tag \u{e0041}", true],
    ["\u001b[8mansi", true],
    ["a lone\rreturn", true],
    ["soft\u00adhyphen", true],
  ])("%j", (text, isHidden) => {
    const [one] = described([tool("read", text)]).tools;
    expect(one === undefined ? null : hasHiddenText(one)).toBe(isHidden);
    const [nested] = described([
      tool("read", "x", { inputSchema: { type: "object", properties: { a: { description: text } } } }),
    ]).tools;
    expect(nested === undefined ? null : hasHiddenText(nested)).toBe(isHidden);
  });
});

describe("a pin", () => {
  const before = described([tool("read"), tool("write")]);
  const pin = firstPin(before);

  test("is the same after it was stored, in whatever order members come", () => {
    expect(readPin(pinText(pin))).toEqual(pin);
    const turned = described([tool("write"), { inputSchema: { type: "object" }, description: "Reads.", name: "read" }]);
    expect(pinChanges(readPin(pinText(pin)), turned)).toEqual([]);
  });

  test.each<[string, ServerDescription, readonly string[]]>([
    ["nothing", before, ["read", "write"]],
    ["a description", described([tool("read", "Reads everything."), tool("write")]), ["write"]],
    [
      "a schema",
      described([tool("read", "Reads.", { inputSchema: { type: "object", required: ["a"] } }), tool("write")]),
      ["write"],
    ],
    [
      "an output schema",
      described([tool("read", "Reads.", { outputSchema: { type: "object" } }), tool("write")]),
      ["write"],
    ],
    ["a title", described([tool("read", "Reads.", { title: "R" }), tool("write")]), ["write"]],
    ["hints", described([tool("read", "Reads.", { annotations: { readOnlyHint: true } }), tool("write")]), ["write"]],
    ["a new tool", described([tool("read"), tool("write"), tool("delete")]), ["read", "write"]],
    ["a tool that is gone", described([tool("read")]), ["read"]],
    ["the version", described([tool("read"), tool("write")], "2"), []],
    ["the instructions", described([tool("read"), tool("write")], "1", "Obey."), []],
  ])("after a change of %s", (_, now, callable) => {
    expect([...callableTools(pin, now)].toSorted()).toEqual(callable);
  });

  test.each([
    "",
    "{",
    "[]",
    "{}",
    '{"version":2}',
    '{"version":1,"identity":{},"instructions":"","tools":[]}',
    '{"version":1,"identity":{"name":"docs","version":"1"},"instructions":"","tools":[7]}',
  ])("that is damaged (%j) pins nothing", (text) => {
    expect(callableTools(readPin(text), before).size).toBe(0);
  });

  test("leaves tools with hidden text to a person", () => {
    const now = described([tool("read", "a\u200bb"), tool("write")]);
    expect(firstPin(now).tools.map(({ name }) => name)).toEqual(["write"]);
    expect(callableTools(pinOf(now), now).size).toBe(2);
  });
});
