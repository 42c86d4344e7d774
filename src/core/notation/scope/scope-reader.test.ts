import { expect, test } from "vitest";
import { parseArgv } from "../../authority/axes/argv.ts";
import { type Destination, parseHost } from "../../authority/axes/destination.ts";
import { parseName, parseTool } from "../../authority/axes/name.ts";
import { parsePath } from "../../authority/axes/path.ts";
import type { Value } from "../../authority/axes/scope.ts";
import { verbEntry } from "../../authority/catalog.ts";
import { grantMatches } from "../../authority/compiled.ts";
import type { Grant } from "../../authority/grant.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import type { Result } from "../../base/result.ts";
import { Diagnostics } from "../diagnostic.ts";
import type { Reading } from "../reading.ts";
import { diagnosticLines, mapOf, READING, spanOf } from "../testing/notation.ts";
import { readGrant } from "./scope-reader.ts";

type Written = { readonly [key: string]: Json } | null;

interface Around {
  readonly root?: readonly string[] | null;
  readonly reading?: Reading;
}

function read(verb: string, written: Written, around: Around = {}): { grant: Grant | null; diagnostics: Diagnostics } {
  const diagnostics = new Diagnostics();
  const entry = verbEntry(verb);
  if (entry === null) throw new Error(verb);
  const context = {
    reading: around.reading ?? READING,
    diagnostics,
    span: spanOf("grant"),
    implied: null,
    root: around.root ?? null,
  };
  return { grant: readGrant(entry, written === null ? null : mapOf(written), context), diagnostics };
}

function good<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

const path = (text: string): Value => good(parsePath(text, READING.pathSettings));
const host = (text: string): Destination => good(parseHost(text, READING.toAscii));
const name = (text: string): Value => good(parseName(text));
const tool = (text: string): Value => good(parseTool(text));
const argv = (text: string): Value => good(parseArgv(text.split(" ")));
const json = (value: JsonObject): Value => ({ kind: "json", value });
const P = ["p"];

