import { describe, expect, test } from "vitest";
import type { Json } from "../../base/json.ts";
import { covers, HOSTILE_TEXTS } from "../testing/coverage.ts";
import { diagnosticLines, READING, treeOf } from "../testing/notation.ts";
import { readManifest } from "./manifest.ts";

type Spec = { readonly [key: string]: Json };

function read(
  spec: Json,
  head: Spec = { kind: "AgentManifest", metadata: { name: "scout" } },
): ReturnType<typeof readManifest> {
  return readManifest(treeOf({ ...head, spec }), READING);
}

describe("a manifest grants what it lists", () => {
  const spec: Spec = {
    capabilities: [
      "tool.invoke:fs.read",
      "fs.read:/home/agent/**",
      "memory.write:notes",
      "obs.append",
      "secret.use:openai-key",
    ],
  };
  test.each([
    ["tool.invoke fs_read", "tool.invoke fs_write"],
    ["fs.read /home/agent/a", "fs.write /home/agent/a"],
    ["memory.write notes", "memory.read notes"],
    ["obs.append", "obs.query"],
    ["secret.use openai-key", "secret.use openai-kez"],
  ])("%s, and not %s", (allowed, denied) => {
    const { grants } = read(spec);
    expect(covers(grants, allowed)).toBe(true);
    expect(covers(grants, denied)).toBe(false);
  });
  test("it is named by its metadata", () => {
    expect(read(spec).id).toBe("scout");
    expect(read(spec, { kind: "AgentManifest" })).toMatchObject({ id: null });
  });
  test.each([
    ["memory.read:a", "tool.invoke memory_get", "tool.invoke memory_set"],
    ["memory.write:a", "tool.invoke memory_set", "tool.invoke memory_get"],
    ["obs.append", "tool.invoke obs_append", "tool.invoke obs_query"],
    ["obs.query", "tool.invoke obs_query", "tool.invoke obs_append"],
    ["agent.discover", "tool.invoke agent_discover", "tool.invoke agent_create"],
    ["sandbox.exec", "sandbox.exec", "tool.invoke sandbox_exec"],
    ["fs.read:/x/**", "fs.read /x/a", "tool.invoke fs_read"],
  ])("%s needs no token for its tool, unless it is called as a tool: %s, not %s", (token, allowed, denied) => {
    const { grants } = read({ capabilities: [token] });
    expect(covers(grants, allowed)).toBe(true);
    expect(covers(grants, denied)).toBe(false);
  });
  test("one token with a mistake grants nothing, the others stay", () => {
    const { grants, diagnostics } = read({ capabilities: ["fs.raed:/x", 5, "memory.read:a"] });
    expect(grants.map(({ implied }) => implied)).toEqual([null, "memory.read"]);
    expect(diagnosticLines(diagnostics)).toEqual([
      "error unknown_verb spec.capabilities[0]",
      "error wrong_type spec.capabilities[1]",
    ]);
  });
});

describe("the network policy adds connections", () => {
  test.each<[string, Json, string, string]>([
    ["local is this machine by address", "local", "net.connect 127.0.0.1:80", "net.connect 128.0.0.1:80"],
    ["local is this machine by IPv6", "local", "net.connect [::1]:80", "net.connect [::2]:80"],
    [
      "local is localhost by name",
      { policy: "local" },
      "net.connect localhost:5 address=127.0.0.1",
      "net.connect localhost:5 address=10.0.0.1",
    ],
    ["full is every name and public address", "full", "net.connect example.com:22", "net.connect 10.0.0.1:22"],
    [
      "an allow-list is what it lists",
      { policy: "allowlist", allowlist: ["api.openai.com:443"] },
      "net.connect api.openai.com:443",
      "net.connect api.openai.com:80",
    ],
    [
      "an allow-list accepts ranges",
      { policy: "allowlist", allowlist: ["192.168.1.0/24:80"] },
      "net.connect 192.168.1.9:80",
      "net.connect 192.168.2.9:80",
    ],
  ])("%s", (_, network, allowed, denied) => {
    const { grants, diagnostics } = read({ network });
    expect(diagnosticLines(diagnostics)).toEqual([]);
    expect(covers(grants, allowed)).toBe(true);
    expect(covers(grants, denied)).toBe(false);
  });
  test.each<[string, Json, readonly string[]]>([
    ["none is no network", "none", []],
    ["a map without a policy is no network", { allowlist: ["x.com:443"] }, []],
    ["an unknown policy is an error", "ful", ["error bad_value spec.network"]],
    ["an allow-list needs its list", "allowlist", ["error missing_field spec.network"]],
    [
      "an entry needs its port",
      { policy: "allowlist", allowlist: ["x.com"] },
      ["error bad_value spec.network.allowlist[0]"],
    ],
    ["an unknown key could be a limit", { policy: "full", deny: [] }, ["error unknown_key spec.network.deny:"]],
    ["null is not a policy", null, ["error bad_value spec.network"]],
  ])("%s", (_, network, said) => {
    const { grants, diagnostics } = read({ network });
    expect(grants).toEqual([]);
    expect(diagnosticLines(diagnostics)).toEqual(said);
  });
});

