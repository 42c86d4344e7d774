// Settings go into a client's home without credentials, wherever they are written; everything else stays as it is.
import { getStaticTOMLValue, parseTOML } from "toml-eslint-parser";
import { expect, test } from "vitest";
import type { JsonObject } from "../core/base/json.ts";
import { credentialIn, holdsCredential } from "./credential-patterns.ts";
import { plainLines, sandboxSettings, tomlText } from "./settings.ts";

const paths = { root: "/work/project", home: "/run/ambit/home", relay: null };
const ALL = { kind: "json", path: "x.json", only: null, without: [], set: {} } as const;

function cleaned(own: JsonObject): unknown {
  return JSON.parse(JSON.stringify(sandboxSettings(own, ALL, paths).value));
}

test.each<[string, JsonObject, JsonObject]>([
  ["a key", { apiKey: "x", model: "m" }, { model: "m" }],
  ["a key in upper case", { OPENAI_API_KEY: "x" }, {}],
  ["a key in a list of maps", { a: [{ token: "x", name: "n" }] }, { a: [{ name: "n" }] }],
  [
    "variables of a server",
    { mcpServers: { x: { command: "c", env: { A: "b" } } } },
    { mcpServers: { x: { command: "c" } } },
  ],
  [
    "headers of a server",
    { s: { url: "https://a.test", headers: { "X-Any": "b" } } },
    { s: { url: "https://a.test" } },
  ],
  ["a program that prints the key", { "api-key-helper": "/x/key.sh" }, {}],
  ["a password in a URL", { url: "https://me:word@a.test/" }, {}],
  ["a token among arguments", { args: ["--with", "ghp_abcdefghijklmnopqrstuvwx"] }, { args: ["--with"] }],
  ["the word after an option", { args: ["-y", "x", "--api-key", "abcdefgh"] }, { args: ["-y", "x", "--api-key"] }],
  ["the value of an option", { args: ["--figma-api-key=abcdefgh"] }, { args: [] }],
  ["a variable of a container", { args: ["-e", "LINEAR_PAT=abcdefgh", "-i"] }, { args: ["-e", "-i"] }],
  ["a command in one text", { command: "npx x --access-token abcdefgh" }, {}],
  ["a rule with a variable", { allow: ["Bash(MY_SECRET=abcdefgh curl:*)", "Bash(ls:*)"] }, { allow: ["Bash(ls:*)"] }],
  ["a rule with a header", { allow: ['Bash(curl -H "Authorization: Basic YW5uOndvcmQ=" x)'] }, { allow: [] }],
  ["a key in the query of an address", { url: "https://mcp.a.test/mcp?exaApiKey=abcdefgh" }, {}],
  ["a key in the middle of a query", { url: "https://a.test/?x=1&key=abcdefgh&y=2" }, {}],
  ["a webhook, which is a credential", { hook: "https://hooks.slack.com/services/T00/B00/abcdef" }, {}],
  ["tokens as a map", { tokens: { access: "abc" } }, {}],
  ["a password under a short name", { smtp_pass: "abc", pat: "abc", auth: "abc" }, {}],
  ["settings of a sign-in stay", { auth: { kind: "sso" } }, { auth: { kind: "sso" } }],
  ...["sk_live_", "gsk_", "xai-", "sbp_", "figd_", "tvly-", "hvs.", "ya29.", "shpat_"].map(
    (start): [string, JsonObject, JsonObject] => [
      `a key that begins with ${start}`,
      { a: `${start}abc123defg456hij789` },
      {},
    ],
  ),
  ["a reference stays", { args: ["--api-key", "${API_KEY}"] }, { args: ["--api-key", "${API_KEY}"] }],
  ["a path stays", { args: ["--key-file", "/etc/x/a.pem"] }, { args: ["--key-file", "/etc/x/a.pem"] }],
  ["a number stays", { args: ["--max-tokens=100000"] }, { args: ["--max-tokens=100000"] }],
  ["an author stays", { allow: ["Bash(git log --author=someone)"] }, { allow: ["Bash(git log --author=someone)"] }],
  [
    "prose stays",
    { prompt: "The key: answer. Sign in with a token, then npm_config_registry is set." },
    { prompt: "The key: answer. Sign in with a token, then npm_config_registry is set." },
  ],
  ["a model stays", { model: "claude-sonnet-4-5-20250929" }, { model: "claude-sonnet-4-5-20250929" }],
  ["a credential as the name of a key", { "sk-abcdefghijklmnopqrstuv": 1 }, {}],
  [
    "a number of tokens stays",
    { maxTokens: 4, max_output_tokens: 5, model_auto_compact_token_limit: 6 },
    { maxTokens: 4, max_output_tokens: 5, model_auto_compact_token_limit: 6 },
  ],
  ["a switch stays", { useOAuth: true }, { useOAuth: true }],
  ["an ordinary URL stays", { url: "https://a.test/x@y" }, { url: "https://a.test/x@y" }],
])("%s", (_title, own, left) => {
  expect(cleaned(own)).toEqual(left);
});