// Each line: verb, scope, what it covers, what it does not, and the hoisted root if there is one.
const COVERS: readonly [string, Written, readonly Value[], readonly Value[], Around?][] = [
  ["fs.read", { in: "/p" }, [path("/p/a")], [path("/q/a")]],
  ["fs.read", { in: "~/p" }, [path("/home/u/p/a")], [path("/home/v/p/a")]],
  ["fs.read", { in: "p" }, [path("/work/p/a")], [path("/p/a")]],
  ["fs.read", null, [path("/p/a")], [path("/a")], { root: P }],
  ["fs.read", {}, [path("/p/a")], [path("/pa")], { root: P }],
  ["fs.read", { paths: ["src/**"] }, [path("/p/src/a")], [path("/p/srca")], { root: P }],
  ["fs.read", { paths: ["src/*"] }, [path("/p/src/a")], [path("/p/src/a/b")], { root: P }],
  ["fs.read", { in: "/p/q", paths: ["."] }, [path("/p/q")], [path("/p/q/r")], { root: P }],
  ["fs.read", { in: "/p/q" }, [path("/p/q/r")], [path("/p/r")], { root: P }],
  ["fs.read", { in: "~" }, [path("~/x")], [path("~/.ssh/id")]],
  ["fs.read", { in: "~/.ssh" }, [path("~/.ssh/id")], [path("~/.ssg/id")]],
  ["fs.read", { paths: ["{a,b}"] }, [path("/p/b")], [path("/p/c")], { root: P }],
  [
    "proc.exec",
    { cmds: ["git"] },
    [path("/p"), argv("git push"), "rw"],
    [path("/p"), argv("gix push"), "rw"],
    { root: P },
  ],
  ["proc.exec", { in: "/p" }, [path("/p"), argv("rm -rf ."), "rw"], [path("/q"), argv("rm -rf ."), "rw"]],
  [
    "proc.exec",
    { in: "/p", patterns: ["git log **"] },
    [path("/p"), argv("git log -1"), "ro"],
    [path("/p"), argv("git lo -1"), "ro"],
  ],
  [
    "proc.exec",
    { in: "/p", patterns: ["git **"], cmds: ["rg"] },
    [path("/p"), argv("rg --pre x"), "ro"],
    [path("/p"), argv("git -c x"), "ro"],
  ],
  ["proc.exec", { in: "/p", root: "ro" }, [path("/p"), argv("ls"), "ro"], [path("/p"), argv("ls"), "rw"]],
  ["proc.exec", { in: "/p", cmds: ["ls"] }, [path("/p"), argv("ls"), "ro"], [path("/p"), argv("lz"), "ro"]],
  ["proc.eval", { in: "/p" }, [path("/p/q"), "rw"], [path("/"), "rw"]],
  ["net.get", { hosts: ["api.x.com"] }, [host("api.x.com"), 80], [host("apj.x.com"), 80]],
  ["net.get", { hosts: ["*.x.com"] }, [host("x.com"), 1], [host("yx.com"), 1]],
  ["net.get", { hosts: ["+.x.com"] }, [host("a.x.com"), 1], [host("x.com"), 1]],
  ["net.get", { hosts: ["*"] }, [host("8.8.8.8"), 1], [host("10.0.0.1"), 1]],
  ["net.get", { hosts: ["10.0.0.1"] }, [host("10.0.0.1"), 1], [host("10.0.0.2"), 1]],
  ["net.get", { hosts: ["x.com"], ports: [443] }, [host("x.com"), 443], [host("x.com"), 444]],
  ["net.get", { hosts: ["x.com"], ports: ["8000-8100"] }, [host("x.com"), 8100], [host("x.com"), 8101]],
  ["net.get", { hosts: ["x.com"], ports: [443] }, [host("x.com"), 443], [host("x.com"), 44]],
  ["net.connect", { hosts: ["x.com"], ports: ["*"] }, [host("x.com"), 5, "sni"], [host("x.com"), 5, "raw"]],
  [
    "net.connect",
    { hosts: ["x.com"], ports: ["443"], raw: true },
    [host("x.com"), 443, "raw"],
    [host("x.com"), 442, "raw"],
  ],
  ["secret.use", { names: ["gh"] }, [name("gh"), tool("x"), host("y.z")], [name("gi"), tool("x"), host("y.z")]],
  [
    "secret.use",
    { names: ["**"], tools: ["web_fetch"] },
    [name("a"), tool("web_fetch"), host("y.z")],
    [name("a"), tool("web_fetcg"), host("y.z")],
  ],
  [
    "secret.use",
    { names: ["gh"], hosts: ["a.b"] },
    [name("gh"), tool("x"), host("a.b")],
    [name("gh"), tool("x"), host("a.c")],
  ],
  ["provider.web_search", { hosts: ["*.a.b"] }, [host("c.a.b")], [host("c.a.d")]],
  ["records.read", { classes: ["note"] }, [name("note"), name("a/b")], [name("mote"), name("a/b")]],
  ["records.read", { paths: ["people/*"] }, [name("x"), name("people/a")], [name("x"), name("people/a/b")]],
  ["agent.grant", { id: "agents/scout" }, [name("scout"), undefined], [name("scoup"), undefined]],
  ["agent.grant", { ids: ["a", "b"], id: "c" }, [name("c"), undefined], [name("d"), undefined]],
  ["memory.read", { keys: ["db-*"] }, [name("db-1")], [name("dc-1")]],
  ["obs.query", { agents: ["self"] }, [name("self")], [name("selg")]],
  ["tool.invoke", { tools: ["fs_read"] }, [tool("fs_read"), json({})], [tool("fs_write"), json({})]],
  ["tool.invoke", null, [tool("fs_read"), json({})], [tool("fs_reed"), json({})]],
  ["tool.invoke", { tools: ["mcp.**"] }, [tool("mcp.a.b"), json({})], [tool("mcq.a.b"), json({})]],
  [
    "tool.invoke",
    { tools: ["t"], args: { amount: { range: [0, 100] } } },
    [tool("t"), json({ amount: 100 })],
    [tool("t"), json({ amount: 101 })],
  ],
  [
    "tool.invoke",
    { tools: ["t"], args: { a: { range: [null, 5] } } },
    [tool("t"), json({ a: -1e9 })],
    [tool("t"), json({ a: 6 })],
  ],
  [
    "tool.invoke",
    { tools: ["t"], args: { a: { values: ["x", 1, null] } } },
    [tool("t"), json({ a: null })],
    [tool("t"), json({ a: "1" })],
  ],
  [
    "tool.invoke",
    { tools: ["t"], args: { a: { max_length: 2 } } },
    [tool("t"), json({ a: "xy" })],
    [tool("t"), json({ a: "xyz" })],
  ],
  [
    "tool.invoke",
    { tools: ["t"], args: { a: { text: ["Re: *"] } } },
    [tool("t"), json({ a: "Re: b" })],
    [tool("t"), json({ a: "Rf: b" })],
  ],
  [
    "tool.invoke",
    { tools: ["t"], args: { a: { text: ["x"] } } },
    [tool("t"), json({ a: "x" })],
    [tool("t"), json({ a: "xx" })],
  ],
  [
    "tool.invoke",
    { tools: ["t"], args: { a: { path: ["src/**"] } } },
    [tool("t"), json({ a: "src/b" })],
    [tool("t"), json({ a: "srd/b" })],
    { root: P },
  ],
  [
    "tool.invoke",
    { tools: ["t"], args: { a: { path: ["src/**"] } } },
    [tool("t"), json({ a: "/p/src" })],
    [tool("t"), json({ a: "/p/src/../b" })],
    { root: P },
  ],
  [
    "tool.invoke",
    { tools: ["t"], args: { a: { path: ["~/b"] } } },
    [tool("t"), json({ a: "/home/u/b" })],
    [tool("t"), json({ a: "/home/u/c" })],
  ],
  [
    "tool.invoke",
    { tools: ["t"], args: { a: { url: ["*.e.com"] } } },
    [tool("t"), json({ a: "https://b.e.com/x" })],
    [tool("t"), json({ a: "https://e.com.b/x" })],
  ],
  [
    "tool.invoke",
    { tools: ["t"], args: { "a.b": { values: [1] } } },
    [tool("t"), json({ a: { b: 1 } })],
    [tool("t"), json({ "a.b": 1 })],
  ],
  [
    "tool.invoke",
    { tools: ["t"], args: { '"a.b".c': { values: [1] } } },
    [tool("t"), json({ "a.b": { c: 1 } })],
    [tool("t"), json({ a: { b: { c: 1 } } })],
  ],
  [
    "tool.invoke",
    { tools: ["t"], args: { a: { values: [1] } }, args_only: true },
    [tool("t"), json({ a: 1 })],
    [tool("t"), json({ a: 1, b: 1 })],
  ],
  ["tool.invoke", { tools: ["t"], args_only: true }, [tool("t"), json({})], [tool("t"), json({ a: 1 })]],
];

