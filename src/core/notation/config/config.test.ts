import { describe, expect, test } from "vitest";
import type { Json } from "../../base/json.ts";
import { stricter } from "../policy/outer-policies.ts";
import type { PolicyTable } from "../policy/policy-table.ts";
import type { Reading } from "../reading.ts";
import { covers, HOSTILE_TEXTS } from "../testing/coverage.ts";
import { diagnosticLines, READING, treeOf } from "../testing/notation.ts";
import { type Config, readConfig } from "./config.ts";
import type { ConfigLevel } from "./config-keys.ts";

function read(level: ConfigLevel, value: Json, reading: Reading = READING): Config {
  return readConfig(treeOf(value), level, reading);
}

describe("what a level says", () => {
  test("nothing written is an empty configuration, and not a broken one", () => {
    for (const value of [null, {}]) {
      expect(read("project", value)).toMatchObject({ sandbox: null, policy: null, ceiling: null, broken: false });
    }
  });

  test("every key is parsed", () => {
    const config = read("user", {
      sandbox: "~/work",
      policy: { web: "ask" },
      agents: { scout: { code: "deny" } },
      runtime: ["/opt/tools"],
      control: "presence",
      mode: "shadow",
      bare: true,
      ceiling: ["records.read"],
    });
    expect(diagnosticLines(config.diagnostics)).toEqual([]);
    expect(config).toMatchObject({
      sandbox: ["home", "u", "work"],
      runtime: [["opt", "tools"]],
      control: "presence",
      mode: "shadow",
      bare: true,
      broken: false,
    });
    expect([...(config.policy ?? [])]).toEqual([["web", "ask"]]);
    expect([...(config.agents.get("scout") ?? [])]).toEqual([["code", "deny"]]);
  });

  test("roots are resolved to their real paths", () => {
    const realRoot = (root: readonly string[]): readonly string[] | null =>
      root[0] === "closed" ? null : ["real", ...root];
    expect(read("project", { sandbox: "/a" }, { ...READING, realRoot }).sandbox).toEqual(["real", "a"]);
    const closed = read("project", { sandbox: "/closed" }, { ...READING, realRoot });
    expect(closed).toMatchObject({ sandbox: null, broken: true });
  });
});

describe("a mistake breaks the level", () => {
  test.each<[string, ConfigLevel, Json, string, string | null]>([
    ["a near miss of a key", "project", { sandbx: "/a" }, "error unknown_key sandbx:", "sandbox"],
    ["a near miss of the user's key", "user", { cieling: [] }, "error unknown_key cieling:", "ceiling"],
    ["a list", "project", ["x"], "error wrong_type ", null],
    ["a sandbox that is not text", "project", { sandbox: 5 }, "error wrong_type sandbox", null],
    ["a sandbox with a star", "project", { sandbox: "/a/*" }, "error bad_pattern sandbox", null],
    ["a ruling that does not exist", "project", { policy: { web: "alow" } }, "error bad_value policy.web", "allow"],
    [
      "a table of an agent",
      "project",
      { agents: { a: { consullt: "ask" } } },
      "error unknown_key agents.a.consullt:",
      "consult",
    ],
    ["agents that are a list", "project", { agents: [] }, "error wrong_type agents", null],
    ["a control that does not exist", "user", { control: "none" }, "error bad_value control", null],
    ["a mode that does not exist", "user", { mode: "off" }, "error bad_value mode", null],
    ["bare that is text", "user", { bare: "yes" }, "error wrong_type bare", null],
    ["a grant of the ceiling", "user", { ceiling: ["net.gett"] }, "error unknown_verb ceiling[0]", "net.get"],
    ["two ceilings", "user", { ceiling: [], capabilities: [] }, "error unknown_key capabilities:", null],
  ])("%s", (_, level, value, said, suggestion) => {
    const config = read(level, value);
    expect(diagnosticLines(config.diagnostics)[0]).toMatch(new RegExp(`^${said.replace(/[[\]]/g, "\\$&")}`));
    expect(config.diagnostics[0]?.suggestion ?? null).toBe(suggestion);
    expect(config.broken).toBe(true);
  });

  test("a key far from all of ours is ignored with a warning", () => {
    const config = read("project", { title: "x" });
    expect(diagnosticLines(config.diagnostics)).toEqual(["warning unknown_key title:"]);
    expect(config.broken).toBe(false);
  });
});

