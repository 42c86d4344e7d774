// `ambit tools list` and the documentation page about custom tools: printed examples work as printed; development mode loads the
// current files; and a tool is limited to its declaration and every link, over the real backends.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../house/until.ts";
import { seededSource } from "../laws/source.ts";
import { expectValue, Fixture } from "../state/fixture.ts";

let fixture: Fixture;
const page = readFileSync(fileURLToPath(new URL("../../docs/reference/tool-hosts.md", import.meta.url)), "utf8");
const FOLDERS = ["a", "b", "c"];

/** The name declares its grants: `r_a_bc` reads in `a` and writes in `b` and `c`. */
const toolText = (read: string, write: string): string =>
  `{ name: "r_${read}_${write}", description: "d", input: {}, capabilities: { fs_reach: { read: ${JSON.stringify([...read].filter((one) => one !== "0"))}, write: ${JSON.stringify([...write].filter((one) => one !== "0"))} } },
  execute: async (input, { files }) => { const said = {}; for (const one of ["a", "b", "c"]) said[one] = [(await files.readText(one + "/file")).ok, (await files.write(one + "/made", "x")).ok]; return said; } }`;
const SUBSETS = ["0", "a", "b", "bc", "abc"];

beforeAll(async () => {
  fixture = await Fixture.make();
  const [, example = ""] = /```js\n([\s\S]*?)```/.exec(page) ?? [];
  fixture.write("project/.ambit/tools/notes.mjs", example);
  const all = SUBSETS.flatMap((read) => SUBSETS.map((write) => toolText(read, write)));
  fixture.write("project/.ambit/tools/many.mjs", `export const tools = [${all.join(",\n")}];\n`);
  fixture.write("project/.ambit/tools/broken.mjs", "this is no JavaScript\n");
  fixture.write(
    "project/.ambit/tools/wide.mjs",
    'export default { name: "fs_read", description: "d", input: {}, execute: () => 1 };\n',
  );
  fixture.write("project/notes/today", "ask Ann");
  for (const one of FOLDERS) fixture.write(`project/${one}/file`, one);
  fixture.agent("scout", ["tool.invoke{tools=[read_note]}", "fs.read{in=notes}"]);
  for (const read of SUBSETS)
    for (const write of SUBSETS)
      fixture.agent(`m-${read}-${write}`, [
        "tool.invoke{tools=[**]}",
        ...[...read].filter((one) => one !== "0").map((one) => `fs.read{in=${one}}`),
        ...[...write].filter((one) => one !== "0").map((one) => `fs.write{in=${one}}`),
      ]);
  await fixture.begin();
}, 240_000);
afterAll(() => fixture?.remove());

test("the example of the page is listed and called", async () => {
  const listed = await fixture.ambit("tools", "list", "--agent", "scout", "--json");
  const { tools, refused } = JSON.parse(listed.out) as { tools: { name: string }[]; refused: { source: string }[] };
  expect(tools.filter(({ name }) => name === "read_note")).toMatchObject([
    {
      name: "read_note",
      origin: "notes.mjs",
      risk: "medium",
      declared: { fs_reach: { read: ["notes"] } },
      available: true,
      why: null,
    },
  ]);
  expect(tools.some(({ name }) => name.startsWith("r_"))).toBe(false);
  expect(refused.map(({ source }) => source)).toEqual(["broken.mjs", "wide.mjs: fs_read"]);
  const words = await fixture.ambit("tools", "list");
  expect(words.out).toContain("read_note");
  expect(words.out).toMatch(/fs_read +medium +builtin/);
  expect(words.out).toContain("broken.mjs  not loaded");
  const called = await fixture.ambit("call", "scout", "read_note", '{"name": "today"}');
  expect([called.status, called.out]).toEqual([0, expect.stringContaining("ask Ann")]);
}, 60_000);

test("a tool may do what it declares, its agent is granted, and the session pledged, all three", async () => {
  const caller = fixture.caller();
  const source = seededSource(20_261_115);
  const pick = (): string => SUBSETS[source.below(SUBSETS.length)] as string;
  let [allowed, refused] = [0, 0];
  for (let round = 0; round < 40; round++) {
    const [declared, granted, pledged] = [0, 1, 2].map(() => [pick(), pick()] as const) as [
      readonly [string, string],
      readonly [string, string],
      readonly [string, string],
    ];
    const [read, write] = pledged.map((one) => [...one].filter((letter) => letter !== "0"));
    const pledge = [
      "tool.invoke{tools=[**]}",
      ...(read ?? []).map((one) => `fs.read{in=${join(fixture.project, one)}}`),
      ...(write ?? []).map((one) => `fs.write{in=${join(fixture.project, one)}}`),
    ];
    const session = expectValue(await caller.open(fixture.project, `m-${granted[0]}-${granted[1]}`, { pledge }));
    const called = await session.do(`r_${declared[0]}_${declared[1]}`);
    expect(called.said).toBe("done");
    const said = called.value["result"] as Record<string, readonly [boolean, boolean]>;
    for (const one of FOLDERS)
      for (const at of [0, 1] as const) {
        const isAllowed = [declared, granted, pledged].every((which) => which[at].includes(one));
        expect([round, declared, granted, pledged, one, at, said[one]?.[at]]).toEqual([
          round,
          declared,
          granted,
          pledged,
          one,
          at,
          isAllowed,
        ]);
        if (isAllowed) allowed++;
        else refused++;
      }
    await session.ask("session.close", {}).answer;
  }
  // Both outcomes occurred, often.
  expect(allowed).toBeGreaterThan(10);
  expect(refused).toBeGreaterThan(50);
}, 240_000);

test("in development mode the current file is loaded at the next call, and is marked as such", async () => {
  const path = join(fixture.project, ".ambit", "tools", "notes.mjs");
  writeFileSync(path, `${readFileSync(path, "utf8")}// changed\n`);
  const caller = fixture.caller();
  const session = expectValue(await caller.open(fixture.project, "scout"));
  await until(
    async () => (await session.do("read_note", { name: "today" })).said === "unknown_tool",
    "the change is noticed",
  );
  mkdirSync(fixture.config, { recursive: true });
  writeFileSync(join(fixture.config, "config.yml"), `development: [${JSON.stringify(fixture.project)}]\n`);
  expect((await session.do("read_note", { name: "today" })).said).toBe("done");
  writeFileSync(path, readFileSync(path, "utf8").replace("context.files.readText(`notes/${name}`)", '"as it stands"'));
  expect((await session.do("read_note", { name: "today" })).value["result"]).toBe("as it stands");
  expect((await fixture.ambit("tools", "list", "--agent", "scout")).out).toContain("loaded without trust");
}, 60_000);