test.each(COVERS)("%s %j covers this and not that", (verb, written, covered, refused, around) => {
  const { grant, diagnostics } = read(verb, written, around);
  expect(diagnosticLines(diagnostics)).toEqual([]);
  expect(grantMatches(grant as Grant, covered)).toBe(true);
  expect(grantMatches(grant as Grant, refused)).toBe(false);
});

const CEILING: Around = { reading: { ...READING, ceiling: ["work"] } };

// Each line: a grant that covers nothing, and the position of its warning (null if nothing was meant).
const NOTHING: readonly [string, Written, string | null, Around?][] = [
  ["fs.read", null, "grant"],
  ["fs.read", { paths: ["/etc/**"] }, "grant"],
  ["fs.read", { in: "/etc" }, "in", { root: P }],
  ["fs.read", { in: "/pp" }, "in", { root: P }],
  ["fs.read", { in: "/" }, "in", { root: P }],
  ["fs.read", { in: "/etc" }, "in", CEILING],
  ["fs.read", null, "grant", { ...CEILING, root: ["etc"] }],
  ["fs.read", { in: [] }, null, { root: P }],
  ["fs.read", { paths: [] }, null, { root: P }],
  ["proc.exec", { cmds: ["ls"] }, "grant"],
  ["proc.exec", { cmds: ["ls"] }, "grant", { root: [] }],
  ["proc.exec", { in: "/p", cmds: [] }, null],
  ["net.get", null, "grant"],
  ["net.get", { ports: [443] }, "grant"],
  ["net.get", { private: ["a.b=10.0.0.0/8"] }, "grant"],
  ["net.get", { hosts: [] }, null],
  ["net.get", { hosts: ["a.b"], ports: [] }, null],
  ["net.connect", { hosts: ["a.b"] }, "grant"],
  ["secret.use", { tools: ["x"] }, "grant"],
  ["secret.use", { names: [] }, null],
  ["provider.web_search", null, "grant"],
  ["records.read", { classes: [] }, null],
  ["agent.grant", { ids: [] }, null],
  ["tool.invoke", { tools: [] }, null],
  ["memory.read", { keys: [] }, null],
];

