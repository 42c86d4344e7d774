// The file tools from their input to their result, through the confined worker, beside the bare operation in process.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/base/json.ts";
import { Contexts } from "../../src/daemon/contexts/contexts.ts";
import { daemonFiles } from "../../src/daemon/contexts/files.ts";
import { builtinTool } from "../../src/daemon/tools/daemon-tool.ts";
import { RootLock } from "../../src/sandbox/drafts/root-lock.ts";
import { TriggerTable } from "../../src/sandbox/plan/triggers/trigger-table.ts";
import { FILE_TOOLS } from "../../src/tools/files/file-tools.ts";
import { rootFolder } from "../place.ts";
import type { Row } from "../row.ts";
import { authorityOf } from "../sandbox/fixture.ts";
import { byTurns } from "../sandbox/turns.ts";
import {
  carriedValue,
  carryingOf,
  heldBy,
  OURS,
  readingIn,
  sessionIn,
  type ToolsFixture,
  warrantOf,
} from "./fixture.ts";
import { oneByOne } from "./one-by-one.ts";

export const BARE_FILES = "fs.promises";
export const SAME_STEPS = "the same steps by fs.promises";
export const READ_SMALL = "fs_read 1 kB";
export const READ_LARGE = "fs_read 64 kB";
export const WRITE = "fs_write 1 kB";
export const LIST = "fs_list 100 entries";
export const GREP = "fs_grep in 200 files";
export const FILE_CASES: readonly string[] = [READ_SMALL, READ_LARGE, WRITE, LIST, GREP];

const line = "what is not granted cannot happen, and what happens is written down.\n";
const entriesCount = 100;
const searchedCount = 200;
const searchedLines = 60;
const WANTED = "needle";

export async function measureFileTools({ base, project, folders }: ToolsFixture): Promise<readonly Row[]> {
  const data = join(base, "data");
  const [many, searched] = [join(data, "many"), join(data, "searched")];
  mkdirSync(many, { recursive: true });
  mkdirSync(searched);
  for (let at = 0; at < entriesCount; at++) writeFileSync(join(many, `entry-${at}.txt`), "");
  // In every tenth file once: little is found compared with what is read.
  for (let at = 0; at < searchedCount; at++)
    writeFileSync(
      join(searched, `file-${at}.txt`),
      line.repeat(searchedLines) + (at % 10 === 0 ? `a ${WANTED} in the hay\n` : ""),
    );
  const reading = readingIn(data);
  const authority = authorityOf([`fs.read{in=${data}}`, `fs.write{in=${data}}`, "tool.invoke"], reading);
  const session = sessionIn(project);
  const table = new TriggerTable();
  const files = daemonFiles({
    lock: new RootLock(),
    ...{ program: rootFolder, folders, home: null, triggers: () => table },
    held: () => heldBy(authority, reading),
  });
  const contexts = new Contexts({
    held: () => heldBy(authority, reading),
    // File tools store nothing.
    stores: {} as ConstructorParameters<typeof Contexts>[0]["stores"],
    redacting: { known: null, text: (text) => text, json: (value) => value },
    instruments: {
      backends: () => ({ has: () => true, hasSecret: () => false }),
      of: (each) => ({ fetching: null, files: files.of(each), programs: null, secrets: null }),
    },
    now: () => 0,
    id: () => "o_bench",
  });
  const tools = new Map(FILE_TOOLS.map((tool) => [tool.name, builtinTool(tool)]));
  const call = async (name: string, input: JsonObject): Promise<Readonly<Record<string, unknown>>> => {
    const tool = tools.get(name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    const requests = (given: JsonObject) => tool.requests(given, reading, session);
    const warrant = await warrantOf(authority, { name, requirement: null, requests }, input);
    return carriedValue(await tool.execute(carryingOf(session, warrant, contexts, reading)));
  };
  const rows: Row[] = [];
  try {
    for (const [name, bytes] of [
      [READ_SMALL, 1_024],
      [READ_LARGE, 65_536],
    ] as const) {
      const path = join(data, `${bytes}.txt`);
      const text = line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
      writeFileSync(path, text);
      rows.push(
        ...(await byTurns(name, 40, [
          oneByOne(BARE_FILES, 25, async () => expectSame(name, await readFile(path, "utf8"), text)),
          oneByOne(OURS, 25, async () => expectSame(name, (await call("fs_read", { path }))["text"], text)),
        ])),
      );
    }
    rows.push(...(await writes(data, call)));
    const names = new Set(Array.from({ length: entriesCount }, (_, at) => `entry-${at}.txt`));
    const listed = (entries: readonly { readonly name: string }[]): void =>
      expectSame(LIST, entries.filter(({ name }) => names.has(name)).length, entriesCount);
    rows.push(
      ...(await byTurns(LIST, 40, [
        oneByOne(BARE_FILES, 20, async () => listed(await readdir(many, { withFileTypes: true }))),
        oneByOne(OURS, 20, async () =>
          listed((await call("fs_list", { path: many }))["entries"] as { name: string }[]),
        ),
      ])),
      ...(await byTurns(GREP, 25, [
        oneByOne(BARE_FILES, 1, async () => expectSame(GREP, await bareGrep(searched), searchedCount / 10)),
        oneByOne(OURS, 1, async () => {
          const { matches } = await call("fs_grep", { text: WANTED, in: searched });
          const found = matches as readonly { readonly path: string; readonly line: number; readonly text: string }[];
          const isRight = found.every(
            ({ path, line: at, text }) => /0\.txt$/.test(path) && at === searchedLines + 1 && text.includes(WANTED),
          );
          expectSame(GREP, isRight ? found.length : found[0], searchedCount / 10);
        }),
      ])),
    );
    return rows;
  } finally {
    session.close();
    files.close();
  }
}

async function writes(
  data: string,
  call: (name: string, input: JsonObject) => Promise<Readonly<Record<string, unknown>>>,
): Promise<readonly Row[]> {
  const contents = (at: number): string => `${at} `.padEnd(1_023, "x").concat("\n");
  const [plain, beside, ours] = ["plain", "beside", "ours"].map((one) => join(data, `${one}.txt`)) as [
    string,
    string,
    string,
  ];
  const written = (path: string, at: number): void => expectSame(WRITE, readFileSync(path, "utf8"), contents(at));
  const count = 4;
  const checked = (subject: string, path: string, write: (content: string) => Promise<unknown>) => {
    const each = oneByOne(subject, count, async (at) => void (await write(contents(at))));
    return {
      subject,
      turn: async () => {
        const taken = await each.turn();
        written(path, count - 1);
        return taken;
      },
    };
  };
  return byTurns(WRITE, 30, [
    checked(BARE_FILES, plain, (content) => writeFile(plain, content)),
    checked(SAME_STEPS, beside, (content) => writeBeside(beside, content)),
    checked(OURS, ours, async (content) => {
      expectSame(WRITE, (await call("fs_write", { path: ours, content }))["bytes"], content.length);
    }),
  ]);
}

/** What the worker does: beside it, then in its place. */
async function writeBeside(path: string, content: string): Promise<void> {
  await writeFile(`${path}.draft`, content, { flag: "wx" });
  await rename(`${path}.draft`, path);
}

/** Every file read and searched line by line. */
async function bareGrep(folder: string): Promise<number> {
  let found = 0;
  for (const name of await readdir(folder))
    for (const one of (await readFile(join(folder, name), "utf8")).split("\n")) if (one.includes(WANTED)) found++;
  return found;
}

function expectSame(name: string, value: unknown, wanted: unknown): void {
  if (value !== wanted) throw new Error(`${name}: ${String(value).slice(0, 200)}`);
}
