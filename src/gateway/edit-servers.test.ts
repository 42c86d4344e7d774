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
    ["servers: 7\n", "not a map"],
    ["servers: [\n", "cannot be parsed"],
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

describe("the package of a server", () => {
  const pin = {
    ...{ kind: "npm" as const, name: "@a/server", version: "1.0.0" },
    ...{ integrity: "sha512-x", lock: "sha256-y", hasScripts: false },
  };
  const edit: ServerEdit = { kind: "package", name: "a", command: ["server", "/"], package: pin };
  const LINE = 'package: { npm: "@a/server@1.0.0", integrity: "sha512-x", lock: "sha256-y" }';

  test("follows the command, and every other character stays", () => {
    const before = "servers:\n  a:\n    command: [npx, server] # its page\n    env: { A: b }\n  b: { command: [b] }\n";
    expect(edited(before, edit)).toBe(
      `servers:\n  a:\n    command: ["server", "/"]\n    ${LINE} # its page\n    env: { A: b }\n  b: { command: [b] }\n`,
    );
  });

  test("is of an index of Python, too", () => {
    const python = { ...pin, kind: "pypi" as const, name: "server[cli]", version: "1.0" };
    expect(edited("servers:\n  a: { command: [uvx, server] }\n", { ...edit, package: python })).toBe(
      `servers:\n  a: { command: ["server", "/"], ${LINE.replace("npm", "pypi").replace("@a/server@1.0.0", "server[cli]==1.0")} }\n`,
    );
  });

  test("replaces the pin before, whichever comes first, also in braces", () => {
    const before = "servers:\n  a: { package: { npm: x }, command: [x], enabled: false }\n";
    expect(edited(before, edit)).toBe(`servers:\n  a: { ${LINE}, command: ["server", "/"], enabled: false }\n`);
    expect(edited("servers:\n  a: { command: [x] }\n", edit)).toBe(
      `servers:\n  a: { command: ["server", "/"], ${LINE} }\n`,
    );
  });

  test("is not written into a form that cannot be replaced", () => {
    const listed = "servers:\n  a:\n    command:\n      - npx\n      - server\n";
    expect(edited(listed, edit)).toMatch(/^refused: /);
    expect(edited("servers:\n  b: { command: [b] }\n", edit)).toMatch(/^refused: there is no server a/);
  });
});
