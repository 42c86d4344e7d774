// The host trees of a sandbox, identified by device and inode: a name may lead elsewhere a moment later.

import { closeSync, fstatSync, lstatSync, realpathSync } from "node:fs";
import { errorCode } from "../../core/base/error-code.ts";
import type { RunFailure, RunRefusal } from "../../core/ports/process.ts";
import type { Plan, PlanPath } from "../plan/plan.ts";
import { isWithin } from "../plan/plan-path.ts";
import { hostPath, openFolder } from "./host-path.ts";
import { type Identity, identityAt, identityOf, isSame } from "./identity.ts";
import { unavailable } from "./refusal.ts";

interface Tree {
  readonly path: string;
  readonly identity: Identity;
}

export type OpenTreesResult = { readonly ok: true; readonly trees: OpenTrees } | RunFailure;

export class OpenTrees {
  readonly #trees: readonly Tree[];
  /** Open until a sandbox has mounted the root: the inode number of a folder in use is not reused. */
  #descriptor: number | null;
  /** Distinguishes roots with the same name. */
  readonly mark: string;
  /** Of the root; null without a root. */
  readonly rootIdentity: Identity | null;

  private constructor(trees: readonly Tree[], held: number | null) {
    this.#trees = trees;
    this.#descriptor = held;
    this.rootIdentity = held === null ? null : (trees[0]?.identity ?? null);
    this.mark = trees.map(({ identity }) => `${identity.device}:${identity.inode}`).join(" ");
  }

  static open({ root, runtime }: Plan): OpenTreesResult {
    let held: number | null = null;
    try {
      const trees: Tree[] = [];
      if (root !== null) {
        // A live root shows its copy instead of the real folder.
        held = openFolder(straight(root.copy?.path ?? root.path));
        trees.push({ path: straight(root.path), identity: identityOf(fstatSync(held, { bigint: true })) });
      }
      // One below the root is seen as part of it.
      for (const tree of runtime.filter((one) => root === null || !isWithin(one, root.path))) {
        const path = straight(tree);
        trees.push({ path, identity: identityOf(lstatSync(path, { bigint: true })) });
      }
      return { ok: true, trees: new OpenTrees(trees, held) };
    } catch (error) {
      if (held !== null) closeSync(held);
      return { ok: false, refused: refusalOf(error) };
    }
  }

  /** Whether each name still leads to the same tree on the host. */
  areUnchanged(): boolean {
    return this.#trees.every(({ path, identity }) => isSame(identity, identityAt(path)));
  }

  /** Whether a sandbox shows the same trees: `top` is its top folder, `root` the path of its root, if it differs. */
  areShownIn(top: string, root: string | null): boolean {
    return this.#trees.every(({ path, identity }, at) => {
      const shown = at === 0 && this.rootIdentity !== null && root !== null ? root : path;
      return isSame(identity, identityAt(`${top}${shown}`));
    });
  }

  /**
   * Also called once a sandbox shows the same trees: its mount keeps the root in use, and our descriptor would block
   * unmounting.
   */
  close(): void {
    const held = this.#descriptor;
    this.#descriptor = null;
    if (held !== null) closeSync(held);
  }
}

class TreeError extends Error {}

/** A plan's paths have no links; where the machine has changed since, nothing is started. */
function straight(path: PlanPath): string {
  const written = hostPath(path);
  if (realpathSync.native(written) !== written) throw new TreeError(written);
  return written;
}

function refusalOf(error: unknown): RunRefusal {
  if (error instanceof TreeError)
    return unavailable(
      `${JSON.stringify(error.message)} is now reached through a symbolic link`,
      "use the path it leads to",
    );
  return unavailable(`a folder of the sandbox cannot be opened (${errorCode(error)})`);
}
