// Servers of clients as entries of ours: every format, and no credential in an entry.
import { describe, expect, test } from "vitest";
import type { Json } from "../../core/base/json.ts";
import { clientServers, SERVER_SETTINGS } from "./client-servers.ts";
import { type ImportResult, importedServer } from "./import-server.ts";

const NONE = { server: () => false, secret: () => false };

function imported(client: string, value: Json, at = 0): readonly ImportResult[] {
  const settings = SERVER_SETTINGS.get(client)?.[at];
  if (settings === undefined) throw new Error(`no ${client}`);
  return clientServers(settings, value, settings.path, "/work").map((one) =>
    importedServer(one, NONE, (name) => name.toLowerCase()),
  );
}

function one(client: string, value: Json, at = 0): Extract<ImportResult, { ok: true }>["value"] {
  const [result] = imported(client, value, at);
  if (result?.ok !== true) throw new Error(result?.why ?? "nothing");
  return result.value;
}

describe("each client's own format", () => {
  const program = { kind: "program", command: ["docs", "--port", "1"], runtime: [], environment: [["LEVEL", "debug"]] };
  test.each<[string, Json, object, number?]>([
    [
      "claude",
      { mcpServers: { Docs: { type: "stdio", command: "docs", args: ["--port", "1"], env: { LEVEL: "debug" } } } },
      program,
    ],
    [
      "claude",
      {
        projects: {
          "/work": { mcpServers: { docs: { command: "docs", args: ["--port", "1"], env: { LEVEL: "debug" } } } },
          "/other": { mcpServers: { not: { command: "x" } } },
        },
      },
      program,
      1,
    ],
    ["codex", { mcp_servers: { docs: { command: "docs", args: ["--port", "1"], env: { LEVEL: "debug" } } } }, program],
    [
      "opencode",
      { mcp: { docs: { type: "local", command: ["docs", "--port", "1"], environment: { LEVEL: "debug" } } } },
      program,
    ],
    ["cursor", { mcpServers: { docs: { command: "docs", args: ["--port", "1"], env: { LEVEL: "debug" } } } }, program],
    [
      "vscode",
      {
        servers: { docs: { type: "stdio", command: "docs", args: ["--port", "1"], env: { LEVEL: "debug" } } },
        inputs: [],
      },
      program,
    ],
    ["gemini", { mcpServers: { docs: { command: "docs", args: ["--port", "1"], env: { LEVEL: "debug" } } } }, program],
    [
      "gemini",
      { mcpServers: { docs: { httpUrl: "https://a.example/mcp" } } },
      { kind: "http", url: "https://a.example/mcp", headers: [] },
    ],
    [
      "opencode",
      { mcp: { docs: { type: "remote", url: "https://a.example/mcp", headers: { "X-Team": "blue" } } } },
      { kind: "http", url: "https://a.example/mcp", headers: [["X-Team", "blue"]] },
    ],
    [
      "codex",
      { mcp_servers: { docs: { url: "https://a.example/mcp", bearer_token_env_var: "DOCS" } } },
      {
        kind: "http",
        url: "https://a.example/mcp",
        headers: [["Authorization", "Bearer {{secret:docs-authorization}}"]],
      },
    ],
  ])("%s: %j", (client, value, endpoint, at) => {
    expect(one(client, value, at ?? 0)).toMatchObject({ name: "docs", endpoint });
    expect(imported(client, value, at ?? 0)).toHaveLength(1);
  });
});

