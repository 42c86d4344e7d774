// Every fix and every did-you-mean of a configuration, a manifest and Caveats is applied as it is printed: the document then reads
// without that error, and grants no more than its author meant.
import { describe, expect, test } from "vitest";
import { compile } from "../authority/compiled.ts";
import type { Grant } from "../authority/grant.ts";
import { ALWAYS } from "../authority/link.ts";
import { within } from "../authority/witness/within.ts";
import { readCaveats } from "./caveats/caveats.ts";
import { readCompact } from "./compact/compact.ts";
import { readConfig } from "./config/config.ts";
import { type Diagnostic, Diagnostics } from "./diagnostic.ts";
import { readManifest } from "./manifest/manifest.ts";
import { readServerFile } from "./servers/server-file.ts";
import { applyFix, yamlTree } from "./testing/apply-fix.ts";
import { READING } from "./testing/notation.ts";
import { readDeclaration } from "./tools/declaration.ts";

interface Read {
  readonly diagnostics: readonly Diagnostic[];
  readonly grants: readonly Grant[];
}

const READERS: Readonly<Record<"config" | "manifest" | "caveats" | "servers" | "declaration", (text: string) => Read>> =
  {
    config: (text) => {
      const { diagnostics, ceiling } = readConfig(yamlTree(text), "user", READING);
      return { diagnostics, grants: ceiling ?? [] };
    },
    manifest: (text) => readManifest(yamlTree(text), READING),
    servers: (text) => {
      const { diagnostics, servers } = readServerFile(yamlTree(text), "user", READING);
      return { diagnostics, grants: servers.flatMap(({ requires }) => requires) };
    },
    declaration: (text) => {
      const { diagnostics, requirement } = readDeclaration(yamlTree(text), READING);
      return { diagnostics, grants: requirement?.grants ?? [] };
    },
    caveats: (text) => {
      const { diagnostics, link } = readCaveats(yamlTree(text), READING);
      return { diagnostics, grants: link?.grants ?? [] };
    },
  };

const manifest = (spec: string): string =>
  `{ apiVersion: scarab/v1, kind: AgentManifest, metadata: { name: a, version: 1.0.0 }, spec: { ${spec} } }`;
const REST = '"fs_write": {"only": []}, "exec": {"only": []}, "net": {"only": []}, "valid_for_generation": "all"';
const caveats = (first: string, calls = '"max_calls": "unlimited"'): string => `{ ${first}, ${REST}, ${calls} }`;

