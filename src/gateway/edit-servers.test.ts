// Edits of `mcp.yml`: one entry changes, and every other character stays.
import { describe, expect, test } from "vitest";
import { readYaml } from "../text/yaml.ts";
import { editServers, type ServerEdit } from "./edit-servers.ts";

const edited = (text: string, edit: ServerEdit): string => {
  const result = editServers({ name: "mcp.yml", text }, edit, (source) => readYaml(source).tree);
  return result.ok ? result.text : `refused: ${result.message}`;
};

const add = (name: string): ServerEdit => ({
  kind: "add",
  name,
  server: {
    endpoint: {
      kind: "program",
      command: ["node", "a b.js"],
      runtime: ["lib"],
      environment: [
        ["A", "1: x"],
        ["KEY", { secret: "api-key" }],
      ],
    },
    requires: ["fs.read{in=docs}"],
  },
});
const LINES = `  new:
    command: ["node", "a b.js"]
    requires:
      - "fs.read{in=docs}"
    runtime: ["lib"]
    env:
      A: "1: x"
      KEY: { secret: "api-key", reveal: true }
`;

const TEXT = `# head
servers:
  # of a
  a:   # beside
    command: [a]   # why
    requires:
      - fs.read{in=docs}   # kept

  # of b
  b: { command: [b] }
# foot
`;

describe("adding", () => {
  test.each([
    ["", `servers:\n${LINES}`],
    ["# only a comment\n", `# only a comment\nservers:\n${LINES}`],
    ["servers:\n", `servers:\n${LINES}`],
    ["servers: {}\n", `servers:\n${LINES}`],
    ["servers: # all of them\n", `servers: # all of them\n${LINES}`],
    ["servers:\n  a: { command: [a] }", `servers:\n  a: { command: [a] }\n${LINES}`],
    [TEXT, TEXT.replace("  b: { command: [b] }\n", `  b: { command: [b] }\n${LINES}`)],
  ])("to %j", (before, after) => {
    expect(edited(before, add("new"))).toBe(after);
  });

  test.each([
    ["servers: { a: { command: [a] } }\n", "braces"],
    [TEXT.replace("a:   #", "new:   #"), "already"],
    ["servers: 7\n", "no map"],
    ["servers: [\n", "cannot be read"],
  ])("to %j is refused", (before, why) => {
    expect(edited(before, add("new"))).toMatch(new RegExp(`^refused: .*${why}`));
  });
});

describe("removing", () => {
  test("takes the lines of the entry alone", () => {
    expect(edited(TEXT, { kind: "remove", name: "a" })).toBe(`# head
servers:
  # of a

  # of b
  b: { command: [b] }
# foot
`);
    expect(edited(TEXT, { kind: "remove", name: "b" })).toBe(TEXT.replace("  b: { command: [b] }\n", ""));
    expect(edited(TEXT, { kind: "remove", name: "c" })).toContain("there is no server c");
  });
});

describe("switching", () => {
  test("adds one line, or changes one word", () => {
    const off = edited(TEXT, { kind: "switch", name: "a", isEnabled: false });
    expect(off).toBe(TEXT.replace("    command: [a]", "    enabled: false\n    command: [a]"));
    expect(edited(off, { kind: "switch", name: "a", isEnabled: true })).toBe(off.replace("false", "true"));
    expect(edited(TEXT, { kind: "switch", name: "b", isEnabled: false })).toBe(
      TEXT.replace("b: { command", "b: { enabled: false, command"),
    );
  });
});
