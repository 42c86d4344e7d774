// `mcp.yml`: what is read, and what is refused with its place.
import { describe, expect, test } from "vitest";
import { readYaml } from "../../../text/yaml.ts";
import type { ConfigLevel } from "../config/config-keys.ts";
import { compactText } from "../printer.ts";
import type { Reading } from "../reading.ts";
import { readServerFile, type ServerFile } from "./server-file.ts";

const READING: Reading = {
  pathSettings: { base: ["work"], home: ["home", "me"], protectedPaths: [["home", "me", ".ssh"]] },
  toAscii: (name) => name,
  ceiling: ["work"],
};

function read(text: string, level: ConfigLevel = "project"): ServerFile {
  const { tree } = readYaml({ name: "mcp.yml", text });
  if (tree === null) throw new Error("no YAML");
  return readServerFile(tree, level, READING);
}

const one = (rest: string): string => `servers:\n  docs:\n    command: [docs-server]\n${rest}`;

describe("a server", () => {
  test("has exactly what is written", () => {
    const file = read(
      one(
        '    requires: [{ fs.read: { in: docs } }, "net.connect{hosts=[a.example],ports=[443]}"]\n    env: { A: "1" }\n    runtime: [lib]\n    tools: { read: { fs.read: $.path } }\n    enabled: false\n',
      ),
    );
    expect(file.diagnostics).toEqual([]);
    const [server] = file.servers;
    expect(server).toMatchObject({
      name: "docs",
      command: ["docs-server"],
      environment: [["A", "1"]],
      runtime: [["work", "lib"]],
      isEnabled: false,
      isClean: false,
    });
    expect(server?.requires.map((grant) => compactText(grant))).toEqual([
      "fs.read{in=/work/docs}",
      "net.connect{hosts=[a.example],ports=[443]}",
    ]);
    expect(server?.maps.get("read")).toHaveLength(1);
  });

  test("without `requires` reaches nothing", () => {
    expect(read(one("")).servers[0]?.requires).toEqual([]);
  });

  test.each([
    ["servers: []", "a map from names"],
    ["server: {}", "unknown key"],
    ["servers: { Docs: { command: [a] } }", "lower-case"],
    ["servers: { a_b: { command: [a] } }", "lower-case"],
    ["servers: { docs: {} }", "does not say how it is started"],
    ["servers: { docs: { command: [] } }", "1 to"],
    ["servers: { docs: { command: docs-server } }", "must be a list"],
    ["servers: { docs: { command: [a, 1] } }", "holds text"],
    ["servers: { docs: { command: [a], args: [b] } }", "unknown key"],
    ["servers: { docs: { command: [a], requires: { fs.read: {} } } }", "must be a list"],
    ["servers: { docs: { command: [a], requires: [proc.exec: { cmds: [git] }] } }", "cannot give"],
    ["servers: { docs: { command: [a], requires: [net.get: { hosts: [a.example] }] } }", "cannot give"],
    ["servers: { docs: { command: [a], requires: [fs.read: { in: docs, ask: true }] } }", "runs for many calls"],
    ["servers: { docs: { command: [a], env: { LD_PRELOAD: x } } }", "set by the sandbox"],
    ["servers: { docs: { command: [a], env: { PATH: x } } }", "set by the sandbox"],
    ["servers: { docs: { command: [a], env: [A] } }", "a map from variables"],
    ["servers: { docs: { command: [a], clean: true } }", "the user's to say"],
    ["servers: { docs: { command: [a], runtime: [/opt/tools] } }", "outside the project"],
    ["servers: { docs: { command: [a], tools: { read: { fs.read: path } } } }", "written like"],
    ["servers: { a-b: { command: [a] }, ab: { command: [a] } }", "reads like"],
  ])("%s is refused", (text, message) => {
    const { servers, diagnostics } = read(text);
    expect(diagnostics.map((one) => one.message).join("\n")).toContain(message);
    expect(diagnostics.every(({ span }) => span.end >= span.start && span.source === "mcp.yml")).toBe(true);
    expect(servers.map(({ name }) => name)).toEqual(text.includes("a-b") ? ["a-b"] : []);
  });

  test("of a project never reaches beyond the project", () => {
    const { servers } = read(one("    requires: [{ fs.read: { in: /etc } }]\n"));
    expect(servers.flatMap(({ requires }) => requires.map((grant) => compactText(grant)))).not.toContain(
      "fs.read{in=/etc}",
    );
  });

  test("of the user may be clean, and see programs elsewhere", () => {
    const { servers } = read("servers: { docs: { command: [a], clean: true, runtime: [/opt/tools] } }", "user");
    expect(servers[0]).toMatchObject({ isClean: true, runtime: [["opt", "tools"]] });
  });
});