describe("values that may be credentials are stored, and named in the entry", () => {
  const VALUE = "d41d8cd98f00b204e9800998ecf8427e";
  test.each([
    ["API_KEY", VALUE],
    ["GITHUB_PERSONAL_ACCESS_TOKEN", "ghp_0123456789abcdef"],
    ["DATABASE", "postgres://me:word@db.example/x"],
    ["PLAIN_NAME", VALUE],
    ["OPTIONS", '{"Authorization": "Bearer abcdefgh"}'],
    ["SOME_PASSWORD", "correct horse battery"],
    ["HOOK", "https://hooks.example/services/T0001/B0001/abcdefghijklmnopqrstuvwx"],
    ["ID", "abc123def456"],
  ])("variable %s=%s", (name, value) => {
    const { endpoint, secrets } = one("claude", { mcpServers: { docs: { command: "docs", env: { [name]: value } } } });
    expect(JSON.stringify(endpoint)).not.toContain(value);
    expect(secrets).toMatchObject([{ value, variable: null, host: null, at: `variable ${name}` }]);
    expect(endpoint).toMatchObject({ environment: [[name, { secret: secrets[0]?.secret }]] });
  });

  test.each([
    ["LOG_LEVEL", "debug"],
    ["PORT", "8080"],
    ["DEBUG", "true"],
    ["ROOT", "/srv/docs/a b"],
    ["BASE", "https://api.example.com/v1"],
    ["MODE", "read-only"],
    ["API_KEY", ""],
  ])("variable %s=%s stays as it is", (name, value) => {
    expect(one("claude", { mcpServers: { docs: { command: "docs", env: { [name]: value } } } })).toMatchObject({
      secrets: [],
      endpoint: { environment: [[name, value]] },
    });
  });

  test("headers keep their scheme, and the secret is bound to the host", () => {
    const { endpoint, secrets } = one("cursor", {
      mcpServers: {
        tracker: {
          url: "https://a.example:8443/mcp",
          headers: { Authorization: `Bearer ${VALUE}`, "X-Api-Key": VALUE, "X-Team": "blue" },
        },
      },
    });
    expect(endpoint).toMatchObject({
      headers: [
        ["Authorization", "Bearer {{secret:tracker-authorization}}"],
        ["X-Api-Key", "{{secret:tracker-x-api-key}}"],
        ["X-Team", "blue"],
      ],
    });
    expect(secrets.map(({ value, host }) => [value, host])).toEqual([
      [VALUE, "a.example:8443"],
      [VALUE, "a.example:8443"],
    ]);
  });

  test.each([
    ["${DOCS_KEY}", "DOCS_KEY"],
    ["${env:DOCS_KEY}", "DOCS_KEY"],
    ["{env:DOCS_KEY}", "DOCS_KEY"],
    ["$DOCS_KEY", "DOCS_KEY"],
    // The client asks the person: no variable has it.
    ["${input:DOCS_KEY}", null],
  ])("%s is a reference to the variable %j, and no value", (text, variable) => {
    const { secrets } = one("vscode", { servers: { docs: { command: "docs", env: { API_KEY: text } } } });
    expect(secrets).toMatchObject([{ value: null, variable }]);
  });

  test("names of secrets are not used twice", () => {
    const settings = SERVER_SETTINGS.get("claude")?.[0];
    if (settings === undefined) throw new Error("none");
    const [server] = clientServers(
      settings,
      { mcpServers: { docs: { command: "docs", env: { A_KEY: VALUE, "a-key": `${VALUE}2` } } } },
      "f",
      null,
    );
    if (server === undefined) throw new Error("none");
    const result = importedServer(
      server,
      { server: () => false, secret: (name) => name === "docs-a-key" },
      (name) => name,
    );
    expect(result.ok && result.value.secrets.map(({ secret }) => secret)).toEqual(["docs-a-key-2", "docs-a-key-3"]);
  });
});

describe("what cannot be taken over says why", () => {
  test.each<[Json, string]>([
    [{ command: "docs", args: ["--api-key", "abcdef123456"] }, "may be a credential"],
    [{ command: "docs", args: ["--token=abcdef123456"] }, "may be a credential"],
    [{ command: "docs", args: ["postgres://me:word@db.example/x"] }, "may be a credential"],
    [{ command: "docs", args: ["sk-ant-0123456789"] }, "may be a credential"],
    [{ command: "docs", env: { TOKEN: "short" } }, "cannot be stored"],
    [{ url: "https://a.example/mcp?api_key=abcdef123456" }, "its address has a credential"],
    [{ url: "https://me:word@a.example/mcp" }, "username or password"],
    [{ url: "https://a.example/sse" }, "SSE"],
    [{ type: "sse", url: "https://a.example/x" }, "SSE"],
    [{ url: "file:///etc/passwd" }, "not an http or https URL"],
    [{ command: "docs", disabled: true }, "disabled in the client"],
    [{ command: "docs", enabled: false }, "disabled in the client"],
    [{ command: "/opt/bin/ambit", args: ["mcp", "serve"] }, "ambit itself"],
    [{ command: 7 }, "neither"],
    [{}, "neither"],
    [[], "not a map"],
    ["docs", "not a map"],
  ])("%j", (entry, why) => {
    expect(imported("claude", { mcpServers: { docs: entry } })).toMatchObject([
      { ok: false, why: expect.stringContaining(why) },
    ]);
  });

  test.each(["ünlaut", "", "---", "x".repeat(40), "123"])("the name %j", (name) => {
    expect(imported("claude", { mcpServers: { [name]: { command: "docs" } } })).toMatchObject([{ ok: false }]);
  });

  test.each<Json>([null, [], "x", { mcpServers: [] }, { mcpServers: null }, {}])("%j has no servers", (value) => {
    expect(imported("claude", value)).toEqual([]);
  });
});
