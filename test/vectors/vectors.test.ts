// Our own vectors pass, and the runner never counts a wrong answer as right.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { vectors } from "./command.ts";
import type { Decision } from "./decision.ts";
import { DECISIONS, decisionFor, inputOf } from "./decisions.ts";
import { FAMILIES } from "./families.ts";
import { type Family, yesOrNo } from "./outcome.ts";
import { type FileReport, totalsOf } from "./report.ts";
import type { Row } from "./row.ts";
import { runFile, runFolder } from "./run.ts";

const own = fileURLToPath(new URL("../../spec/vectors", import.meta.url));
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder with these files, each with its rows. */
function folderOf(files: Readonly<Record<string, readonly Json[]>>): string {
  const folder = mkdtempSync(join(tmpdir(), "ambit-own-vectors-"));
  folders.push(folder);
  for (const [name, rows] of Object.entries(files))
    writeFileSync(join(folder, name), JSON.stringify({ vectors: rows }));
  return folder;
}

async function said(...words: string[]): Promise<{ status: number; out: string; problem: string }> {
  const spoken = { out: "", problem: "" };
  const status = await vectors(words, {
    out: (text) => {
      spoken.out += text;
    },
    problem: (text) => {
      spoken.problem += text;
    },
  });
  return { status, ...spoken };
}

const MATCH: JsonObject = { host: "a.meadow.test", pattern: "*.meadow.test", matches: true };
const WRONG: JsonObject = { ...MATCH, matches: false };

describe("our own vectors", () => {
  test("pass", async () => {
    const report = await runFolder(own);
    expect(report.files.map(({ file }) => `${file}.json`)).toEqual(readdirSync(own).sort());
    expect(report.files.flatMap(({ failed }) => failed)).toEqual([]);
    expect(totalsOf(report).passed).toBeGreaterThan(100);
  });

  test("have totals that are the sum of their parts", async () => {
    const report = await runFolder(own);
    const sum = ({ passed, decided, pending, not_run, failed }: FileReport): number =>
      passed + decided.length + pending.count + not_run.length + failed.length;
    for (const file of report.files) expect([file.file, sum(file)]).toEqual([file.file, file.total]);
  });
});

describe("the command", () => {
  test("exits with 0 if nothing failed, with only the counts on the last line", async () => {
    const { status, out } = await said(folderOf({ "egghead-host-match.json": [MATCH] }));
    expect(status).toBe(0);
    expect(out.trimEnd().split("\n").at(-1)).toBe("1 passed, 0 failed");
  });

  test("exits with 1 if a case failed, and names it", async () => {
    const { status, out } = await said(folderOf({ "egghead-host-match.json": [MATCH, WRONG] }));
    expect(status).toBe(1);
    expect(out).toContain("egghead-host-match#1");
    expect(out.trimEnd().split("\n").at(-1)).toBe("1 passed, 1 failed");
  });

  test("refuses an unknown file, with its name", async () => {
    const { status, out, problem } = await said(
      folderOf({ "egghead-host-match.json": [MATCH], "egghead-hosts.json": [] }),
    );
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(problem).toContain("egghead-hosts.json");
  });

  test("refuses a folder without vectors, a missing one, and a file that is not a vector file", async () => {
    expect((await said(folderOf({}))).status).toBe(1);
    expect((await said("/no/such/folder")).status).toBe(1);
    const folder = folderOf({});
    writeFileSync(join(folder, "bridle-gate.json"), "[]");
    expect((await said(folder)).problem).toContain("bridle-gate.json");
  });

  test("with --json prints the same in the documented shape", async () => {
    const { status, out } = await said(folderOf({ "egghead-host-match.json": [MATCH, WRONG] }), "--json");
    expect(status).toBe(1);
    expect(JSON.parse(out)).toEqual({
      files: [
        {
          file: "egghead-host-match",
          total: 2,
          passed: 1,
          decided: [],
          pending: { count: 0, room: null },
          not_run: [],
          failed: [{ case: "egghead-host-match#1", expected: { matches: false }, got: { matches: true } }],
        },
      ],
    });
  });
});

