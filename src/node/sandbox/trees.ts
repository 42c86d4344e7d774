// The trees of the host that a sandbox sees, known by device and inode: a name may lead elsewhere a moment later.
import { closeSync, fstatSync, lstatSync, realpathSync } from "node:fs";
import type { RunRefused } from "../../ports/process.ts";
import { isWithin } from "../../sandbox/places.ts";
import type { Plan, PlanPath } from "../../sandbox/plan.ts";
import { hostPath, openFolder } from "./host-path.ts";
import { type Identity, identityAt, identityOf, isSame } from "./identity.ts";
import { codeOf, unavailable } from "./refusal.ts";

interface Tree {
  readonly path: string;
  readonly identity: Identity;
}

export type TreesHeld =
  | { readonly ok: true; readonly trees: HeldTrees }
  | { readonly ok: false; readonly refused: RunRefused };

export class HeldTrees {
  readonly #trees: readonly Tree[];
  /** Open until a sandbox has the root mounted: the number of a folder that is in use is given to no other folder. */
  #held: number | null;
  /** Tells one root from another under the same name. */
  readonly mark: string;
  /** Of the root; null where there is none. */
  readonly rootIdentity: Identity | null;

  private constructor(trees: readonly Tree[], held: number | null) {
    this.#trees = trees;
    this.#held = held;
    this.rootIdentity = held === null ? null : (trees[0]?.identity ?? null);
    this.mark = trees.map(({ identity }) => `${identity.device}:${identity.inode}`).join(" ");
  }

  static hold({ root, runtime }: Plan): TreesHeld {
    let held: number | null = null;
    try {
      const trees: Tree[] = [];
      if (root !== null) {
        // A live root shows its copy in the place of the real folder.
        held = openFolder(straight(root.copy?.path ?? root.path));
        trees.push({ path: straight(root.path), identity: identityOf(fstatSync(held, { bigint: true })) });
      }
      // One below the root is seen as part of it.
      for (const tree of runtime.filter((one) => root === null || !isWithin(one, root.path))) {
        const path = straight(tree);
        trees.push({ path, identity: identityOf(lstatSync(path, { bigint: true })) });
      }
      return { ok: true, trees: new HeldTrees(trees, held) };
    } catch (error) {
      if (held !== null) closeSync(held);
      return { ok: false, refused: refusalOf(error) };
    }
  }

  /** Whether each name still leads to the same tree on the host. */
  areUnchanged(): boolean {
    return this.#trees.every(({ path, identity }) => isSame(identity, identityAt(path)));
  }

  /** Whether a sandbox shows the same trees: `top` is its top folder, `root` where it has the root, if elsewhere. */
  areShownIn(top: string, root: string | null): boolean {
    return this.#trees.every(({ path, identity }, at) => {
      const shown = at === 0 && this.rootIdentity !== null && root !== null ? root : path;
      return isSame(identity, identityAt(`${top}${shown}`));
    });
  }

  /** Also called once a sandbox shows the same trees: its mount keeps the root in use, ours would keep it from being unmounted. */
  close(): void {
    const held = this.#held;
    this.#held = null;
    if (held !== null) closeSync(held);
  }
}

class Crooked extends Error {}

/** A plan names trees without links; where the machine has changed since, nothing is started. */
function straight(path: PlanPath): string {
  const written = hostPath(path);
  if (realpathSync.native(written) !== written) throw new Crooked(written);
  return written;
}

function refusalOf(error: unknown): RunRefused {
  if (error instanceof Crooked)
    return unavailable(`${JSON.stringify(error.message)} is now reached through a link`, "name the folder it leads to");
  return unavailable(`a folder of the sandbox cannot be opened (${codeOf(error)})`);
}