const EVERYTHING: Record<string, readonly Value[]> = {
  fs: [path("/p/a")],
  proc: [path("/p"), argv("ls"), "ro"],
  net: [host("a.b"), 443, "sni"],
  secret: [name("x"), tool("x"), host("a.b")],
  provider: [host("a.b")],
  records: [name("x"), name("x")],
  agent: [name("x"), name("x")],
  tool: [tool("fs_read"), json({})],
  memory: [name("x")],
};

test.each(NOTHING)("%s %j covers nothing, with a warning at %s", (verb, written, where, around) => {
  const { grant, diagnostics } = read(verb, written, around);
  expect(diagnosticLines(diagnostics)).toEqual(where === null ? [] : [`warning inert ${where}`]);
  const values = EVERYTHING[verb.split(".")[0] as string] as readonly Value[];
  expect(grantMatches(grant as Grant, verb === "proc.eval" ? [values[0], "ro"] : values)).toBe(false);
});

test.each([
  ["proc.exec", { in: "/" }],
  ["proc.eval", { in: "/tmp/.." }],
])("%s %j covers the whole machine, with a warning", (verb, written) => {
  const { grant, diagnostics } = read(verb, written);
  expect(diagnosticLines(diagnostics)).toEqual(["warning wide grant"]);
  expect(grant?.root).toEqual([]);
});

test.each([
  "records.read",
  "agent.grant",
  "memory.write",
  "obs.append",
  "task.schedule",
  "sandbox.exec",
  "provider.code_execution",
])("%s alone covers everything, also if a request has no value", (verb) => {
  const { grant } = read(verb, null);
  expect(grantMatches(grant as Grant, [undefined, undefined].slice(0, grant?.scopes.length))).toBe(true);
});

test("a name pattern `**` is any", () => {
  expect(read("memory.read", { keys: ["**"] }).grant?.scopes).toEqual([{ kind: "any" }]);
  expect(read("memory.read", { keys: ["a", "**/**"] }).grant?.scopes).toEqual([{ kind: "any" }]);
  expect(read("memory.read", { keys: ["*"] }).grant?.scopes).not.toEqual([{ kind: "any" }]);
});

test("an opening lets its own name reach its own addresses, within its own grant", () => {
  const { grant } = read("net.get", { hosts: ["*.internal"], private: ["db.internal=10.1.0.0/16"] });
  const at = (text: string, address: string): Value =>
    ({ ...host(text), address: host(address).address }) as Destination;
  expect(grantMatches(grant as Grant, [at("db.internal", "10.1.2.3"), 5432])).toBe(true);
  expect(grantMatches(grant as Grant, [at("db.internal", "10.2.2.3"), 5432])).toBe(false);
  expect(grantMatches(grant as Grant, [at("dc.internal", "10.1.2.3"), 5432])).toBe(false);
});