test("the omitted keys are reported by their path", () => {
  expect(sandboxSettings({ a: { b: { token: "x" } } }, ALL, paths).dropped).toEqual(["a.b.token"]);
});

test("the profile's answers override the person's, map by map, with the paths inside", () => {
  const set = { projects: { "{root}": { trusted: true } }, tools: { sandbox: false } };
  const own = { projects: { "/other": { trusted: false } }, tools: { sandbox: true, x: 1 } };
  expect(sandboxSettings(own, { ...ALL, set }, paths).value).toEqual({
    projects: { "/other": { trusted: false }, "/work/project": { trusted: true } },
    tools: { sandbox: false, x: 1 },
  });
});

test("only what is listed is copied, and nothing that is excluded", () => {
  const own = { theme: "dark", hooks: {}, oauthAccount: {} };
  expect(sandboxSettings(own, { ...ALL, only: ["theme"] }, paths).value).toEqual({ theme: "dark" });
  expect(sandboxSettings(own, { ...ALL, without: ["hooks"] }, paths).value).toEqual({ theme: "dark" });
});

test("a key such as __proto__ is an ordinary key", () => {
  const own = JSON.parse('{"__proto__": {"sandbox": 1}, "a": 1}') as JsonObject;
  const { value } = sandboxSettings(own, ALL, paths);
  expect(value["sandbox"]).toBeUndefined();
  expect(Object.keys(value)).toEqual(["__proto__", "a"]);
});

test("TOML parses back as what was written", () => {
  const value = {
    model: 'a "quoted"\nline\u007f\u0001',
    'pro"jects': { "/a b": { trust_level: "trusted", nested: { list: [1, "two", { three: true }] } } },
    gone: null,
    rate: 1.5,
  };
  const { gone, ...rest } = value;
  expect(gone).toBeNull();
  expect(getStaticTOMLValue(parseTOML(tomlText(value)))).toEqual(rest);
});

test.each([
  ["-----BEGIN OPENSSH PRIVATE KEY-----", true],
  ["Authorization: Bearer abcdefghijkl", true],
  ["eyJhbGciOiJI.eyJzdWIiOiIx.sig", true],
  ["write sk- in front", false],
  ["the bearer of this", false],
  ["git@github.com:me/x", false],
])("%s: %s", (text, holds) => {
  expect(holdsCredential(text)).toBe(holds);
});

test.each<[string, readonly string[]]>([
  ["registry=https://npm.example.com/", []],
  ["@acme:registry = https://npm.example.com/acme/", []],
  ["cafile=/etc/ssl/certs/acme.pem", []],
  ["; a comment", []],
  ["//npm.example.com/:_authToken=abc", ["_authToken"]],
  ["//npm.example.com/:_authToken=${NPM_TOKEN}", ["_authToken"]],
  ["//npm.example.com/:_password = abc", ["_password"]],
  ["//npm.example.com/:username=ann", ["username"]],
  ["_auth=YWJj", ["_auth"]],
  ["//npm.example.com/:certfile=/home/ann/cert.pem", ["certfile"]],
  ['key="-----BEGIN"', ["key"]],
  ["https-proxy=http://ann:pass@proxy.example.com/", ["https-proxy"]],
  ["index-url = https://ann@pypi.example.com/simple", ["index-url"]],
  ["_AUTHTOKEN=abc", ["_AUTHTOKEN"]],
  ['"_auth"=YWJj', ['"_auth"']],
  ["password =\n    abc", ["password"]],
  ["anything=npm_0123456789abcdefghij", ["anything"]],
])("the line %s is copied without %j", (line, dropped) => {
  const { lines, dropped: found } = plainLines(`first=1\n${line}\nlast=2`);
  expect(found).toEqual(dropped);
  expect(lines.join("\n")).toBe(dropped.length === 0 ? `first=1\n${line}\nlast=2` : "first=1\nlast=2");
});

test("a line that names certificates is told apart, in its place", () => {
  const { lines } = plainLines('[global]\ncert = "/a b.pem"\n[install]\ncertain = 1', "cert");
  expect(lines).toEqual(["[global]", { authorities: "/a b.pem" }, "[install]", "certain = 1"]);
});

test.each([
  ["AUTH_URL=https://a.test/?token=abcdef", true],
  ["--url=https://a.test/?token=abcdef", true],
  ["AUTH_URL=https://a.test/x", false],
  ["--token=/abc+def==", true],
  ["--author=someone", false],
])("the word %s of a command line: %s", (word, holds) => {
  expect(credentialIn(word)).toBe(holds);
});

test.each(["a", "=a", "a:", "sk_a-", "token", "eyJaaaaaaaa", "authorization:"])(
  "a long text of %s is read to its end",
  (part) => {
    const text = part.repeat(131_072 / part.length);
    expect(cleaned({ text, list: [text], key: `${text} ghp_abcdefghijklmnopqrstuvwx` })).not.toHaveProperty("key");
  },
);
