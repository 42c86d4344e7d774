import { describe, expect, test } from "vitest";
import { compile } from "../../authority/compiled.ts";
import { ALWAYS } from "../../authority/link.ts";
import { within } from "../../authority/witness/within.ts";
import type { Json } from "../../base/json.ts";
import { covers, HOSTILE_TEXTS } from "../testing/coverage.ts";
import { diagnosticLines, READING, treeOf } from "../testing/notation.ts";
import { readDeclaration, readPersonality, type ToolRequirement } from "./declaration.ts";

function read(value: Json): ReturnType<typeof readDeclaration> {
  return readDeclaration(treeOf(value), READING);
}

function requirement(value: Json): ToolRequirement {
  const { requirement: found, diagnostics } = read(value);
  if (found === null) throw new Error(diagnosticLines(diagnostics).join());
  return found;
}

describe("a tool reaches what it declares and nothing else", () => {
  test.each<[string, Json, string, string]>([
    [
      "a host",
      { network: { allowedHosts: ["api.github.com"] } },
      "net.get https://api.github.com/",
      "net.get https://github.com/",
    ],
    [
      "a subdomain",
      { network: { allowedHosts: ["*.github.com"] } },
      "net.post https://api.github.com/",
      "net.post https://github.com/",
    ],
    [
      "a subdomain is not a suffix of text",
      { network: { allowedHosts: ["*.GitHub.com"] } },
      "net.get https://a.b.github.com/",
      "net.get https://evil-github.com/",
    ],
    [
      "one trailing dot",
      { network: { allowedHosts: ["api.github.com."] } },
      "net.get https://api.github.com/",
      "net.get https://api.github.co/",
    ],
    [
      "any host the policy allows",
      { network: { allowedHosts: ["*"] } },
      "net.delete https://x.com/",
      "net.connect x.com:443",
    ],
    ["a secret", { secrets: ["API_KEY"] }, "secret.use API_KEY", "secret.use API_KEYS"],
    [
      "secrets of one namespace",
      { secrets: ["providers/exa/*"] },
      "secret.use providers/exa/main",
      "secret.use providers/exa/a/b",
    ],
    ["a lone star is one segment", { secrets: ["*"] }, "secret.use ANY", "secret.use ANY/x"],
    [
      "the tool's own store",
      { storage: { scope: "tool-private", kind: "kv" } },
      "memory.write tool/x",
      "memory.write session/x",
    ],
    [
      "the session's store",
      { storage: { scope: "session", kind: "kv" } },
      "memory.read session/x",
      "memory.read sessions/x",
    ],
    [
      "the agent's store",
      { storage: { scope: "personality", kind: "kv" } },
      "memory.read agent/x/y",
      "memory.read tool/x/y",
    ],
    ["a tree to read", { fs_reach: { read: ["/data/"] } }, "fs.read /data/x", "fs.read /database"],
    ["a tree to write", { fs_reach: { write: ["/out"] } }, "fs.delete /out/x", "fs.read /out/x"],
    ["a tree with `..`", { fs_reach: { read: ["/data/../etc"] } }, "fs.read /etc/x", "fs.read /data/x"],
    ["inherited from the personality", { fs_reach: { read: "from-personality" } }, "fs.read /x", "fs.write /x"],
    ["a program", { process: { allowedBinaries: ["true"] } }, "proc.exec -- true", "proc.exec -- /bin/true"],
    [
      "a program by its path",
      { process: { allowedBinaries: ["/bin/true"] } },
      "proc.exec in=/anywhere -- /bin/true",
      "proc.exec -- true",
    ],
    ["any program", { process: { allowedBinaries: ["*"] } }, "proc.exec -- rm", "proc.eval"],
  ])("%s", (_, declared, allowed, denied) => {
    const { grants } = requirement(declared);
    expect(covers(grants, allowed)).toBe(true);
    expect(covers(grants, denied)).toBe(false);
  });
  test.each<[Json]>([
    [{}],
    [{ network: { allowedHosts: [] } }],
    [{ secrets: [] }],
    [{ fs_reach: {} }],
    [{ process: { allowedBinaries: [] } }],
  ])("%j reaches nothing", (declared) => {
    expect(requirement(declared).grants).toEqual([]);
  });
  test("each grant names the part that requires it", () => {
    const { grants, parts, inherited } = requirement({
      network: { allowedHosts: ["*"] },
      secrets: ["A"],
      storage: { scope: "session", kind: "kv" },
      fs_reach: { read: ["/a"], write: "from-personality" },
      process: { allowedBinaries: ["git"] },
    });
    expect(parts).toEqual(["network", "secrets", "storage", "fs_reach.read", "fs_reach.write", "process"]);
    expect([...new Set(grants.map((grant) => grant.implied))]).toEqual(parts);
    expect(inherited).toEqual(["network", "fs_reach.write"]);
  });
});

