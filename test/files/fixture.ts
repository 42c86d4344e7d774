// A folder of its own on the real disk, and the files capability of an agent that is granted some of it.
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach } from "vitest";
import { parsePathPatterns, tree } from "../../src/core/authority/axes/path.ts";
import type { Conditions, Grant } from "../../src/core/authority/grant.ts";
import { judge } from "../../src/core/authority/judge.ts";
import type { FilePath, FileResult } from "../../src/core/ports/files.ts";
import { ConfinedFiles, FILE_LIMITS, type FileLimits } from "../../src/sandbox/files/confined-files.ts";
import type { FileTree } from "../../src/sandbox/files/open-trees.ts";
import type { WorkerRestrictions } from "../../src/sandbox/files/worker-setup.ts";
import { chain, grant, link, moment } from "../forge/authority.ts";
import { nativeProgram, nativeWalls } from "./native.ts";

/** A grant in short form: verb, folder, and patterns below it (all of it without patterns). */
export type Granted = readonly [
  verb: "read" | "write" | "delete",
  root: string,
  paths?: readonly string[] | undefined,
  ask?: 1,
];

export interface Fixture {
  readonly granted: readonly Granted[];
  /** By default the roots of the grants. */
  readonly trees?: readonly FileTree[];
  readonly protectedPaths?: readonly string[];
  readonly pinned?: readonly string[];
  readonly limits?: Partial<FileLimits>;
  readonly program?: string;
  readonly walls?: WorkerRestrictions;
  /** Called before each decision. */
  readonly onDecision?: () => void;
}

const folders: string[] = [];
const opened: ConfinedFiles[] = [];

afterEach(() => {
  for (const files of opened.splice(0)) files.close();
});
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Its real path. */
export function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ambit-files-")));
  folders.push(folder);
  return folder;
}

export function path(text: string): FilePath {
  return text.split("/").filter((name) => name !== "");
}

export function grantOf([verb, root, paths, ask]: Granted): Grant {
  const conditions: Partial<Conditions> = ask === undefined ? {} : { ask };
  const of = (paths ?? []).flatMap((text) => {
    const patterns = parsePathPatterns(text, path(root), { home: null, base: null, protectedPaths: [] });
    if (!patterns.ok) throw new Error(patterns.message);
    return patterns.value;
  });
  return grant(`fs.${verb}`, [{ kind: "sequences", of: paths === undefined ? [tree(path(root))] : of }], conditions);
}

export function treesOf(granted: readonly Granted[]): readonly FileTree[] {
  const roots = [...new Set(granted.map(([, root]) => root))];
  return roots.map((root) => ({
    path: path(root),
    mode: granted.some(([verb, other]) => other === root && verb !== "read") ? "write" : "read",
  }));
}

let walls: WorkerRestrictions | null = null;

export function filesIn(fixture: Fixture): ConfinedFiles {
  const authority = [chain(link("record", fixture.granted.map(grantOf)))];
  walls ??= nativeWalls();
  const files = new ConfinedFiles({
    program: fixture.program ?? nativeProgram,
    trees: fixture.trees ?? treesOf(fixture.granted),
    judge: (request) => {
      fixture.onDecision?.();
      return judge(authority, request, moment());
    },
    protectedPaths: (fixture.protectedPaths ?? []).map(path),
    pinned: (fixture.pinned ?? []).map(path),
    restrictions: fixture.walls ?? walls,
    limits: { ...FILE_LIMITS, ...fixture.limits },
  });
  opened.push(files);
  return files;
}

/** The whole content of a small file, or the code and reason of the refusal. */
/** Every name below a root. */
export function whole(root: string, more: Partial<Fixture> = {}): ConfinedFiles {
  return filesIn({
    granted: [
      ["read", root],
      ["write", root],
      ["delete", root],
    ],
    ...more,
  });
}

/** Draft files that an interrupted write leaves behind. */
export function drafts(root: string): readonly string[] {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.includes(".ambit-draft-"));
}

export async function text(files: ConfinedFiles, file: string): Promise<string> {
  return said(await files.read(path(file), { offset: 0, bytesMax: 65_536 }));
}

export function said(result: FileResult<unknown>): string {
  if (!result.ok) return `${result.code}: ${result.reason}`;
  return result.value instanceof Uint8Array ? Buffer.from(result.value).toString("utf8") : "done";
}

export function bytes(content: string): Uint8Array {
  return Buffer.from(content);
}

/** A script that runs the native program as an unprivileged user; null if we are not root. */
export function asOrdinaryUser(folder: string): string | null {
  if (process.getuid?.() !== 0) return null;
  const script = join(folder, "as-user");
  const lines = [
    "#!/bin/sh",
    `exec /usr/bin/setpriv --reuid=12345 --regid=12345 --clear-groups "${nativeProgram}" "$@"`,
    "",
  ];
  writeFileSync(script, lines.join("\n"), { mode: 0o755 });
  return script;
}