// Each line: a scope with a mistake in it, and the diagnostic at its exact position.
const WRONG: readonly [string, Written, string, (string | null)?][] = [
  ["fs.write", { pathz: ["/tmp/*"] }, "unknown_key pathz:", "paths"],
  ["net.get", { paths: ["x"] }, "unknown_key paths:", null],
  ["records.read", { __proto__x: 1 }, "unknown_key __proto__x:", null],
  ["net.get", { hosts: ["a.b"], asks: true }, "unknown_key asks:", "ask"],
  ["net.get", { hosts: null }, "wrong_type hosts"],
  ["net.get", { hosts: { a: 1 } }, "wrong_type hosts"],
  ["net.get", { hosts: ["a.b", 5] }, "wrong_type hosts[1]"],
  ["net.get", { hosts: ["a.b", ["c.d"]] }, "wrong_type hosts[1]"],
  ["net.get", { hosts: ["a.b:443"] }, "bad_value hosts[0]"],
  ["net.get", { hosts: ["a.b", "c*.d"] }, "bad_pattern hosts[1]"],
  ["net.get", { hosts: ["a.b"], private: ["a.b"] }, "bad_value private[0]"],
  ["net.get", { hosts: ["a.b"], private: ["a.b=10.0.0.1/8"] }, "bad_value private[0]"],
  ["net.get", { hosts: ["a.b"], ports: [0] }, "bad_value ports[0]"],
  ["net.get", { hosts: ["a.b"], ports: [65_536] }, "bad_value ports[0]"],
  ["net.get", { hosts: ["a.b"], ports: ["20-10"] }, "bad_value ports[0]"],
  ["net.get", { hosts: ["a.b"], ports: ["http"] }, "bad_value ports[0]"],
  ["net.get", { hosts: ["a.b"], ports: [443.5] }, "bad_value ports[0]"],
  ["net.connect", { hosts: ["a.b"], ports: [1], raw: "yes" }, "wrong_type raw"],
  ["fs.read", { in: ["/p"] }, "wrong_type in"],
  ["fs.read", { in: "/p/*" }, "bad_pattern in"],
  ["fs.read", { in: "" }, "bad_value in"],
  ["fs.read", { in: "/p", paths: ["../q"] }, "escapes_root paths[0]"],
  ["fs.read", { in: "/p", paths: ["/etc"] }, "escapes_root paths[0]"],
  ["fs.read", { in: "/p", paths: ["a/[b]"] }, "bad_pattern paths[0]"],
  ["fs.read", { paths: [1] }, "wrong_type paths[0]"],
  ["proc.exec", { in: "/p", cmds: ["git log"] }, "bad_pattern cmds[0]"],
  ["proc.exec", { in: "/p", cmds: ["./git"] }, "bad_pattern cmds[0]"],
  ["proc.exec", { in: "/p", cmds: [true] }, "wrong_type cmds[0]"],
  ["proc.exec", { in: "/p", patterns: ['git "log'] }, "bad_pattern patterns[0]"],
  ["proc.exec", { in: "/p", root: "/p" }, "bad_value root"],
  ["agent.grant", { id: ["a"] }, "wrong_type id"],
  ["agent.grant", { id: "a//b" }, "bad_value id"],
  ["memory.read", { keys: ["a", ""] }, "bad_value keys[1]"],
  ["tool.invoke", { tools: [""] }, "bad_value tools[0]"],
  ["tool.invoke", { args: [] }, "wrong_type args"],
  ["tool.invoke", { args: {} }, "bad_value args"],
  ["tool.invoke", { args: { a: {} } }, "wrong_type args.a"],
  ["tool.invoke", { args: { a: 1 } }, "wrong_type args.a"],
  ["tool.invoke", { args: { a: { values: [1], text: ["x"] } } }, "wrong_type args.a"],
  ["tool.invoke", { args: { a: { valuez: [1] } } }, "unknown_key args.a.valuez:", "values"],
  ["tool.invoke", { args: { a: { range: [1] } } }, "bad_value args.a.range"],
  ["tool.invoke", { args: { a: { range: [2, 1] } } }, "bad_value args.a.range"],
  ["tool.invoke", { args: { a: { range: ["1", 2] } } }, "bad_value args.a.range"],
  ["tool.invoke", { args: { a: { values: [2 ** 53] } } }, "bad_value args.a.values[0]"],
  ["tool.invoke", { args: { a: { values: ["\0"] } } }, "bad_value args.a.values[0]"],
  ["tool.invoke", { args: { a: { max_length: -1 } } }, "bad_value args.a.max_length"],
  ["tool.invoke", { args: { a: { path: ["src"] } } }, "not_absolute args.a.path[0]"],
  ["tool.invoke", { args: { a: { url: ["https://x.y"] } } }, "bad_value args.a.url[0]"],
  ["tool.invoke", { args: { "a..b": { values: [1] } } }, "bad_value args.a..b:"],
  ["tool.invoke", { args: { "": { values: [1] } } }, "bad_value args.:"],
  ["tool.invoke", { args: { '"a': { values: [1] } } }, 'bad_value args."a:'],
  ["tool.invoke", { args: { a: { values: [1] }, '"a"': { values: [2] } } }, 'bad_value args."a":'],
  ["tool.invoke", { args_only: 1 }, "wrong_type args_only"],
  ["net.get", { hosts: ["a.b"], ask: "yes" }, "bad_value ask"],
];

