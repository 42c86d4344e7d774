// Races and other attacks that a path cannot show, each tried for real against a real worker. The description of a case selects
// it.
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parsePathPatterns, tree } from "../../src/core/authority/axes/path.ts";
import type { Sequence } from "../../src/core/authority/patterns/sequence.ts";
import type { ConfinedFiles } from "../../src/sandbox/files/confined-files.ts";
import { filesUnder } from "../files/reading.ts";
import { startSwapping } from "../files/swapper.ts";
import { grant } from "../forge/authority.ts";
import { type Data, text } from "./data.ts";
import { HELD, type Outcome } from "./tally.ts";

interface RaceFixture {
  readonly above: string;
  readonly root: readonly string[];
  readonly folder: string;
  readonly outside: string;
}

type Scenario = (fixture: RaceFixture) => Promise<Outcome>;

const attempts = 400;
const secret = "OUTSIDE";

/** The first whose words are in the case. */
const scenarios: readonly (readonly [words: RegExp, run: Scenario])[] = [
  [/hard ?-?link/i, hardLink],
  [/magic|\/proc\//i, magicLink],
  [/moved out|rename|moving/i, movedOut],
  [/sym ?link|link/i, becomesLink],
];

export async function runRace(row: Data): Promise<Outcome> {
  const what = text(row, "what") ?? "";
  // A swap is recognized by its words, also if it is done by renaming.
  const swap = /swap|exchange|replace|becomes/i.test(what) && !/hard ?-?link/i.test(what);
  const run = swap ? becomesLink : scenarios.find(([words]) => words.test(what))?.[1];
  if (run === undefined) return { kind: "skipped", reason: "an unknown race" };
  const above = realpathSync(mkdtempSync(join(tmpdir(), "ambit-race-")));
  try {
    const folder = join(above, "root");
    mkdirSync(join(folder, "way/deep"), { recursive: true });
    mkdirSync(join(above, "outside/deep"), { recursive: true });
    writeFileSync(join(folder, "way/deep/file"), "inside");
    writeFileSync(join(above, "outside/deep/file"), secret);
    const root = folder.split("/").filter((name) => name !== "");
    return await run({ above, root, folder, outside: join(above, "outside") });
  } finally {
    rmSync(above, { recursive: true, force: true });
  }
}

function filesOf(root: readonly string[], patterns: readonly Sequence[] = [tree(root)]): ConfinedFiles {
  const verbs = ["fs.read", "fs.write", "fs.delete"];
  return filesUnder(
    verbs.map((verb) => grant(verb, [{ kind: "sequences", of: patterns }])),
    [{ path: root, mode: "write" }],
    [],
  );
}

async function read(files: ConfinedFiles, path: readonly string[]): Promise<string> {
  const result = await files.read(path, { offset: 0, bytesMax: 100 });
  if (result.ok) return Buffer.from(result.value).toString("utf8");
  if (result.reason.includes("worker")) throw new Error(result.reason);
  return `${result.code}: ${result.reason}`;
}

function missed(note: string): Outcome {
  return { kind: "missed", note };
}

/** Reads and writes while names move; the outside must be neither read nor changed. */
async function underAttack(fixture: RaceFixture, first: string, second: string): Promise<Outcome> {
  const files = filesOf(fixture.root);
  const swapper = await startSwapping(first, second, join(fixture.above, "spare"));
  let inside = 0;
  try {
    for (let at = 0; at < attempts; at++) {
      const got = await read(files, [...fixture.root, "way", "deep", "file"]);
      const behind = await read(files, [...fixture.root, "way", "deep", "up", "deep", "file"]);
      if (got.includes(secret) || behind.includes(secret)) return missed("outside was read");
      if (got === "inside") inside++;
      await files.write([...fixture.root, "way", "deep", `new-${at % 3}`], Buffer.from("mine"));
    }
  } finally {
    await swapper.stop();
    files.close();
  }
  const untouched = readFileSync(join(fixture.outside, "deep/file"), "utf8") === secret;
  const written = [0, 1, 2].some((at) => isThere(join(fixture.outside, `deep/new-${at}`)));
  if (!untouched || written) return missed("outside was written");
  return inside > 0 ? HELD : { kind: "refused", note: "inside was never reached" };
}

function isThere(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

async function becomesLink(fixture: RaceFixture): Promise<Outcome> {
  symlinkSync(fixture.outside, join(fixture.folder, "other"));
  return await underAttack(fixture, join(fixture.folder, "way"), join(fixture.folder, "other"));
}

/** A folder of the root is exchanged with one beside it; a link in it leads outside only from there. */
async function movedOut(fixture: RaceFixture): Promise<Outcome> {
  symlinkSync("../../outside", join(fixture.folder, "way/deep/up"));
  mkdirSync(join(fixture.above, "beside/deep"), { recursive: true });
  return await underAttack(fixture, join(fixture.folder, "way/deep"), join(fixture.above, "beside/deep"));
}

async function magicLink({ root, folder, outside }: RaceFixture): Promise<Outcome> {
  const targets = ["/proc/self/root", "/proc/self/cwd", "/proc/1/root", "/proc/thread-self/root"];
  const descriptors = Array.from({ length: 12 }, (_, at) => `/proc/self/fd/${at}`);
  for (const [at, target] of [...targets, ...descriptors].entries()) symlinkSync(target, join(folder, `magic-${at}`));
  const files = filesOf(root);
  try {
    const rest = outside.split("/").filter((name) => name !== "");
    for (let at = 0; at < targets.length + descriptors.length; at++)
      for (const behind of [[], [...rest, "deep", "file"], ["outside", "deep", "file"], ["deep", "file"]])
        if ((await read(files, [...root, `magic-${at}`, ...behind])).includes(secret))
          return missed("outside was read");
    return (await read(files, [...root, "way", "deep", "file"])) === "inside"
      ? HELD
      : { kind: "refused", note: "inside was not reached" };
  } finally {
    files.close();
  }
}

/** A hard link: never written, and read only if the whole tree is granted. */
async function hardLink({ root, folder, outside }: RaceFixture): Promise<Outcome> {
  linkSync(join(outside, "deep/file"), join(folder, "linked"));
  const narrow = parsePathPatterns("linked", root, { home: null, base: null, protectedPaths: [] });
  const files = filesOf(root);
  const named = filesOf(root, narrow.ok ? narrow.value : []);
  try {
    await files.write([...root, "linked"], Buffer.from("mine"));
    await files.append([...root, "linked"], Buffer.from("mine"));
    if (readFileSync(join(outside, "deep/file"), "utf8") !== secret) return missed("outside was written");
    if ((await read(named, [...root, "linked"])).includes(secret)) return missed("outside was read under a pattern");
    return { kind: "decided", reason: "a hard link is never written, and read only in a tree granted whole" };
  } finally {
    files.close();
    named.close();
  }
}