describe("a decision", () => {
  const file = { name: "egghead-host-match", header: {}, rows: [] };
  const family = FAMILIES.get(file.name) as Family;
  const dotted: JsonObject = { host: "a.meadow.test.", pattern: "a.meadow.test", matches: false };

  test("excuses the answer it predicts, and reports if that is wider", async () => {
    const { decided, failed } = await runFile({ ...file, rows: [dotted] });
    expect(failed).toEqual([]);
    expect(decided).toMatchObject([{ case: "egghead-host-match#0", decision: "0004-host-patterns", wider: true }]);
  });

  test("excuses no other answer, although its predicate holds", async () => {
    // The host ends in a dot, but that is not why it does not match.
    const { failed } = await runFile({ ...file, rows: [{ ...dotted, pattern: "b.meadow.test", matches: true }] });
    expect(failed).toMatchObject([{ expected: { matches: true }, got: { matches: false } }]);
    const blunt: Decision = {
      record: "0004-host-patterns",
      when: "always",
      files: [file.name],
      holds: () => true,
      answer: () => ({ matches: true }),
      seed: () => ({ matches: false }),
    };
    expect(decisionFor(file, dotted, yesOrNo("matches", true, false), [blunt])).toBeNull();
    expect(decisionFor(file, dotted, yesOrNo("matches", false, true), [blunt])).toBe(blunt);
  });

  test("excuses nothing where the seed's rule gives the same answer as ours", () => {
    const idle = DECISIONS.map((decision): Decision => ({ ...decision, seed: decision.answer }));
    expect(decisionFor(file, dotted, yesOrNo("matches", false, true), idle)).toBeNull();
  });

  test("of another file excuses nothing", () => {
    const elsewhere = DECISIONS.filter(({ files }) => !files.includes(file.name));
    expect(elsewhere.length).toBeGreaterThan(0);
    expect(decisionFor(file, dotted, yesOrNo("matches", false, true), elsewhere)).toBeNull();
  });

  test("never sees the expected answer", () => {
    expect(Object.keys(inputOf({ ...dotted, ambit_note: "ambit -> true", origin: "test" }, family))).toEqual([
      "host",
      "pattern",
    ]);
  });

  test("belongs to a file that is run", () => {
    for (const { files } of DECISIONS) for (const name of files) expect([...FAMILIES.keys()]).toContain(name);
  });
});

describe("a row", () => {
  test("without the columns of its file fails and names them", async () => {
    const { failed } = await runFile({
      name: "egghead-host-match",
      header: {},
      rows: [{ host: "a.meadow.test", matches: true }],
    });
    expect(failed).toMatchObject([{ got: { ran: "the row: `pattern` is not text" } }]);
  });

  test("that is prose is not run", async () => {
    const prose = await runFile({ name: "bridle-gate", header: {}, rows: [{ rule: "be kind" }] });
    expect(prose).toMatchObject({ passed: 0, not_run: [{ case: "bridle-gate#0" }], failed: [] });
  });
});

describe("a row about the state", () => {
  const POLICY = { secret: "openai-*", tool: "web.fetch", host: "api.openai.com" };
  const SENT = { secret: "{{secret:openai-key}}", caps: ["secret.use:openai-key"], tool: "web.fetch", policy: POLICY };
  const NETWORK = { policy: "allowlist", allowlist: ["api.openai.com:443"] };
  const READ = ["tool.invoke:fs.read", "fs.read:/home/agent/**"];

  test.each<[string, string, Row, Row]>([
    [
      "calls within one budget",
      "bridle-gate",
      { gate_budget: 1, calls: 2, results: ["ok", "budget"] },
      { gate_budget: 1, calls: 2, results: ["ok", "ok"] },
    ],
    [
      "a granted path",
      "scarab-dispatch",
      { caps: READ, tool: "fs.read", args: { path: "/home/agent/x" }, expect: "allow" },
      { caps: READ, tool: "fs.read", args: { path: "/home/agents/x" }, expect: "allow" },
    ],
    [
      "a host that a secret is bound to",
      "scarab-dispatch",
      { ...SENT, host: "api.openai.com", expect: "allow; scrubbed to [REDACTED:openai-key]" },
      { ...SENT, host: "apj.openai.com", expect: "allow" },
    ],
    [
      "a secret of another tool",
      "scarab-dispatch",
      { ...SENT, caps: ["secret.use:other"], host: "api.openai.com", expect: "deny + anomaly secret_probe" },
      { ...SENT, host: "api.openai.com", expect: "allow + anomaly secret_probe" },
    ],
    [
      "uses",
      "scarab-dispatch",
      { policy: { max_uses: 2 }, uses: 3, expect: "third use denied" },
      { policy: { max_uses: 2 }, uses: 2, expect: "second use denied" },
    ],
    [
      "a canary",
      "scarab-dispatch",
      { canary: "in a result", expect: "anomaly canary_leak" },
      { canary: "in a result", expect: "anomaly secret_probe" },
    ],
    [
      "an address that a listed name resolves to",
      "scarab-dispatch",
      { network: NETWORK, connect: "1.2.3.4:443 resolved from list", expect: "accept" },
      { network: NETWORK, connect: "1.2.3.4:443 not resolved from list", expect: "accept" },
    ],
  ])("passes with the right answer, and fails with the wrong one: %s", async (_, name, holding, failing) => {
    const report = await runFile({ name, header: {}, rows: [holding, failing] });
    expect(report).toMatchObject({ passed: 1, failed: [{ case: `${name}#1` }] });
  });
});