/** What was written, and what was meant by it; null where a document says nothing about grants. */
const MISTAKES: readonly (readonly [kind: keyof typeof READERS, written: string, meant: string | null])[] = [
  ["config", "{ sandbx: ~/work }", null],
  ["config", "{ polcy: { web: ask } }", null],
  ["config", "{ mode: shadw }", null],
  ["config", "{ control: always }", null],
  ["config", "{ land: maybe }", null],
  ["config", "{ agents: { scout: 5 } }", null],
  ["config", "{ policy: 5 }", null],
  ["config", "{ policy: { web: maybe } }", null],
  ["config", "{ policy: { web: alow } }", null],
  ["config", "{ audit: 5 }", null],
  ["config", "{ audit: { snk: 'unix:/run/a.sock' } }", null],
  ["config", "{ audit: { sink: here } }", null],
  ["config", "{ audit: { sink: 'unix:/run/a.sock', timeout: soon } }", null],
  ["config", "{ models: 5 }", null],
  ["config", "{ models: { anthropic: 5 } }", null],
  ["config", "{ models: { anthropic: {} } }", null],
  ["config", "{ models: { anthropic: { url: 'http://api.example.com' } } }", null],
  ["config", "{ models: { anthropic: { url: 'https://api.example.com/?a=1' } } }", null],
  ["config", "{ search: 5 }", null],
  ["config", "{ triggers: 5 }", null],
  ["config", "{ notify: 5 }", null],
  ["config", "{ terminal: [titel] }", null],
  ["config", "{ ceiling: ['net.gte{hosts=[x.com]}'] }", "{ ceiling: ['net.get{hosts=[x.com]}'] }"],
  ["config", "{ ceiling: ['net.get{host=[x.com]}'] }", "{ ceiling: ['net.get{hosts=[x.com]}'] }"],
  ["manifest", manifest("capabilities: 5"), manifest("capabilities: []")],
  ["manifest", manifest("capabilities: [fs.raed]"), manifest("capabilities: [fs.read]")],
  ["manifest", manifest("capabilites: [fs.read]"), manifest("capabilities: [fs.read]")],
  ["manifest", manifest("capabilities: []").replace("AgentManifest", "Agent"), manifest("capabilities: []")],
  [
    "manifest",
    manifest("capabilities: [net.connect], network: { policy: allowlist, allowlist: 5 }"),
    manifest("capabilities: [net.connect], network: { policy: allowlist, allowlist: ['api.example.com:443'] }"),
  ],
  [
    "caveats",
    caveats('"fs_read": {"only": ["/p"]}', '"max_calls": -1'),
    caveats('"fs_read": {"only": ["/p"]}', '"max_calls": {"at_most": 0}'),
  ],
  ["caveats", caveats('"fs_read": ["/p"]'), caveats('"fs_read": {"only": ["/p"]}')],
  ["caveats", caveats('"fs_raed": {"only": ["/p"]}'), caveats('"fs_read": {"only": ["/p"]}')],
  ["caveats", `{ ${REST}, "max_calls": "unlimited" }`, caveats('"fs_read": {"only": []}')],
  ["config", "{ environment: ['a b'] }", null],
  ["config", "{ resolvers: [localhost] }", null],
  ["config", "{ bare: maybe }", null],
  ["config", "{ models: { anthropic: { prices: 5 } } }", null],
  ["config", "{ models: { anthropic: { prices: { claude: { input: much, output: 15 } } } } }", null],
  ["config", "{ models: { anthropic: { prices: { claude: { input: 3 } } } } }", null],
  ["config", "{ search: { url: 'https://s.example/?q=1' } }", null],
  ["servers", "{ severs: { docs: { command: [docs-server] } } }", null],
  ["servers", "{ servers: 5 }", null],
  ["servers", "{ servers: { docs: 5 } }", null],
  ["servers", "{ servers: { Docs_1: { command: [docs-server] } } }", null],
  ["servers", "{ servers: { docs: { command: docs-server } } }", null],
  ["servers", "{ servers: { docs: { comand: [docs-server] } } }", null],
  [
    "servers",
    "{ servers: { docs: { url: 'ftp://x.example' } } }",
    "{ servers: { docs: { url: 'https://mcp.example.com/mcp' } } }",
  ],
  ["servers", "{ servers: { docs: { command: [docs-server], env: 5 } } }", null],
  ["servers", "{ servers: { docs: { command: [docs-server], env: { A: 5 } } } }", null],
  ["servers", "{ servers: { docs: { command: [docs-server], tools: 5 } } }", null],
  [
    "servers",
    "{ servers: { docs: { command: [docs-server], requires: 5 } } }",
    "{ servers: { docs: { command: [docs-server], requires: [fs.read: { in: docs }] } } }",
  ],
  [
    "servers",
    "{ servers: { docs: { command: [docs-server], requires: [net.get: { hosts: [x.com] }] } } }",
    "{ servers: { docs: { command: [docs-server], requires: [net.connect: { hosts: [api.example.com], ports: [443] }] } } }",
  ],
  [
    "servers",
    "{ servers: { docs: { url: 'https://x.example', headers: 5 } } }",
    "{ servers: { docs: { url: 'https://x.example' } } }",
  ],
  [
    "servers",
    "{ servers: { docs: { url: 'https://x.example', headers: { Authorization: 5 } } } }",
    "{ servers: { docs: { url: 'https://x.example' } } }",
  ],
  ["declaration", "5", null],
  ["declaration", "{ network: {} }", null],
  ["declaration", "{ storage: 5 }", "{ storage: { scope: session, kind: kv } }"],
  ["declaration", "{ process: {} }", null],
];

function readSpec(text: string): Read {
  const diagnostics = new Diagnostics();
  const span = { source: "spec", start: 0, end: text.length };
  const grant = readCompact(text, { reading: READING, diagnostics, span, root: null });
  return { diagnostics: diagnostics.list, grants: grant === null ? [] : [grant] };
}

