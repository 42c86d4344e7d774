// Folders for tests of the lander: a root, a state folder with drafts, and upper layers as an overlay would leave them.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach } from "vitest";
import type { LandResult, ScanResult } from "../../src/sandbox/drafts/lander/land-result.ts";
import { LandWorker } from "../../src/sandbox/drafts/lander/land-worker.ts";
import type { Change, DraftScan } from "../../src/sandbox/plan/drafts/change.ts";
import { stepOf } from "../../src/sandbox/plan/drafts/land-request.ts";
import { nativeProgram, nativeWalls } from "../files/native.ts";
import { pause } from "../house/pause.ts";
import { removeState } from "../house/remove-state.ts";

const folders: string[] = [];
const workers: LandWorker[] = [];

afterEach(() => {
  for (const worker of workers.splice(0)) worker.close();
});
afterAll(() => {
  for (const folder of folders.splice(0)) removeState(folder);
});

export function newFolder(below: string = tmpdir()): string {
  const folder = realpathSync(mkdtempSync(join(below, "ambit-draft-")));
  folders.push(folder);
  return folder;
}

/** Parent of the drafts: on the root's file system, and on another one if this machine has it. */
export const places: readonly (readonly [string, string])[] = [
  ["same file system", tmpdir()],
  ...(existsSync("/dev/shm") && statSync("/dev/shm").dev !== statSync(tmpdir()).dev
    ? ([["another file system", "/dev/shm"]] as const)
    : []),
];

export interface DraftFixture {
  readonly root: string;
  readonly drafts: string;
  readonly id: string;
  readonly upper: string;
  /** Taken before the draft: what the program saw. */
  readonly start: bigint;
  readonly worker: LandWorker;
}

/** A node of a tree: text of a file, a folder, or something with a mode or a target. */
export type Node =
  | string
  | null
  | { readonly text?: string; readonly mode?: number; readonly link?: string; readonly whiteout?: true };
export type Tree = Readonly<Record<string, Node>>;

/** Creates files below a folder; null is a folder. */
export function plant(base: string, tree: Tree): void {
  for (const [path, node] of Object.entries(tree)) {
    const full = join(base, path);
    mkdirSync(dirname(full), { recursive: true });
    if (node === null) mkdirSync(full, { recursive: true });
    else if (typeof node === "string") writeFileSync(full, node);
    else if (node.link !== undefined) symlinkSync(node.link, full);
    else if (node.whiteout === true) whiteout(full);
    else {
      writeFileSync(full, node.text ?? "");
      if (node.mode !== undefined) chmodSync(full, node.mode);
    }
  }
}

export function whiteout(path: string): void {
  execFileSync("mknod", [path, "c", "0", "0"]);
}

export function setAttribute(path: string, name: string, value: string): void {
  execFileSync("python3", [
    "-c",
    "import os,sys; os.setxattr(*sys.argv[1:3], sys.argv[3].encode())",
    path,
    name,
    value,
  ]);
}

/** The tree below a folder, name by name: kind, content, executable. */
export function snapshot(base: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(base, { recursive: true, encoding: "utf8" }).sort()) {
    const full = join(base, name);
    const facts = lstatSync(full);
    if (facts.isDirectory()) found[name] = "folder";
    else if (facts.isSymbolicLink()) found[name] = `-> ${readlinkSync(full)}`;
    else if (facts.isFile()) found[name] = `${(facts.mode & 0o777).toString(8)} ${readFileSync(full, "utf8")}`;
    else found[name] = "special";
  }
  return found;
}

/** CLOCK_REALTIME_COARSE, with which the kernel stamps files: at least one tick passes before and after it. */
export async function startMoment(): Promise<bigint> {
  await tick();
  const now = BigInt(Date.now()) * 1_000_000n;
  await tick();
  return now;
}

export function tick(): Promise<void> {
  return pause(25, "file times have the resolution of the kernel's tick");
}

export interface DraftFixtureOptions {
  readonly root: Tree;
  readonly upper?: Tree;
  /** Parent folder of the drafts. */
  readonly place?: string;
  readonly program?: string;
}

export async function draftFixture(options: DraftFixtureOptions): Promise<DraftFixture> {
  const root = newFolder();
  const drafts = newFolder(options.place);
  const id = "d1";
  const upper = join(drafts, id, "upper");
  plant(root, options.root);
  const start = await startMoment();
  mkdirSync(upper, { recursive: true });
  if (options.upper !== undefined) plant(upper, options.upper);
  return { root, drafts, id, upper, start, worker: newWorker(root, drafts, options.program) };
}

export function newWorker(root: string, drafts: string, program: string = nativeProgram): LandWorker {
  const worker = new LandWorker({
    program,
    root,
    drafts,
    restrictions: nativeWalls(),
    silenceMillisecondsMax: 120_000,
  });
  workers.push(worker);
  return worker;
}

export async function scanDraft(given: DraftFixture): Promise<DraftScan> {
  const result: ScanResult = await given.worker.scan(given.id);
  if (result.status !== "scanned") throw new Error(`${result.status}: ${result.reason}`);
  return result.scan;
}

/** Scans, and lands everything or the selected changes. */
export async function landAll(
  given: DraftFixture,
  choose: (change: Change) => boolean = () => true,
): Promise<LandResult> {
  const { changes } = await scanDraft(given);
  return given.worker.land(given.id, changes.filter(choose).map(stepOf), given.start);
}

/** Each change in a few words. */
export function changeLines({ changes }: DraftScan): readonly string[] {
  return changes.map((change) => `${change.kind} ${change.path.join("/")}`);
}

export function temporaryNames(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.includes(".ambit-land-"));
}
