import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Authority } from "../../core/authority/chain.ts";
import { compile, type Moment } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { judge } from "../../core/authority/judge.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { parseSpecs } from "../../core/notation/compact/grant-specs.ts";
import { readRequest } from "../../core/notation/request/request.ts";
import { READING } from "../../core/notation/testing/notation.ts";
import { dialectOf } from "../hooks/dialects.ts";
import { compileRules, RULE_CLIENTS } from "./compile-rules.ts";
import type { CompiledRules } from "./native-rules.ts";

const PROJECT = ["home", "ada", "app"];
const SETTINGS = {
  home: ["home", "ada"],
  base: PROJECT,
  protectedPaths: [
    ["home", "ada", ".ssh"],
    ["etc", "shadow"],
    ["proc", "*", "environ"],
  ],
};
const READ = { ...READING, pathSettings: SETTINGS };
/** A hook's session has read untrusted content. */
const MOMENT: Moment = { now: 1_000, clean: false, generation: 0, revoked: null, exhausted: null };

function grantsOf(specs: readonly string[]): readonly Grant[] {
  const grants = parseSpecs(specs, READ, null);
  if (grants === null) throw new Error(specs.join(" "));
  return grants;
}

function compiled(client: string, specs: readonly string[], isHookOnly = false): CompiledRules {
  const rules = compileRules(client, { grants: grantsOf(specs), pathSettings: SETTINGS, isHookOnly });
  if (rules === null) throw new Error(client);
  return rules;
}

describe("what grants become in Claude Code", () => {
  it.each<readonly [string, string, readonly string[]]>([
    ["fs.read{in=/home/ada/app}", "exact", ["allow Read(/**)"]],
    // `SRC` would match, too.
    ["fs.read{in=/home/ada/app,paths=[src/**]}", "hook", []],
    ["fs.read{in=/home/ada/notes}", "hook", []],
    ["fs.read{in=/srv/data}", "hook", []],
    ["fs.read{in=/home/ada}", "exact", ["allow Read(~/**)"]],
    // Everything of every process is protected by a pattern.
    ["fs.read{in=/proc}", "hook", []],
    // A gitignore pattern for a file matches everything below a folder of that name, too.
    ["fs.read{in=/home/ada/app,paths=[src/*.ts]}", "hook", []],
    ["fs.read{in=/home/ada/app,paths=[a]}", "hook", []],
    ['fs.read{in="/home/ada/app/a[b]"}', "hook", []],
    ["fs.read{in=/home/ada/app,ask}", "stricter", ["ask Read(/**)"]],
    ["fs.read{in=/home/ada/app,ask=presence}", "hook", []],
    ["fs.read{in=/home/ada/app,calls=3}", "hook", []],
    ["fs.read{in=/home/ada/app,clean}", "hook", []],
    ["fs.write{in=/home/ada/app}", "hook", []],
    ["proc.exec{in=/home/ada/app,cmds=[ls]}", "hook", []],
    ["net.get{hosts=[api.github.com]}", "exact", ["allow WebFetch(domain:api.github.com)"]],
    ["net.get{hosts=[api.github.com],ports=[8443]}", "hook", []],
    ["net.get{hosts=[*.github.com]}", "hook", []],
    ["net.get{hosts=[*]}", "hook", []],
    ["provider.web_search{hosts=[*]}", "exact", ["allow WebSearch"]],
    ["provider.web_search{hosts=[example.com]}", "hook", []],
    ["tool.invoke{tools=[mcp__notes__add]}", "exact", ["allow mcp__notes__add"]],
    // A tool of Claude Code itself is no tool of a server.
    ["tool.invoke{tools=[Bash]}", "hook", []],
    ["tool.invoke{tools=[mcp__notes__*]}", "hook", []],
    ["tool.invoke{tools=[mcp__notes__add],args={kind={values=[plain]}}}", "hook", []],
    ["memory.read", "impossible", []],
  ])("%s: %s", (spec, exactness, rules) => {
    const [row] = compiled("claude", [spec]).rows;
    expect([row?.exactness, row?.rules]).toEqual([exactness, rules]);
    if (exactness !== "exact") expect(row?.why).not.toBe("");
  });

  test("without people or users that a client could know, the hook decides all", () => {
    const { rows } = compiled("claude", ["fs.read{in=/home/ada/app}"], true);
    expect(rows[0]?.exactness).toBe("hook");
  });

  test("what no grant allows is denied by the client itself", () => {
    const { value } = compiled("claude", ["fs.read{in=/home/ada/app}", "proc.exec{in=/home/ada/app,cmds=[ls]}"]);
    expect(Object.values(value ?? {})).toEqual([
      { allow: ["Read(/**)"], ask: [], deny: ["Edit", "NotebookEdit", "WebFetch", "WebSearch", "Write"] },
    ]);
  });
});

