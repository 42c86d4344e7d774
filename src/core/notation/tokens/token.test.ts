import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { grantMatches } from "../../authority/compiled.ts";
import type { Grant } from "../../authority/grant.ts";
import { Diagnostics } from "../diagnostic.ts";
import { compactText } from "../printer.ts";
import type { Reading } from "../reading.ts";
import { HOSTILE_TEXTS } from "../testing/coverage.ts";
import { diagnosticLines, READING, spanOf } from "../testing/notation.ts";
import { readToken, readTokenRequest } from "./token.ts";

function read(text: string, reading: Reading = READING): { grant: Grant | null; told: string[]; fix: string | null } {
  const diagnostics = new Diagnostics();
  const grant = readToken(text, { reading, diagnostics, span: spanOf("token") });
  return { grant, told: diagnosticLines(diagnostics), fix: diagnostics.list[0]?.fix ?? null };
}

function covers(held: string, asked: string): boolean {
  const { grant } = read(held);
  const request = readTokenRequest(asked, { reading: READING });
  if (!request.ok) throw new Error(`${asked}: ${request.message}`);
  return grant !== null && grant.verb === request.value.verb && grantMatches(grant, request.value.values);
}

describe("a token covers what its glob matches, and nothing else", () => {
  test.each([
    [
      "a deep star covers every depth",
      "fs.write:/home/agent/**",
      "fs.write:/home/agent/a/b",
      "fs.write:/home/agentx/a",
    ],
    ["a star covers one name", "fs.write:/home/agent/*", "fs.write:/home/agent/a", "fs.write:/home/agent/a/b"],
    ["a plain path covers itself", "fs.read:/etc/hosts", "fs.read:/etc/hosts", "fs.read:/etc/hosts2"],
    ["a path with `..` is normalized", "fs.read:/a/../b/**", "fs.read:/b/x", "fs.read:/a/x"],
    ["~ is the home folder", "fs.read:~/notes/**", "fs.read:/home/u/notes/a", "fs.read:/home/v/notes/a"],
    ["braces are choices", "fs.read:/w/{a,b}", "fs.read:/w/a", "fs.read:/w/c"],
    ["reading is not writing", "fs.read:/w/**", "fs.read:/w/a", "fs.write:/w/a"],
    ["a tool by its name", "tool.invoke:echo", "tool.invoke:echo", "tool.invoke:echo2"],
    [
      "a lone star is any tool",
      "tool.invoke:*",
      "tool.invoke:mcp.github.create_issue",
      "memory.read:mcp.github.create_issue",
    ],
    [
      "a namespace of tools",
      "tool.invoke:mcp.github.*",
      "tool.invoke:mcp.github.create_issue",
      "tool.invoke:mcp.gitlab.create_issue",
    ],
    [
      "a namespace of tools does not include its own name",
      "tool.invoke:mcp.github.*",
      "tool.invoke:mcp.github.a.b",
      "tool.invoke:mcp.github",
    ],
    ["a seed's tool is ours", "tool.invoke:fs.read", "tool.invoke:fs_read", "tool.invoke:fs_write"],
    ["a seed's family is ours", "tool.invoke:web.*", "tool.invoke:web_fetch", "tool.invoke:fs_read"],
    [
      "a seed's family includes its third-party tools",
      "tool.invoke:fs.*",
      "tool.invoke:fs.chmod",
      "tool.invoke:fsx.chmod",
    ],
    ["part of a seed's family", "tool.invoke:fs.re*", "tool.invoke:fs.read", "tool.invoke:fs.write"],
    ["a secret by prefix", "secret.use:openai-*", "secret.use:openai-key", "secret.use:openia-key"],
    ["a secret's star stops at a slash", "secret.use:db/*", "secret.use:db/main", "secret.use:db/main/x"],
    ["a subdomain", "net.connect:*.example.com:443", "net.connect:api.example.com:443", "net.connect:example.com:443"],
    [
      "subdomains at any depth",
      "net.connect:*.example.com:443",
      "net.connect:a.b.example.com:443",
      "net.connect:a.bexample.com:443",
    ],
    [
      "one port",
      "net.connect:api.example.com:443",
      "net.connect:api.example.com:443",
      "net.connect:api.example.com:444",
    ],
    [
      "any port when it is written",
      "net.connect:api.example.com:*",
      "net.connect:api.example.com:1",
      "net.connect:api.example.org:1",
    ],
    [
      "hosts are case-insensitive and lose one dot",
      "net.connect:API.Example.com.:443",
      "net.connect:api.example.com:443",
      "net.connect:api.example.co:443",
    ],
    ["a range of addresses", "net.connect:10.0.0.0/8:5432", "net.connect:10.1.2.3:5432", "net.connect:11.1.2.3:5432"],
    [
      "an IPv6 address in brackets",
      "net.connect:[2606:4700::1]:443",
      "net.connect:[2606:4700::1]:443",
      "net.connect:[2606:4700::2]:443",
    ],
    [
      "our own verbs take any port unless they name one",
      "net.get:example.com",
      "net.get:example.com:8080",
      "net.get:example.org:8080",
    ],
    ["our own verbs with a port", "net.post:example.com:443", "net.post:example.com:443", "net.post:example.com:80"],
    ["any host means public ones", "net.get:*", "net.get:8.8.8.8:53", "net.get:10.0.0.1:53"],
    ["a memory key", "memory.read:config", "memory.read:config", "memory.read:config2"],
    ["any memory key", "memory.read:*", "memory.read:a/b", "memory.write:a/b"],
    ["memory keys of one segment below a name", "memory.read:a/*", "memory.read:a/b", "memory.read:a/b/c"],
    ["any tool of a namespace", "tool.invoke:fs.*", "tool.invoke:fs_edit", "tool.invoke:web_fetch"],
    ["writing memory is not reading it", "memory.write:notes", "memory.write:notes", "memory.read:notes"],
    ["observations of one agent", "obs.query:scout", "obs.query:scout", "obs.query:scout2"],
    ["agents by pattern", "agent.discover:team-*", "agent.discover:team-a", "agent.discover:tea-a"],
    ["a verb without axes", "sandbox.exec", "sandbox.exec", "task.schedule"],
    [
      "where a provider searches",
      "provider.web_search:*.example.com",
      "provider.web_search:a.example.com",
      "provider.web_search:example.com",
    ],
  ])("%s", (_, held, allowed, denied) => {
    expect(covers(held, allowed)).toBe(true);
    expect(covers(held, denied)).toBe(false);
  });
});

