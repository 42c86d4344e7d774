// One read through a real worker, for test runners that have grants and a path and need the decision.

import type { PathSettings } from "../../src/core/authority/axes/path.ts";
import type { Authority } from "../../src/core/authority/chain.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import { judge } from "../../src/core/authority/judge.ts";
import type { FilePath, FileRefusal } from "../../src/core/ports/files.ts";
import { ConfinedFiles, FILE_LIMITS } from "../../src/sandbox/files/confined-files.ts";
import type { FileTree } from "../../src/sandbox/files/open-trees.ts";
import type { WorkerRestrictions } from "../../src/sandbox/files/worker-setup.ts";
import { chain, link, moment } from "../forge/authority.ts";
import { nativeProgram, nativeWalls } from "./native.ts";

let walls: WorkerRestrictions | null = null;

export function filesUnder(
  grants: readonly Grant[],
  trees: readonly FileTree[],
  protectedPaths: PathSettings["protectedPaths"],
): ConfinedFiles {
  const authority: Authority = [chain(link("record", grants))];
  walls ??= nativeWalls();
  return new ConfinedFiles({
    program: nativeProgram,
    trees,
    judge: (request) => judge(authority, request, moment()),
    protectedPaths,
    pinned: [],
    restrictions: walls,
    limits: FILE_LIMITS,
  });
}

/** The trees that grants are about: the start of their patterns, up to the first star. */
export function treesOfGrants(grants: readonly Grant[], mode: FileTree["mode"]): readonly FileTree[] {
  const trees = new Map<string, FileTree>();
  for (const { scopes } of grants)
    for (const scope of scopes)
      for (const pattern of scope.kind === "sequences" ? scope.of : []) {
        const star = pattern.findIndex((segment) => segment.kind !== "literal");
        const path = pattern
          .slice(0, star < 0 ? pattern.length : star)
          .map((segment) => (segment.kind === "literal" ? segment.text : ""));
        trees.set(path.join("/"), { path, mode });
      }
  return [...trees.values()];
}

/** What an error of the operating system means: allowed, and missing or not a file. */
const PERMITTED = /^(ENOENT|ENOTDIR|EISDIR|EINVAL: not a plain file)/;

/** Whether a read is permitted, even if there is nothing to read. A worker that does not answer fails the run. */
export async function isPermitted(files: ConfinedFiles, path: FilePath): Promise<true | FileRefusal> {
  const read = await files.read(path, { offset: 0, bytesMax: 1 });
  if (read.ok) return true;
  if (read.code !== "not_available") return read;
  if (PERMITTED.test(read.reason)) return true;
  if (read.reason.startsWith("EACCES")) return read;
  throw new Error(`the read of /${path.join("/")} failed: ${read.reason}`);
}