test.each(WRONG)("%s %j is refused as a whole: %s", (verb, written, place, suggestion) => {
  const { grant, diagnostics } = read(verb, written);
  expect(grant).toBeNull();
  expect(diagnosticLines(diagnostics).filter((line) => !line.startsWith("warning"))).toEqual([`error ${place}`]);
  if (suggestion !== undefined) expect(diagnostics.list[0]?.suggestion).toBe(suggestion);
});

test("more arguments than the limit are refused", () => {
  const args = (count: number): Json =>
    Object.fromEntries([...Array(count).keys()].map((at) => [`a${at}`, { values: [1] }]));
  expect(read("tool.invoke", { args: args(6) }).grant).not.toBeNull();
  expect(diagnosticLines(read("tool.invoke", { args: args(7) }).diagnostics)).toEqual(["error too_large args"]);
});

test("more entries than the limit are refused", () => {
  const hosts = (count: number): Json => [...Array(count).keys()].map((at) => `h${at}.x`);
  expect(read("net.get", { hosts: hosts(4096) }).grant).not.toBeNull();
  expect(diagnosticLines(read("net.get", { hosts: hosts(4097) }).diagnostics)).toEqual(["error too_large hosts"]);
});

test("a repeated key, which no tree parser allows, is refused here too", () => {
  const diagnostics = new Diagnostics();
  const once = mapOf({ hosts: ["a.b"] });
  const twice = { ...once, entries: [...once.entries, ...mapOf({ hosts: ["*"] }).entries] };
  const entry = verbEntry("net.get");
  if (entry === null) throw new Error();
  expect(
    readGrant(entry, twice, { reading: READING, diagnostics, span: spanOf("grant"), implied: null, root: null }),
  ).toBeNull();
  expect(diagnosticLines(diagnostics)).toEqual(["error syntax hosts:"]);
});

test("a folder that no pattern can express is refused, so that parsed grants can be printed", () => {
  const reading = { ...READING, pathSettings: { ...READING.pathSettings, home: ["home", "[u]"] } };
  expect(read("fs.read", { in: "~", paths: ["a"] }, { reading }).grant).not.toBeNull();
  expect(diagnosticLines(read("fs.read", { in: "/home", paths: ["~/a"] }, { reading }).diagnostics)).toEqual([
    "error bad_pattern paths[0]",
  ]);
});
