// The corpora runner itself: it counts every case once, and reports every miss.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { nativeMissing } from "../files/native.ts";
import { start } from "./start.ts";
import { passCount, type Row } from "./tally.ts";

const ours = join(import.meta.dirname, "../../spec/corpora");
const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function folderWith(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), "ambit-corpora-"));
  folders.push(folder);
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
  return folder;
}

async function run(...given: readonly string[]): Promise<{ status: number; out: string; faults: readonly string[] }> {
  const [lines, faults]: [string[], string[]] = [[], []];
  const status = await start(given, { out: (line) => lines.push(line), fault: (line) => faults.push(line) });
  return { status, out: lines.join("\n"), faults };
}

async function rowsOf(folder: string): Promise<readonly Row[]> {
  return (JSON.parse((await run(folder, "--json")).out) as { corpora: readonly Row[] }).corpora;
}

async function only(folder: string): Promise<Row> {
  const rows = await rowsOf(folder);
  expect(rows).toHaveLength(1);
  return rows[0] as Row;
}

const deno = "deno: *.d includes the apex d";
const tls = "tls: * is exactly one whole left-most label";
const pair = (pattern: unknown, host: unknown, match: boolean, semantics: string) => ({
  cases: [{ pattern, host, match, semantics }],
});
const globbed = (pattern: string, input: string, match: boolean) => ({
  cases: [{ pattern, input, match, lib: "made-up" }],
});
const pathed = (input: string, expect: string) => ({ cases: [{ input, kind: "payload", expect }] });
const laid = (input: string, expect: string, fs: readonly string[], target: string | null = null) => ({
  cases: [{ input, kind: "fs_layout", expect, fs, target }],
});
const fetched = (input: string, must: boolean | null, kind = "url") => ({ cases: [{ input, kind, must_block: must }] });
const scenario = (more: object) => ({ cases: [], scenarios: [{ must_block: true, ...more }] });

/** A row: its description, its expected outcome, its file. */
type Planted = [string, "missed" | "refused" | "decided" | "held", string, unknown];
/** These need the native program. */
const linked: readonly Planted[] = [
  ["a link inside, said to be outside", "missed", "paths.json", laid("a", "error", ["a => b"], "b")],
  ["a link outside, said to be inside", "refused", "paths.json", laid("a/b", "inside", ["a => ../c"])],
  ["a link out and in again", "decided", "paths.json", laid("a", "error", ["a => ../ROOT/b"], "b")],
];

describe("our own corpora", () => {
  test("nothing is missed, wrongly refused, or a fault", async () => {
    const { status, faults } = await run(ours);
    expect({ status, faults }).toEqual({ status: 0, faults: [] });
    for (const row of await rowsOf(ours)) expect(row).toMatchObject({ missed: 0, refused: 0 });
  });

  test("every case is counted once", async () => {
    const rows = await rowsOf(ours);
    expect(rows.reduce((sum, row) => sum + row.total, 0)).toBe(14 + 9 + 4 + 1 + 14 + 15 + 1 + 7 + 14 + 1);
    for (const row of rows) {
      expect(passCount(row)).toBeGreaterThanOrEqual(row.decided);
      expect(passCount(row) + row.missed + row.refused + row.inexpressible + row.skipped).toBe(row.total);
    }
  });

  test("every reason is counted in the text beside the numbers", async () => {
    for (const row of await rowsOf(ours)) {
      const counts = row.why === "" ? [] : row.why.split("; ").map((each) => Number(/ (\d+)$/.exec(each)?.[1]));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(row.decided + row.skipped);
    }
  });

  test("the table ends in one line of totals", async () => {
    expect((await run(ours)).out.split("\n").at(-1)).toMatch(/^\d+ passed, 0 failed$/);
  });
});