describe("a key for the user only is an error in a project, and the message says where it belongs", () => {
  test.each<[string, Json]>([
    ["ceiling", { ceiling: ["records.read"] }],
    ["its other name", { capabilities: ["records.read"] }],
    ["control", { control: "ask" }],
    ["running bare", { bare: true }],
    ["running without a sandbox, in another spelling", { "run-bare": true }],
    ["secret references", { secrets: { token: "env:TOKEN" } }],
    ["variables of the environment", { environment: ["EDITOR"] }],
    ["limits", { limits: { seconds: 5 } }],
    ["the name resolver", { resolver: "127.0.0.1" }],
    ["certificate authorities", { certificates: ["/etc/company.pem"] }],
    ["folders of programs", { programs: { add: ["/opt/x"] } }],
    ["shadow mode", { mode: "shadow" }],
    ["agents in shadow mode", { shadow: { scout: "2026-12-01T00:00:00Z" } }],
  ])("%s", (_, value) => {
    const project = read("project", value);
    expect(project).toMatchObject({ broken: true, ceiling: null });
    expect(project.diagnostics[0]).toMatchObject({
      severity: "error",
      fix: expect.stringMatching(/user's own config/),
    });
  });

  test.each<[string, Json]>([
    ["ceiling", { ceiling: ["records.read"] }],
    ["its other name", { capabilities: ["records.read"] }],
    ["shadow mode", { mode: "shadow" }],
    ["running bare", { bare: true }],
    ["secret references", { secrets: { token: "env:TOKEN" } }],
  ])("%s may be set by the user", (_, value) => {
    expect(read("user", value).broken).toBe(false);
  });

  test.each<[Json, boolean]>([
    [{ scout: "2026-12-01T00:00:00Z" }, false],
    [{ scout: "2026-12-01T00:00:00+02:00" }, false],
    [{ scout: "2026-12-01" }, true],
    [{ scout: null }, true],
    [{ scout: true }, true],
    [{ scout: "never" }, true],
    [["scout"], true],
    ["scout", true],
  ])("shadow mode of %j has an end, or is an error: %s", (shadow, broken) => {
    const config = read("user", { mode: "shadow", shadow });
    expect([config.broken, config.shadow.size]).toEqual([broken, broken ? 0 : 1]);
  });

  test("a project may say that it is enforced", () => {
    expect(read("project", { mode: "enforce" }).broken).toBe(false);
  });
});

describe("the ceiling", () => {
  test("places no limit on tools it never mentions", () => {
    const { ceiling } = read("user", { ceiling: ["records.read"] });
    expect(covers(ceiling ?? [], "tool.invoke anything {}")).toBe(true);
    expect(covers(ceiling ?? [], "records.read id=a")).toBe(true);
    expect(covers(ceiling ?? [], "records.create id=a")).toBe(false);
  });

  test("limits the tools it mentions", () => {
    const { ceiling } = read("user", { ceiling: ["tool.invoke{tools=[fs_read]}"] });
    expect(covers(ceiling ?? [], "tool.invoke fs_read {}")).toBe(true);
    expect(covers(ceiling ?? [], "tool.invoke fs_write {}")).toBe(false);
  });

  test("takes the user's sandbox as the root of its files", () => {
    const { ceiling } = read("user", { sandbox: "/w", ceiling: ["fs.read"] });
    expect(covers(ceiling ?? [], "fs.read /w/a")).toBe(true);
    expect(covers(ceiling ?? [], "fs.read /v/a")).toBe(false);
  });

  test("an empty one allows nothing", () => {
    expect(covers(read("user", { ceiling: [] }).ceiling ?? [], "records.read id=a")).toBe(false);
  });
});

test("no text makes the parser throw, and invalid text is never ignored", () => {
  for (const text of HOSTILE_TEXTS) {
    for (const key of ["sandbox", "policy", "agents", "runtime", "control", "mode", "ceiling"]) {
      for (const value of [text, [text], { [text]: text }]) {
        const config = read("user", { [key]: value });
        if (key === "control" || key === "mode" || key === "policy") expect(config.broken, `${key} ${text}`).toBe(true);
      }
    }
    read("project", { [text]: text });
  }
});

describe("of two tables of one level the stricter applies", () => {
  const table = (value: Record<string, string>): PolicyTable =>
    new Map(Object.entries(value)) as unknown as PolicyTable;
  test.each<[Record<string, string>, Record<string, string>, Record<string, string>]>([
    [{ web: "allow" }, { web: "deny" }, { web: "deny" }],
    [{ web: "ask" }, { web: "allow" }, { web: "ask" }],
    [{ web: "ask" }, { code: "allow" }, { web: "ask", code: "allow" }],
    [{}, {}, {}],
  ])("%j and %j", (left, right, both) => {
    expect(Object.fromEntries(stricter(table(left), table(right)) ?? [])).toEqual(both);
    expect(Object.fromEntries(stricter(table(right), table(left)) ?? [])).toEqual(both);
  });

  test("no table is not an empty one", () => {
    expect(stricter(null, null)).toBe(null);
    expect(stricter(null, table({ web: "ask" }))?.get("web")).toBe("ask");
  });
});

describe("the user's settings for programs", () => {
  test("are parsed as written", () => {
    const config = read("user", {
      environment: ["EDITOR"],
      limits: { seconds: 60, memory_mib: 512 },
      programs: { add: ["/opt/tools/bin"], remove: ["/opt/old"] },
      resolver: ["127.0.0.1:5353", "[::1]:53"],
      certificates: ["/etc/company.pem"],
      secrets: {
        "git-token": { from: "env:GIT_TOKEN", hosts: ["git.example.test"], username: "me" },
        other: "file:~/token",
      },
    });
    expect(config).toMatchObject({
      broken: false,
      environment: ["EDITOR"],
      limits: { seconds: 60, memory_mib: 512 },
      programs: { add: [["opt", "tools", "bin"]], remove: [["opt", "old"]] },
      resolvers: ["127.0.0.1:5353", "[::1]:53"],
      certificates: [["etc", "company.pem"]],
      secrets: [
        { name: "git-token", from: { kind: "env", at: "GIT_TOKEN" }, hosts: ["git.example.test"], username: "me" },
        { name: "other", from: { kind: "file", at: "~/token" }, hosts: [], username: null },
      ],
    });
  });

  test.each<[string, Json]>([
    ["an invalid variable", { environment: ["A B"] }],
    ["a single variable", { environment: "EDITOR" }],
    ["a limit that does not exist", { limits: { second: 60 } }],
    ["a limit of zero", { limits: { seconds: 0 } }],
    ["a fractional limit", { limits: { seconds: 1.5 } }],
    ["a limit in words", { limits: { seconds: "ten" } }],
    ["limits that are a number", { limits: 60 }],
    ["programs that are a list", { programs: ["/opt/x"] }],
    ["programs with another key", { programs: { adds: ["/opt/x"] } }],
    ["one folder of programs alone", { programs: { add: "/opt/x" } }],
    ["a resolver by name", { resolver: "dns.example" }],
    ["a single file of certificates", { certificates: "/etc/company.pem" }],
    ["a secret itself", { secrets: { token: "hunter2hunter2" } }],
    ["a secret that is a program", { secrets: { token: "cmd:pass show x" } }],
    ["a secret from nowhere", { secrets: { token: { hosts: ["a.example"] } } }],
    ["a secret for a pattern", { secrets: { token: { from: "env:A", hosts: ["*.example"] } } }],
    ["a secret with an unknown key", { secrets: { token: { from: "env:A", host: "a.example" } } }],
    ["a secret with a name in two lines", { secrets: { "a\nb": "env:A" } }],
    ["a username with a line break", { secrets: { token: { from: "env:A", username: "a\nb" } } }],
  ])("%s is an error, and nothing of the level counts", (_, value) => {
    expect(read("user", value).broken).toBe(true);
  });
});