describe("the policy none beside a network token", () => {
  const connect = "net.connect:x.com:443";
  test.each<[string, Json | undefined, string, readonly string[]]>([
    ["is an error", "none", connect, ["error bad_value spec.capabilities[0]"]],
    ["in a map too", { policy: "none" }, connect, ["error bad_value spec.capabilities[0]"]],
    ["for every verb of the network", "none", "net.get:x.com", ["error bad_value spec.capabilities[0]"]],
  ])("%s", (_, network, token, said) => {
    const { grants, diagnostics } = read({ capabilities: [token, "secret.use:a"], ...(network ? { network } : {}) });
    expect(grants.map(({ verb }) => verb.verb)).toEqual(["secret.use"]);
    expect(diagnosticLines(diagnostics)).toEqual(said);
  });
  test.each<[string, Json | undefined]>([
    ["no policy", undefined],
    ["another policy", "local"],
  ])("%s leaves it", (_, network) => {
    const { grants, diagnostics } = read({ capabilities: [connect], ...(network ? { network } : {}) });
    expect(covers(grants, "net.connect x.com:443")).toBe(true);
    expect(diagnosticLines(diagnostics)).toEqual([]);
  });
});

describe("a trust level only removes grants", () => {
  const capabilities = [
    "fs.read",
    "fs.write:/**",
    "net.get:*",
    "secret.use:**",
    "memory.read",
    "fs.read:/data/**",
    "net.get:x.com",
  ];
  const verbs = (trust: Json | undefined): string[] =>
    read(trust === undefined ? { capabilities } : { capabilities, trust_level: trust })
      .grants.filter(({ implied }) => implied === null)
      .map((grant) => grant.verb.verb);
  test.each<[Json | undefined, readonly string[]]>([
    ["untrusted", ["memory.read", "fs.read", "net.get"]],
    ["sandboxed", ["memory.read", "fs.read", "net.get"]],
    ["trusted", ["fs.read", "fs.write", "net.get", "memory.read", "fs.read", "net.get"]],
    ["privileged", ["fs.read", "fs.write", "net.get", "secret.use", "memory.read", "fs.read", "net.get"]],
    [undefined, ["fs.read", "fs.write", "net.get", "secret.use", "memory.read", "fs.read", "net.get"]],
    ["Untrusted", []],
    [3, []],
  ])("%s", (trust, kept) => {
    expect(verbs(trust)).toEqual(kept);
  });
  test("a sandboxed agent has no open network either", () => {
    expect(read({ network: "full", trust_level: "sandboxed" }).grants).toEqual([]);
    expect(read({ network: "full", trust_level: "trusted" }).grants.length).toBe(1);
  });
  test.each(["trust_levl", "trustLevel", "trust-level", "trust"])(
    "a misspelt level (%s) must not mean the widest one",
    (key) => {
      const { grants, diagnostics } = read({ capabilities, [key]: "untrusted" });
      expect(grants).toEqual([]);
      expect(diagnosticLines(diagnostics)).toContain(`error unknown_key spec.${key}:`);
    },
  );
  test.each(["netwrk", "networks", "Network", "capabilites"])(
    "a misspelt key (%s) may be a limit: nothing is granted",
    (key) => {
      const { grants, diagnostics } = read({ capabilities: ["net.connect:*"], [key]: { policy: "none" } });
      expect(grants).toEqual([]);
      expect(diagnosticLines(diagnostics)).toContain(`error unknown_key spec.${key}:`);
    },
  );
  test.each(["task", "model", "runtime", "resources"])("other keys (%s) are ignored", (key) => {
    const { grants, diagnostics } = read({ capabilities: ["secret.use:a"], [key]: "x" });
    expect(grants.length).toBe(1);
    expect(diagnosticLines(diagnostics)).toEqual([`info unknown_key spec.${key}:`]);
  });
});

describe("what is not a manifest grants nothing", () => {
  test.each<[string, Json]>([
    ["a list", []],
    ["text", "AgentManifest"],
    ["no kind", { spec: { capabilities: ["memory.read"] } }],
    ["another kind", { kind: "Manifest", spec: { capabilities: ["memory.read"] } }],
    ["no spec", { kind: "AgentManifest" }],
    [
      "capabilities that are a string",
      { kind: "AgentManifest", spec: { capabilities: "memory.read", network: "full" } },
    ],
  ])("%s", (_, document) => {
    const { grants, diagnostics } = readManifest(treeOf(document), READING);
    expect(grants).toEqual([]);
    expect(diagnostics.some((one) => one.severity === "error")).toBe(true);
  });
  test("hostile text in every field", () => {
    for (const text of HOSTILE_TEXTS) {
      const document = {
        kind: "AgentManifest",
        metadata: { name: text },
        spec: { capabilities: [text], network: { policy: "allowlist", allowlist: [text] } },
      };
      expect(readManifest(treeOf(document), READING).grants).toEqual([]);
      expect(read({ trust_level: text, capabilities: ["memory.read"] }).grants).toEqual([]);
      expect(read({ network: text }).grants).toEqual([]);
    }
  });
});