describe("a planted case", () => {
  test.each<Planted>([
    ["a subdomain that must not match", "missed", "hosts.json", pair("*.a.test", "b.a.test", false, deno)],
    ["a sibling name that must match", "refused", "hosts.json", pair("*.a.test", "ba.test", true, deno)],
    ["the apex, where the semantics are ours", "missed", "hosts.json", pair("*.a.test", "a.test", false, deno)],
    ["the apex, where they are not", "decided", "hosts.json", pair("*.a.test", "a.test", false, tls)],
    ["a wrong spelling", "missed", "hosts.json", { cases: [{ host: "A.test", normalizes_to: "b.test" }] }],
    ["an invalid host", "missed", "hosts.json", { cases: [], idn_toascii: [{ input: "a.test", ascii: null }] }],
    [
      "a look-alike cannot be excused",
      "missed",
      "hosts.json",
      {
        cases: [],
        own_adversarial: [{ pattern: "*.a.test", host: "a.test", match: false }],
      },
    ],
    ["a file that must not match", "missed", "globs.json", globbed("a/*", "a/b", false)],
    ["a file that must match", "refused", "globs.json", globbed("a/*", "b/a", true)],
    ["a class", "decided", "globs.json", globbed("a/[bc]", "a/b", true)],
    ["a path inside, said to be outside", "missed", "paths.json", pathed("a/b", "outside")],
    ["a path outside, said to be inside", "refused", "paths.json", pathed("../a", "inside")],
    ...(nativeMissing() === null ? linked : []),
    ["a public address that must be blocked", "missed", "ssrf.json", fetched("http://9.9.9.9/", true)],
    ["a private address that must not be blocked", "refused", "ssrf.json", fetched("http://10.0.0.1/", false)],
    ["a public address as an address", "missed", "ssrf.json", fetched("9.9.9.9", true, "ip")],
    ["a plain name that must be blocked", "missed", "ssrf.json", fetched("http://a.test/", true)],
    ["an odd spelling that the resolver decides", "decided", "ssrf.json", fetched("http:\\\\a.test", null)],
    ["an odd spelling that must be allowed", "refused", "ssrf.json", fetched("http:\\\\a.test", false)],
    [
      "a redirect to a public address",
      "missed",
      "ssrf.json",
      scenario({ chain: ["http://a.test/", "http://b.test/"] }),
    ],
    ["a public answer", "missed", "ssrf.json", scenario({ kind: "dns_multi", host: "a.test", answers: [["9.9.9.9"]] })],
    [
      "a second answer that is public too",
      "missed",
      "ssrf.json",
      scenario({
        kind: "dns_rebind",
        host: "a.test",
        answers: [["9.9.9.9"], ["8.8.8.8"]],
      }),
    ],
  ])("%s is %s", async (_, kind, name, file) => {
    const folder = folderWith({ [name]: file });
    const row = await only(folder);
    const counts = { missed: row.missed, refused: row.refused, decided: row.decided, skipped: row.skipped };
    const wanted = { missed: 0, refused: 0, decided: 0, skipped: 0, ...(kind === "held" ? {} : { [kind]: 1 }) };
    expect(counts).toEqual(wanted);
    const { status, out } = await run(folder, "--verbose");
    expect(status).toBe(kind === "missed" ? 1 : 0);
    expect(out.split("\n").at(-1)).toBe(`${kind === "decided" ? 1 : 0} passed, ${kind === "missed" ? 1 : 0} failed`);
    if (kind !== "decided") expect(out).toMatch(new RegExp(`^${kind}: `, "m"));
  });
});

describe("a folder", () => {
  test.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    ["with a file of unknown name", { "hosts.json": { cases: [] }, "host.json": {} }, /^host\.json: no corpus/],
    ["with a file that is not JSON", { "globs.json": "{" }, /^globs\.json: /],
    ["with a file of another shape", { "paths.json": { rows: [] } }, /^paths\.json: there is no "cases"/],
    ["with nothing to run", { "README.md": "" }, /no corpus in it/],
  ])("%s is an error", async (_, files, says) => {
    const { status, faults } = await run(folderWith(files));
    expect(status).toBe(2);
    expect(faults).toEqual([expect.stringMatching(says)]);
  });

  test("that does not exist is an error", async () => {
    expect((await run(join(ours, "nowhere"))).status).toBe(2);
  });

  test("with a text page beside the corpora is not an error", async () => {
    const folder = folderWith({ "README.md": "", "hosts.json": pair("a.test", "a.test", true, deno) });
    expect((await run(folder)).status).toBe(0);
  });

  test("is required, and unknown options are refused", async () => {
    expect((await run()).status).toBe(2);
    expect((await run(ours, "--jsn")).status).toBe(2);
  });
});
