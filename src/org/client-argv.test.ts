// The command lines that give a client one task: what is denied or asked for is withheld by name.
import { expect, test } from "vitest";
import type { Ruling } from "../core/notation/policy/policy-table.ts";
import { askedRequests, type ClientTask, claudeFlags, claudeTools, clientArgv, taskPrompt } from "./client-argv.ts";

const rulings = (table: Readonly<Record<string, Ruling>>): ClientTask["rulings"] =>
  Object.entries(table).map(([capability, ruling]) => ({ capability, ruling }));
const argv = (client: string, table: Readonly<Record<string, Ruling>>): string =>
  clientArgv({
    ...{
      client,
      model: "small",
      instructions: "You help.",
      prompt: "-p work",
      rulings: rulings(table),
      own: new Map(),
    },
  }).join(" ");

test.each([
  [
    "claude",
    { code: "allow" },
    /^claude -p {2}-p work --output-format stream-json --verbose --append-system-prompt You help. --model small --allowedTools Bash/,
  ],
  ["claude", { code: "deny", web: "allow" }, /--allowedTools WebSearch,WebFetch --disallowedTools Bash,Read/],
  ["claude", { code: "ask" }, /--disallowedTools Bash,Read/],
  ["codex", { code: "allow" }, /^codex exec --json --skip-git-repo-check --sandbox danger-full-access -m small/],
  ["codex", { code: "deny" }, /^codex exec --json --skip-git-repo-check --sandbox read-only -m small/],
  ["codex", { code: "ask" }, /--sandbox read-only/],
  ["opencode", { code: "allow" }, /^opencode run --format json -m small/],
  ["own-client", { code: "allow" }, /^own-client You help\.\n\n-p work$/],
] as const)("%s with %o", (client, table, expected) => {
  expect(argv(client, table)).toMatch(expected);
});

test("a capability that asks is requested before the run, unless it was refused for this task", () => {
  const table = rulings({ code: "ask", web: "ask", consult: "allow", crm: "ask" });
  const asked = (refused: readonly string[]): readonly string[] =>
    askedRequests({ client: "claude", rulings: table, own: new Map() }, "ada", refused).map(
      ({ capability }) => capability,
    );
  expect(asked([])).toEqual(["code", "web"]);
  expect(asked(["code"])).toEqual(["web"]);
});

test.each([
  ["claude", "ask", ["run"], [{ capability: "deploy", request: "tool.invoke capability/deploy" }]],
  ["claude", "allow", ["run"], []],
  ["claude", "deny", ["run"], []],
  ["claude", "ask", [], []],
  ["codex", "ask", ["run"], []],
] as const)(
  "%s: a capability of the file's own with the ruling %s and the tools %j",
  (client, ruling, tools, expected) => {
    const span = { source: "", start: 0, end: 0 };
    const own = new Map([["deploy", { name: "deploy", grants: null, tools, span }]]);
    expect(askedRequests({ client, rulings: rulings({ deploy: ruling }), own }, "ada", [])).toEqual(expected);
  },
);

test("the agent reads why it was refused", () => {
  expect(
    taskPrompt({ prompt: "Work.", refused: [{ capability: "web", reason: "not today" }], requested: [], notes: [] }),
  ).toBe("Work.\n\nThe capability web was refused for this task: not today. Work without it.");
});

test("allow adds tools, ask and deny withhold them", () => {
  const tools = claudeTools([
    ["code", "deny"],
    ["consult", "allow"],
    ["web", "ask"],
    ["hire", "allow"],
  ]);
  expect(claudeFlags(tools)).toEqual([
    "--allowedTools",
    "Task",
    "--disallowedTools",
    "Bash,Read,Write,Edit,Glob,Grep,WebSearch,WebFetch",
  ]);
});

test("a tool of two capabilities is withheld if one of them withholds it", () => {
  const tools = { a: ["X", "Y"], b: ["Y"] };
  expect(
    claudeTools(
      [
        ["a", "allow"],
        ["b", "deny"],
      ],
      tools,
    ),
  ).toEqual({ allowed: ["X"], disallowed: ["Y"] });
});

test("a capability named like a property of every object has no tools", () => {
  expect(
    claudeTools([
      ["constructor", "allow"],
      ["__proto__", "allow"],
    ]),
  ).toEqual({ allowed: [], disallowed: [] });
});
