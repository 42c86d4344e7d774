// Files through the worker beside the same files read and written by our own process.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { judge } from "../../src/core/authority/judge.ts";
import type { FileResult } from "../../src/core/ports/files.ts";
import { segmentsOf } from "../../src/platform/folders.ts";
import { ConfinedFiles, FILE_LIMITS } from "../../src/sandbox/files/confined-files.ts";
import { type SandboxEnvironment, sandboxFacts } from "../../src/sandbox/linux/detect-sandbox.ts";
import { hostPath } from "../../src/sandbox/linux/host-path.ts";
import { toAscii } from "../../src/sandbox/network/names/ascii.ts";
import type { Row } from "../row.ts";
import { OURS } from "./ambit.ts";
import { authorityOf, type BenchFixture, moment } from "./fixture.ts";
import { byTurns, type Contender } from "./turns.ts";

export const ASYNC = "fs.promises";
export const SYNC = "fs sync";
export const SAME_STEPS = "the same steps in process";
export const SMALL_READ = "read 1 kB";

const READS = [
  { name: SMALL_READ, bytes: 1_024 },
  { name: "read 64 kB", bytes: 65_536 },
  { name: "read 1 MB", bytes: 1_048_576 },
] as const;
const WRITES = [
  { name: "write 1 kB", bytes: 1_024 },
  { name: "write 64 kB", bytes: 65_536 },
] as const;
const entriesCount = 100;
const LIST = `list ${entriesCount} entries`;
const turnsCount = 40;
/** In one turn, one after the other: a single call is too short to be distinguished from what came before it. */
const readsCount = 25;
const writesCount = 3;

export async function measureFiles(ground: SandboxEnvironment, { folder }: BenchFixture): Promise<readonly Row[]> {
  const data = join(folder, "files");
  mkdirSync(join(data, "many"), { recursive: true });
  for (let at = 0; at < entriesCount; at++) writeFileSync(join(data, "many", `entry-${at}.txt`), "");
  const files = confined(ground, data);
  const rows: Row[] = [];
  try {
    for (const { name, bytes } of READS) {
      const path = join(data, `${bytes}.bin`);
      writeFileSync(path, Buffer.alloc(bytes, 0x61));
      const check = (content: Uint8Array): void => expectLength(name, content.length, bytes);
      rows.push(
        ...(await byTurns(name, turnsCount, [
          many(SYNC, readsCount, () => check(readFileSync(path))),
          many(ASYNC, readsCount, async () => check(await readFile(path))),
          many(OURS, readsCount, async () => {
            check(granted(await files.read(segmentsOf(path), { offset: 0, bytesMax: bytes * 2 })));
          }),
        ])),
      );
    }
    for (const { name, bytes } of WRITES) rows.push(...(await writes(files, data, name, bytes)));
    const many100 = join(data, "many");
    rows.push(
      ...(await byTurns(LIST, turnsCount, [
        many(SYNC, readsCount, () =>
          expectLength(LIST, readdirSync(many100, { withFileTypes: true }).length, entriesCount),
        ),
        many(ASYNC, readsCount, async () =>
          expectLength(LIST, (await readdir(many100, { withFileTypes: true })).length, entriesCount),
        ),
        many(OURS, readsCount, async () =>
          expectLength(LIST, granted(await files.list(segmentsOf(many100), 1_000)).length, entriesCount),
        ),
      ])),
    );
  } finally {
    files.close();
  }
  return rows;
}

async function writes(files: ConfinedFiles, data: string, name: string, bytes: number): Promise<readonly Row[]> {
  const content = Buffer.alloc(bytes, 0x62);
  const [plain, beside, ours] = ["plain", "beside", "ours"].map((one) => join(data, `${one}-${bytes}.bin`)) as [
    string,
    string,
    string,
  ];
  const rows = await byTurns(name, turnsCount, [
    many(ASYNC, writesCount, () => writeFile(plain, content)),
    many(SAME_STEPS, writesCount, () => writeBeside(beside, content)),
    many(OURS, writesCount, async () => void granted(await files.write(segmentsOf(ours), content))),
  ]);
  for (const path of [plain, beside, ours])
    if (!readFileSync(path).equals(content)) throw new Error(`${name}: ${path} does not contain what was written`);
  return rows;
}

/** What the worker does: beside it, then in its place. */
function writeBeside(path: string, content: Buffer): void {
  writeFileSync(`${path}.draft`, content, { flag: "wx" });
  renameSync(`${path}.draft`, path);
}

function many(subject: string, count: number, work: () => Promise<unknown> | unknown): Contender {
  return {
    subject,
    turn: async () => {
      const took: number[] = [];
      for (let at = 0; at < count; at++) {
        const before = process.hrtime.bigint();
        const working = work();
        if (working instanceof Promise) await working;
        took.push(Number(process.hrtime.bigint() - before));
      }
      return took;
    },
  };
}

function confined(ground: SandboxEnvironment, data: string): ConfinedFiles {
  const landlock = sandboxFacts(ground).kernel?.["landlockAbi"];
  const path = segmentsOf(data);
  const reading = { pathSettings: { home: null, base: null, protectedPaths: [] }, toAscii, ceiling: null };
  const authority = authorityOf([`fs.read{in=${data}}`, `fs.write{in=${data}}`], reading);
  return new ConfinedFiles({
    program: hostPath(ground.system.program),
    trees: [{ path, mode: "write" }],
    judge: (request) => judge(authority, request, moment()),
    protectedPaths: [],
    pinned: [],
    restrictions: { landlock: typeof landlock === "number" ? landlock : 0, architecture: ground.system.architecture },
    limits: FILE_LIMITS,
  });
}

function granted<T>(result: FileResult<T>): T {
  if (!result.ok) throw new Error(`the file worker: ${result.code} ${result.reason}`);
  return result.value;
}

function expectLength(name: string, length: number, wanted: number): void {
  if (length !== wanted) throw new Error(`${name}: ${length} instead of ${wanted}`);
}