describe("a bare token covers everything, with a warning", () => {
  test.each([
    ["fs.read", "fs.read:/etc/passwd", "fs.read{in=/}"],
    ["net.connect", "net.connect:example.com:1", "net.connect{hosts=[*],ports=[*]}"],
    ["secret.use", "secret.use:a/b", "secret.use{names=[**]}"],
    ["tool.invoke", "tool.invoke:a.b", "tool.invoke{tools=[**]}"],
    ["memory.read", "memory.read:a/b", "memory.read"],
    ["records.update", "records.update", "records.update"],
    ["provider.web_fetch", "provider.web_fetch:example.com", "provider.web_fetch{hosts=[*]}"],
  ])("%s", (token, request, printed) => {
    expect(covers(token, request)).toBe(true);
    const { grant, told: said } = read(token);
    expect(said).toEqual(["warning bare_token token"]);
    expect(grant === null ? null : compactText(grant)).toBe(printed);
  });
  test("a colon without a value is not a bare token", () => {
    for (const token of ["fs.read:", "net.connect:", "secret.use:", "tool.invoke:"]) {
      expect(read(token)).toMatchObject({ grant: null, told: ["error bad_value token"] });
    }
  });
  test("a bare file token does not cover a protected path", () => {
    expect(covers("fs.read", "fs.read:/home/u/.ssh/id")).toBe(false);
    expect(covers("fs.read:/home/u/.ssh/id", "fs.read:/home/u/.ssh/id")).toBe(true);
  });
  test("verbs without axes have no other form, so there is no warning", () => {
    expect(read("sandbox.exec").told).toEqual([]);
  });
});