test("protected files below a folder are denied, unless another grant names them", () => {
  expect(compiled("claude", ["fs.read{in=/home/ada}"]).denied).toContain("Read(~/.ssh)");
  const { rows, denied } = compiled("claude", ["fs.read{in=/home/ada}", "fs.read{in=/home/ada/.ssh/config.d}"]);
  expect(rows.map(({ exactness }) => exactness)).toEqual(["hook", "hook"]);
  expect(denied).not.toContain("Read(~/.ssh)");
});

test("opencode: the last rule that matches decides", () => {
  const specs = ["net.get{hosts=[b.example]}", "net.get{hosts=[a.example],ask}", "tool.invoke{tools=[notes_add]}"];
  const { text } = compiled("opencode", specs);
  const [rules = {}] = Object.values(JSON.parse(text) as Record<string, Record<string, unknown>>);
  expect(Object.entries(rules)[0]).toEqual(["*", "ask"]);
  expect(Object.entries(rules["webfetch"] as object)).toEqual([
    ["*", "ask"],
    ["https://b.example/*", "allow"],
    ["https://a.example/*", "ask"],
  ]);
  expect(rules).toMatchObject({ notes_add: "allow", bash: "deny", edit: "deny", read: "deny" });
  // A key of its own that a grant names as a tool is no rule for that key.
  expect(compiled("opencode", ["tool.invoke{tools=[external_directory]}"]).rows[0]?.exactness).toBe("hook");
});