/** The pairs of the fix in place of those with the same keys, as a person writes them. */
function withPairs(spec: string, fix: string): string {
  const pairs = (text: string): readonly string[] => text.match(/\w+(?:=(?:\[[^\]]*\]|\{[^}]*\}+|[^,}]+))?/g) ?? [];
  const keyOf = (pair: string): string => pair.split("=")[0] as string;
  const fixed = pairs(fix);
  const kept = pairs(spec.slice(spec.indexOf("{") + 1, -1)).filter(
    (pair) => !fixed.some((one) => keyOf(one) === keyOf(pair)),
  );
  return `${spec.slice(0, spec.indexOf("{"))}{${[...kept, ...fixed].join(",")}}`;
}

function isWithin(grants: readonly Grant[], meant: readonly Grant[]): boolean {
  const limits = { role: "own", validity: ALWAYS, calls: null } as const;
  const link = compile({ ...limits, id: "a", issuer: "person", holder: "a", grants: meant });
  const { protectedPaths } = READING.pathSettings;
  return grants.length === 0 || within(grants, [[link]], { protectedPaths, delegating: false }).kind === "within";
}

function errorsOf({ diagnostics }: Read): readonly Diagnostic[] {
  return diagnostics.filter(({ severity }) => severity === "error");
}

describe("a fix as it is printed", () => {
  test.each(MISTAKES)("%s: %s", (kind, written, meant) => {
    let text = written;
    const seen: string[] = [];
    // One after another, as a person does it.
    for (let times = 0; times < 4; times++) {
      const [error] = errorsOf(READERS[kind](text));
      if (error === undefined) break;
      expect([text, error.fix ?? error.suggestion]).not.toEqual([text, null]);
      text = applyFix(text, error);
      seen.push(text);
    }
    expect(seen).not.toEqual([]);
    const after = READERS[kind](text);
    expect([seen, errorsOf(after)]).toEqual([seen, []]);
    const wanted = meant === null ? [] : READERS[kind](meant).grants;
    expect([seen, isWithin(after.grants, wanted)]).toEqual([seen, true]);
  });

  const SPECS: readonly (readonly [spec: string, meant: string])[] = [
    ["net.get{hosts=[x.com:443]}", "net.get{hosts=[x.com],ports=[443]}"],
    ["net.connect{hosts=[x.com:443,y.com]}", "net.connect{hosts=[x.com,y.com],ports=[443]}"],
    ["proc.exec{in=/p,root=wr}", "proc.exec{in=/p}"],
    ["memory.read{calls=x}", "memory.read{calls=5}"],
    ["memory.read{rate=10}", "memory.read{rate=10/min}"],
    ["net.connect{hosts=[x.com],ports=[443],raw=maybe}", "net.connect{hosts=[x.com],ports=[443]}"],
    ["memory.read{clean=maybe}", "memory.read{clean}"],
    ["memory.read{per=user}", "memory.read{rate=10/min,per=user}"],
    ["memory.read{per=user,ask=maybe}", "memory.read{rate=10/min,per=user,ask}"],
    ["memory.read{expires=soon}", "memory.read"],
    ["memory.read{users={a=1}}", "memory.read"],
    ["tool.invoke{tools=[x],args=5}", "tool.invoke{tools=[x]}"],
  ];
  test.each(SPECS)("of a compact spec is a part of a compact spec: %s", (written, meant) => {
    let text = written;
    for (let times = 0; times < 4; times++) {
      const read = readSpec(text);
      const [error] = errorsOf(read);
      if (error === undefined) break;
      expect([text, error.fix]).toEqual([text, expect.stringMatching(/^\w+=/)]);
      text = withPairs(text, error.fix ?? "");
    }
    const after = readSpec(text);
    expect([text, errorsOf(after)]).toEqual([text, []]);
    expect([text, isWithin(after.grants, readSpec(meant).grants)]).toEqual([text, true]);
  });

  test("the check itself sees a fix that grants more", () => {
    const [all, one] = ["{ ceiling: ['net.get{hosts=[*]}'] }", "{ ceiling: ['net.get{hosts=[x.com]}'] }"].map(
      (text) => READERS.config(text).grants,
    );
    expect(isWithin(all ?? [], one ?? [])).toBe(false);
  });
});