describe("an invalid token grants nothing and has a position", () => {
  test.each([
    ["fs.raed:/x", "unknown_verb"],
    ["*.*", "unknown_verb"],
    ["fs.list:/x", "unknown_verb"],
    ["fs.read:relative/x", "not_absolute"],
    ["fs.read:/x/[ab]", "bad_pattern"],
    ["fs.read:/x/?", "bad_pattern"],
    ["net.connect:example.com", "bad_value"],
    ["net.connect:example.com:", "bad_value"],
    ["net.connect:example.com:0", "bad_value"],
    ["net.connect:example.com:65536", "bad_value"],
    ["net.connect:example.com:0443", "bad_value"],
    ["net.connect:example.com:443:1", "bad_value"],
    ["net.connect:::1:443", "bad_value"],
    ["net.connect:+.example.com:443", "bad_pattern"],
    ["net.connect:exa*.com:443", "bad_pattern"],
    ["net.connect:**:443", "bad_pattern"],
    ["net.connect:10.0.0.1/8:443", "bad_value"],
    ["sandbox.exec:x", "bad_value"],
    ["memory.read:a//b", "bad_value"],
    ["secret.use:a/../b", "bad_value"],
    ["tool.invoke:a..b", "bad_value"],
    ["tool.invoke:a\u0000b", "bad_value"],
  ])("%s", (token, code) => {
    expect(read(token)).toMatchObject({ grant: null, told: [`error ${code} token`] });
  });
  test.each([
    ["proc.exec:git", "proc.exec{in=.,cmds=[git]}"],
    ["proc.exec", "proc.exec{in=.}"],
    ["proc.eval", "proc.eval{in=.}"],
    ["records.read:note", "records.read{classes=[note]}"],
    ["net.connect:example.com", "net.connect:example.com:443"],
  ])("%s is refused with what to write instead", (token, fix) => {
    expect(read(token)).toMatchObject({ grant: null, fix });
  });
});

describe("the outer root limits tokens", () => {
  const reading: Reading = { ...READING, ceiling: ["home", "u"] };
  const matches = (token: string, path: string): boolean => {
    const { grant } = read(token, reading);
    const request = readTokenRequest(`fs.read:${path}`, { reading });
    return grant !== null && request.ok && grantMatches(grant, request.value.values);
  };
  test.each([
    ["inside it a token stays as it is", "fs.read:/home/u/w/**", "/home/u/w/a", "/home/u/x", []],
    [
      "a bare token is clamped to it",
      "fs.read",
      "/home/u/w/a",
      "/home/v/a",
      ["warning bare_token token", "warning clamped token"],
    ],
    [
      "a pattern that reaches beyond is clamped to it",
      "fs.read:/home/*/w",
      "/home/u/w",
      "/home/v/w",
      ["warning clamped token"],
    ],
  ])("%s", (_, token, inside, outside, said) => {
    expect(matches(token, inside)).toBe(true);
    expect(matches(token, outside)).toBe(false);
    expect(read(token, reading).told).toEqual(said);
  });
  test("outside it a token covers nothing", () => {
    expect(read("fs.read:/home/v/**", reading)).toMatchObject({ grant: null, told: ["warning inert token"] });
  });
  test("clamped to it, a token still opens no protected path", () => {
    const ssh: Reading = { ...READING, ceiling: ["home", "u", ".ssh"] };
    const { grant } = read("fs.read", ssh);
    const request = readTokenRequest("fs.read:/home/u/.ssh/id", { reading: ssh });
    expect(request.ok && grant !== null && grantMatches(grant, request.value.values)).toBe(false);
  });
});

describe("a request in token form names one thing", () => {
  test.each([
    "fs.read:/a/*",
    "tool.invoke:*",
    "net.connect:*.x.com:443",
    "net.connect:x.com",
    "proc.exec:git",
    "fs.read:a",
    "nope",
    "memory.read:",
  ])("%s is refused", (text) => {
    expect(readTokenRequest(text, { reading: READING }).ok).toBe(false);
  });
});

describe("hostile text", () => {
  test("never throws and never grants without a verb", () => {
    for (const text of HOSTILE_TEXTS) {
      for (const verb of [
        "",
        "fs.read:",
        "net.connect:",
        "net.get:",
        "tool.invoke:",
        "secret.use:",
        "memory.read:",
        "provider.web_fetch:",
      ]) {
        expect(() => read(`${verb}${text}`)).not.toThrow();
        expect(() => readTokenRequest(`${verb}${text}`, { reading: READING })).not.toThrow();
      }
      expect(read(text).grant).toBe(null);
    }
  });
  test("random text never throws", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("fs.read", "net.connect", "tool.invoke", "agent.create", "x"),
        fc.string({ unit: "binary", maxLength: 40 }),
        (verb, scope) => {
          const { grant, told: said } = read(`${verb}:${scope}`);
          if (grant === null) expect(said.length).toBeGreaterThan(0);
        },
      ),
    );
  });
});