test.each(["codex", "gemini", "cursor", "copilot", "vscode"])("%s gets no rule that allows", (client) => {
  const { text, rows } = compiled(client, ["fs.read{in=/home/ada/app}", "net.get{hosts=[a.example]}"]);
  expect(text).not.toMatch(/"allow": \[\s*"|decision = "allow"|--allow/);
  expect(rows.map(({ exactness }) => exactness)).toEqual(["hook", "hook"]);
});

const POOL = [
  ...["fs.read{in=/home/ada/app}", "fs.read{in=/home/ada/app,paths=[src/**]}", "fs.read{in=/home/ada/app,paths=[a/*]}"],
  ...[
    "fs.read{in=/home/ada/app,paths=[docs/**],ask}",
    "fs.read{in=/home/ada}",
    "fs.read{in=/srv,clean}",
    "fs.read{in=/srv}",
  ],
  ...[
    "fs.write{in=/home/ada/app}",
    "fs.write{in=/home/ada/app,paths=[src/**],ask}",
    "fs.read{in=/home/ada/app,calls=1}",
  ],
  ...["net.get{hosts=[a.example]}", "net.get{hosts=[*.a.example]}", "net.get{hosts=[a.example],ports=[443]}"],
  ...["net.get{hosts=[b.example],ask}", "net.get{hosts=[*]}", "provider.web_search{hosts=[*]}"],
  ...["provider.web_search{hosts=[a.example]}", "tool.invoke{tools=[mcp__s__a]}", "tool.invoke{tools=[s_a],ask}"],
  ...[
    "tool.invoke{tools=[builtin:**]}",
    "tool.invoke",
    "tool.invoke{tools=[mcp__s__b],args={x={values=[y]}}}",
    "memory.read",
  ],
  ...["proc.exec{in=/home/ada/app,cmds=[ls]}", "proc.exec{in=/home/ada/app,cmds=[cat],ask}"],
] as const;

const PATHS = [
  ...["/home/ada/app", "/home/ada/app/x", "/home/ada/app/src", "/home/ada/app/src/a.ts", "/home/ada/app/a/b"],
  ...[
    "/home/ada/app/a/b/c",
    "/home/ada/app/docs/x",
    "/home/ada/.ssh/id",
    "/home/ada/y",
    "/srv",
    "/srv/d",
    "/etc/passwd",
  ],
  ...[
    "/home/ada/app/src/../../.ssh/id",
    "/home/ada/application/x",
    "/home/ada/app/docs/../x",
    "/home/ada/app/SRC/a.ts",
    "/home/ADA/app/x",
    "/SRV/d",
  ],
];
const URLS = [
  ...[
    "https://a.example/",
    "http://a.example/x",
    "https://a.example:8443/",
    "https://b.a.example/",
    "https://b.example/q",
  ],
  ...["https://a.example.evil.example/", "https://a.example@evil.example/", "http://10.0.0.1/", "https://A.EXAMPLE/"],
];

interface ClientCall {
  readonly tool: string;
  readonly input: JsonObject;
}

const call = (tool: string, key: string, values: readonly string[]): fc.Arbitrary<ClientCall> =>
  fc.constantFrom(...values).map((value) => ({ tool, input: { [key]: value } }));

/** `allow`, `ask` or `deny` as the hook decides, without approvals and budgets. */
function recordSays(client: string, authority: Authority, { tool, input }: ClientCall): string {
  const payload =
    client === "claude"
      ? { session_id: "s", cwd: "/home/ada/app", hook_event_name: "PreToolUse", tool_name: tool, tool_input: input }
      : { session: "s", cwd: "/home/ada/app", tool, input };
  const event = dialectOf(client)?.read(payload);
  if (event === undefined || !event.ok || event.value.kind !== "call") throw new Error(`${client} ${tool}`);
  const { meaning } = event.value;
  if (meaning.kind !== "requests" && meaning.kind !== "named") return "deny";
  const own = meaning.kind === "requests" ? `builtin:${meaning.tool}` : `tool:${meaning.tool}`;
  const texts = meaning.kind === "requests" ? meaning.requests : [];
  const invoke = readRequest(["tool.invoke", own, JSON.stringify(input)], READ);
  // Every record may call built-in tools, unless it says otherwise.
  const outcomes = meaning.kind === "requests" ? [] : [invoke];
  for (const words of texts) outcomes.push(readRequest(words, READ));
  const decided = outcomes.map((one) => (one.ok ? judge(authority, one.value, MOMENT).outcome : "deny"));
  return decided.includes("deny") ? "deny" : decided.includes("ask") ? "ask" : "allow";
}

/** Claude Code: deny, then ask, then allow; else it asks. Paths as in a gitignore file, with its four anchors. */
function claudeSays(value: Json | undefined, { tool, input }: ClientCall): string {
  const lists = isJsonObject(value) ? member(value, "permissions") : undefined;
  for (const effect of ["deny", "ask", "allow"]) {
    const rules = isJsonObject(lists) ? member(lists, effect) : undefined;
    if (Array.isArray(rules) && rules.some((rule) => claudeMatches(String(rule), tool, input))) return effect;
  }
  return "ask";
}

function claudeMatches(rule: string, tool: string, input: JsonObject): boolean {
  const [, name = "", inside] = /^([^(]+)(?:\((.*)\))?$/.exec(rule) ?? [];
  if (inside === undefined) return name === tool;
  if (name === "WebFetch" && tool === "WebFetch") return inside === `domain:${new URL(String(input["url"])).hostname}`;
  if (name !== "Read" || (tool !== "Read" && tool !== "Grep")) return false;
  const anchored = inside.startsWith("//")
    ? inside.slice(1)
    : inside.startsWith("~/")
      ? `/home/ada${inside.slice(1)}`
      : `/home/ada/app${inside}`;
  const isTree = anchored.endsWith("/**");
  const folder = anchored.replace(/\/\*\*$/, "");
  // Expanded before it is compared.
  const path = new URL(`file://${String(input["file_path"] ?? input["path"])}`).pathname;
  // The folder that it is relative to as it is written, what is below without its case.
  const anchor = inside.startsWith("//") ? "" : inside.startsWith("~/") ? "/home/ada" : "/home/ada/app";
  if (!path.startsWith(`${anchor}/`)) return false;
  const [inner, below] = [path.slice(anchor.length).toLowerCase(), folder.slice(anchor.length).toLowerCase()];
  return inner.startsWith(`${below}/`) || (!isTree && inner === below);
}

/** opencode: of the rules of the tool's key the last that matches; a star matches everything. */
function opencodeSays(value: Json | undefined, { tool, input }: ClientCall): string {
  const rules = isJsonObject(value) ? member(value, "permission") : undefined;
  let found = "ask";
  const patternMatches = (pattern: string, text: string): boolean => {
    const parts = pattern.split("*");
    return new RegExp(`^${parts.map((part) => part.replace(/[.+?^${}()|[\]\\/]/g, "\\$&")).join(".*")}$`, "s").test(
      text,
    );
  };
  for (const [key, rule] of isJsonObject(rules) ? Object.entries(rules) : []) {
    if (!patternMatches(key, tool)) continue;
    const inner = typeof rule === "string" ? { "*": rule } : (rule as Record<string, string>);
    for (const [pattern, effect] of Object.entries(inner))
      if (patternMatches(pattern, String(Object.values(input)[0]))) found = effect;
  }
  return found;
}

describe("whatever the compiled rules allow, the record allows, and what they forbid it forbids", () => {
  const record = fc.subarray([...POOL], { minLength: 1, maxLength: 12 });
  const claudeCalls = fc.oneof(
    call("Read", "file_path", PATHS),
    call("Write", "file_path", PATHS),
    call("Grep", "path", PATHS),
    call("WebFetch", "url", URLS),
    call("WebSearch", "query", ["x"]),
    ...["mcp__s__a", "mcp__s__b", "s_a"].map((tool) => call(tool, "x", ["y", "z"])),
  );
  const opencodeCalls = fc.oneof(
    call("read", "filePath", PATHS),
    call("write", "filePath", PATHS),
    call("webfetch", "url", URLS),
    ...["s_a", "mcp__s__a", "external_directory"].map((tool) => call(tool, "x", ["y", "z"])),
  );
  it.each<[string, fc.Arbitrary<ClientCall>, (value: Json | undefined, one: ClientCall) => string]>([
    ["claude", claudeCalls, claudeSays],
    ["opencode", opencodeCalls, opencodeSays],
  ])("%s", (client, calls, says) => {
    // Not vacuous: this one is allowed, and its neighbour is not.
    const fetched = (url: string): ClientCall => ({
      tool: client === "claude" ? "WebFetch" : "webfetch",
      input: { url },
    });
    const { value: rules } = compiled(client, ["net.get{hosts=[a.example]}"]);
    expect(says(rules ?? undefined, fetched("https://a.example/"))).toBe("allow");
    expect(says(rules ?? undefined, fetched("https://a.example.evil.example/"))).toBe("ask");
    fc.assert(
      fc.property(record, calls, (specs, one) => {
        const grants = grantsOf(specs);
        const link = {
          id: "a",
          role: "own",
          issuer: "record",
          holder: "a",
          grants,
          validity: ALWAYS,
          calls: null,
        } as const;
        const authority: Authority = [[compile(link)]];
        const native = says(compiled(client, specs).value ?? undefined, one);
        const own = recordSays(client, authority, one);
        if (native !== "ask") expect([specs, one, own]).toEqual([specs, one, native]);
      }),
      { numRuns: 600 },
    );
  });
});

test.each(RULE_CLIENTS)("the text for %s is the same for the same grants in any order", (client) => {
  fc.assert(
    fc.property(fc.shuffledSubarray([...POOL]), (specs) => {
      const sorted = POOL.filter((spec) => specs.includes(spec));
      expect(compiled(client, specs).text).toBe(compiled(client, sorted).text);
    }),
    { numRuns: 50 },
  );
});
