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

const PINNED = `npm: a@1.0.0, integrity: "sha512-${"A".repeat(86)}==", lock: "sha256-${"0".repeat(64)}"`;

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
      endpoint: {
        kind: "program",
        command: ["docs-server"],
        environment: [{ name: "A", text: "1", secret: null }],
        runtime: [["work", "lib"]],
      },
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
    ["servers: { docs: {} }", "needs `command` or `url`"],
    ["servers: { docs: { command: [] } }", "1 to"],
    ["servers: { docs: { command: docs-server } }", "must be a list"],
    ["servers: { docs: { command: [a, 1] } }", "must be text"],
    ["servers: { docs: { command: [a], args: [b] } }", "unknown key"],
    ["servers: { docs: { command: [a], requires: { fs.read: {} } } }", "must be a list"],
    ["servers: { docs: { command: [a], requires: [proc.exec: { cmds: [git] }] } }", "cannot provide"],
    ["servers: { docs: { command: [a], requires: [net.get: { hosts: [a.example] }] } }", "cannot provide"],
    ["servers: { docs: { command: [a], requires: [fs.read: { in: docs, ask: true }] } }", "runs for many calls"],
    ["servers: { docs: { command: [a], env: { LD_PRELOAD: x } } }", "set by the sandbox"],
    ["servers: { docs: { command: [a], env: { PATH: x } } }", "set by the sandbox"],
    ["servers: { docs: { command: [a], env: [A] } }", "a map from variables"],
    ["servers: { docs: { command: [a], clean: true } }", "a setting of the user"],
    ["servers: { docs: { command: [a], runtime: [/opt/tools] } }", "outside the project"],
    ["servers: { docs: { command: [a], tools: { read: { fs.read: path } } } }", "looks like"],
    ["servers: { a-b: { command: [a] }, ab: { command: [a] } }", "looks like"],
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
    expect(servers[0]).toMatchObject({ isClean: true, endpoint: { runtime: [["opt", "tools"]] } });
  });

  test.each([
    ["My_Docs", "my-docs"],
    ["9", "docs"],
  ])("named %s is refused with a name that could stand there", (name, fix) => {
    expect(read(`servers: { ${name}: { command: [a] } }`).diagnostics[0]).toMatchObject({ fix });
  });

  test("from a package is pinned by version, integrity and lock", () => {
    const { servers, diagnostics } = read(`servers: { docs: { command: [a], package: { ${PINNED} } } }`);
    expect(diagnostics).toEqual([]);
    expect(servers[0]?.endpoint).toMatchObject({ package: { name: "a", version: "1.0.0", hasScripts: false } });
    const python = read(
      `servers: { docs: { command: [a], package: { ${PINNED.replace(/npm: [^,]+/, "pypi: 'A_b[x]==1.0'")} } } }`,
    );
    expect(python.diagnostics).toEqual([]);
    expect(python.servers[0]?.endpoint).toMatchObject({ package: { kind: "pypi", name: "a-b[x]", version: "1.0" } });
  });

  test("at an address reaches that host and that port", () => {
    const { servers, diagnostics } = read(
      'servers: { docs: { url: "https://mcp.example:8443/mcp?a=1", headers: { Authorization: "Bearer {{secret:t}}" } } }',
    );
    expect(diagnostics).toEqual([]);
    expect(servers[0]?.requires.map((grant) => compactText(grant))).toEqual([
      "net.connect{hosts=[mcp.example],ports=[8443]}",
    ]);
    expect(servers[0]?.endpoint).toMatchObject({ kind: "http", headers: [["Authorization", "Bearer {{secret:t}}"]] });
  });

  test.each([
    ["url: http://mcp.example/mcp", "without TLS"],
    ["url: http://localhost:80/mcp", "without TLS"],
    ["url: http://127.0.0.1.example/mcp", "without TLS"],
    ["url: https://a@mcp.example/", "username or password"],
    ["url: ftp://mcp.example/", "not an http or https URL"],
    ["url: 'https://mcp.example/#part'", "no fragment"],
    ["url: [a]", "is text"],
    ["url: 'https://mcp.example/{{secret:t}}'", "not in the path"],
    ["url: 'https://mcp.example/', headers: { Authorization: abc }", "is a credential"],
    ["url: 'https://mcp.example/', headers: { X-Api-Key: abc }", "is a credential"],
    ["url: 'https://mcp.example/', headers: { Private-Token: abc }", "is a credential"],
    ["url: 'https://mcp.example/?token=abc'", "is a credential"],
    ["url: 'https://mcp.example/?a=1&api_key=abc'", "is a credential"],
    ["url: 'https://mcp.example/', headers: { A: x, a: y }", "written twice"],
    ["url: 'https://mcp.example/', headers: { A: \"x\\ny\" }", "contains characters that are not allowed in a header"],
    ["url: 'https://mcp.example/', headers: { A: 1 }", "is text"],
    ["url: 'https://mcp.example/', headers: [A]", "a map from"],
    ["url: 'https://mcp.example/', runtime: [a]", "no `runtime`"],
    ["command: [a], package: { npm: a@^1, integrity: x, lock: y }", "exact version"],
    ["command: [a], package: { npm: 'git+https://a.test/b@1.0.0' }", "exact version"],
    ["command: [a], package: { npm: a@1.0.0, integrity: sha1-abc, lock: y }", "pinned by `integrity` and `lock`"],
    ["command: [a], package: { npm: a@1.0.0, lock: y }", "pinned by `integrity` and `lock`"],
    ["command: [a], package: { npm: a@1.0.0, more: 1 }", "unknown key"],
    [`command: [a], package: { ${PINNED}, pypi: a==1.0 }`, "not of both"],
    [`command: [a], package: { ${PINNED.replace(/npm: [^,]+/, "pypi: a>=1.0")} }`, "exact version: name==1.2.3"],
    [`command: [a], package: { ${PINNED.replace(/npm: [^,]+/, "pypi: 'git+https://a.test/b'")} }`, "exact version"],
    [`command: [a], package: { ${PINNED.replace(/npm: [^,]+/, "pypi: a==1.0")}, scripts: true }`, "no install scripts"],
    ["command: [a], package: a@1.0.0", "is a map"],
    [`command: [/bin/sh], package: { ${PINNED} }`, "is not a program of a package"],
    [`command: ["../sh"], package: { ${PINNED} }`, "is not a program of a package"],
    [`command: [a], package: { ${PINNED}, scripts: maybe }`, "must be true or false"],
    [`url: 'https://mcp.example/', package: { ${PINNED} }`, "no `package`"],
    ["command: [a], headers: { A: b }", "for a server with a `url`"],
    ["command: [a], env: { A: { secret: t } }", "reveal: true"],
    ["command: [a], env: { A: { secret: t, reveal: false } }", "reveal: true"],
    ["command: [a], env: { A: { secret: '', reveal: true } }", "name of a stored secret"],
    ["command: [a], env: { A: { secret: t, reveal: true, more: 1 } }", "unknown key"],
    ["command: [a], env: { A: '{{secret:t}}' }", "the program would receive this text"],
  ])("of the user with %s is refused", (rest, message) => {
    const { servers, diagnostics } = read(`servers: { docs: { ${rest} } }`, "user");
    expect(diagnostics.map((one) => one.message).join("\n")).toContain(message);
    expect(servers).toEqual([]);
  });

  test("reveals a secret in the user's own file only", () => {
    const text = "servers: { docs: { command: [a], env: { A: { secret: t, reveal: true } } } }";
    expect(read(text, "user").servers[0]?.endpoint).toMatchObject({
      environment: [{ name: "A", text: null, secret: "t" }],
    });
    expect(read(text, "project").servers).toEqual([]);
  });
});