describe("an entry that matches nothing is an error, and the others stay", () => {
  test.each<[string, Json, string]>([
    ["a star within a secret name", { secrets: ["prov*", "A"] }, "error bad_pattern secrets[0]"],
    ["two stars in a secret", { secrets: ["a/**", "A"] }, "error bad_pattern secrets[0]"],
    ["a secret that is a path", { secrets: ["/*", "A"] }, "error bad_value secrets[0]"],
    [
      "a star at the end of a host",
      { network: { allowedHosts: ["github.*", "a.com"] } },
      "error bad_pattern network.allowedHosts[0]",
    ],
    [
      "a host with a port",
      { network: { allowedHosts: ["a.com:443", "a.com"] } },
      "error bad_value network.allowedHosts[0]",
    ],
    [
      "a host in our own spelling",
      { network: { allowedHosts: ["+.a.com", "a.com"] } },
      "error bad_pattern network.allowedHosts[0]",
    ],
    ["a substitution", { fs_reach: { read: ["${ETHOS_HOME}/x", "/a"] } }, "error bad_value fs_reach.read[0]"],
    [
      "a relative program",
      { process: { allowedBinaries: ["./git", "git"] } },
      "error bad_pattern process.allowedBinaries[0]",
    ],
  ])("%s", (_, declared, said) => {
    const { requirement: found, diagnostics } = read(declared);
    expect(found?.grants.length).toBeGreaterThan(0);
    expect(diagnosticLines(diagnostics)).toEqual([said]);
  });
});

describe("a malformed declaration is not a requirement", () => {
  test.each<[string, Json]>([
    ["not a map", []],
    ["nothing", null],
    ["a list of hosts", { network: ["a.com"] }],
    ["hosts that are text", { network: { allowedHosts: "a.com" } }],
    ["an unknown limit", { network: { allowedHosts: ["a.com"], deniedHosts: ["b.com"] } }],
    ["no hosts", { network: {} }],
    ["an entry that is not text", { secrets: [1] }],
    ["another store", { storage: { scope: "global", kind: "kv" } }],
    ["an unknown store", { storage: { scope: "session", kind: "sql" } }],
    ["files that are everything", { fs_reach: { read: "*" } }],
    ["an unknown mode", { fs_reach: { exec: ["/a"] } }],
    ["no programs", { process: {} }],
    ["one valid part and one invalid one", { secrets: ["A"], process: "git" }],
  ])("%s", (_, declared) => {
    const { requirement: found, diagnostics } = read(declared);
    expect(found).toBe(null);
    expect(diagnostics.some((one) => one.severity === "error")).toBe(true);
  });
  test("an unknown part is not provided", () => {
    const { requirement: found, diagnostics } = read({ netwrok: { allowedHosts: ["*"] } });
    expect(found?.grants).toEqual([]);
    expect(diagnostics[0]).toMatchObject({ severity: "warning", suggestion: "network" });
  });
  test("hostile text in every field", () => {
    for (const text of HOSTILE_TEXTS) {
      const list: Json = [text];
      const declared: Json = {
        network: { allowedHosts: list },
        secrets: list,
        fs_reach: { read: list, write: list },
        process: { allowedBinaries: list },
        storage: { scope: text, kind: "kv" },
      };
      expect(read(declared).requirement).toBe(null);
      expect(() => read({ ...(declared as object), storage: { scope: "session", kind: "kv" } })).not.toThrow();
      expect(() =>
        readPersonality(treeOf({ safety: { network: { allow: list } }, fs_reach: { read: list } }), READING),
      ).not.toThrow();
    }
  });
});

describe("a tool fits a personality if everything it requires is allowed there", () => {
  const fits = (tool: Json, personality: Json): string => {
    const { grants } = readPersonality(treeOf(personality), READING);
    const asked = requirement(tool).grants;
    const held = compile({ id: "p", role: "limit", issuer: "", holder: "", grants, validity: ALWAYS, calls: null });
    const verdict = within(asked, [[held]], { protectedPaths: [], delegating: false });
    return verdict.kind === "within" ? "fits" : (asked[verdict.grant]?.implied ?? "?");
  };
  const hosts = (...allow: string[]): Json => ({ safety: { network: { allow } } });
  const asks = (...allowedHosts: string[]): Json => ({ network: { allowedHosts } });
  test.each<[string, Json, Json, string]>([
    ["a subdomain", asks("api.github.com"), hosts("*.github.com"), "fits"],
    ["the domain itself is not a subdomain", asks("github.com"), hosts("*.github.com"), "network"],
    ["a smaller domain", asks("*.api.github.com"), hosts("*.github.com"), "fits"],
    ["a larger domain", asks("*.github.com"), hosts("*.api.github.com"), "network"],
    ["any host", asks("evil.com"), hosts("*"), "fits"],
    ["an empty list is nothing", asks("a.com"), hosts(), "network"],
    ["no list is nothing", asks("a.com"), {}, "network"],
    ["a tree with a trailing slash", { fs_reach: { read: ["/data/x"] } }, { fs_reach: { read: ["/data/"] } }, "fits"],
    [
      "a name with the same beginning",
      { fs_reach: { read: ["/database"] } },
      { fs_reach: { read: ["/data"] } },
      "fs_reach.read",
    ],
    [
      "reading is not writing",
      { fs_reach: { write: ["/secret"] } },
      { fs_reach: { read: ["/secret"], write: ["/out"] } },
      "fs_reach.write",
    ],
  ])("%s", (_, tool, personality, verdict) => {
    expect(fits(tool, personality)).toBe(verdict);
  });
  test.each<[string, Json]>([
    ["a list of denied hosts", { safety: { network: { allow: ["a.com"], deny: ["b.com"] } } }],
    ["unsupported rules", { safety: { network: { allow: ["a.com"] }, denyRules: ["x"] } }],
    ["a list that is text", { safety: { network: { allow: "*" } } }],
    ["inherited mode, which a personality cannot have", { fs_reach: { read: "from-personality" } }],
  ])("%s: the personality grants nothing", (_, personality) => {
    const { grants, diagnostics } = readPersonality(treeOf(personality), READING);
    expect(grants).toEqual([]);
    expect(diagnostics.length).toBeGreaterThan(0);
  });
});
