// Decides how one change may reach the real root: freely, with approval, as part of git, or never. The same rules for
// drafts and file tools.
import { DraftNames } from "./draft-names.ts";
import { isHookOfAnyRepository, isOnWayToHooks } from "./gather-git.ts";
import { type FolderShape, gitFolderOf, type ShapedFolder } from "./git-folders.ts";
import { linkFault } from "./new-links.ts";
import { isAuthorityName, isGitName } from "./spelling.ts";
import type { TriggerFacts } from "./trigger-facts.ts";

type Path = readonly string[];

export type Classification =
  | { readonly class: "free"; readonly why: null }
  | { readonly class: "ask" | "never"; readonly why: string }
  /** Inside a git folder: imported semantically, never copied as a file. `repository`: the git folder, absolute. */
  | { readonly class: "git"; readonly why: string; readonly repository: Path };

/** The part of a `Change` that the rules use. `path`: below the root. */
export interface ClassifiedChange {
  readonly kind: "file" | "folder" | "link" | "delete";
  readonly path: Path;
  /** Of a link. */
  readonly target?: string;
  readonly base: {
    readonly kind: string;
    readonly links: bigint;
    readonly device: bigint;
    readonly inode: bigint;
    readonly mode?: number;
  } | null;
}

export const FREE: Classification = { class: "free", why: null };

interface Draft {
  readonly names: DraftNames;
  readonly shapes: Map<string, FolderShape>;
  readonly shaped: Map<string, readonly ShapedFolder[]>;
}

/** Changes that are prepared in one event-loop turn. */
const changesPerTurn = 200;

/**
 * Classifies the changes of one draft. Every change is known before the first is classified: together they may make a
 * repository.
 */
export class Classifier {
  readonly #facts: TriggerFacts;
  readonly #draft: Draft;

  private constructor(facts: TriggerFacts) {
    this.#facts = facts;
    this.#draft = { names: new DraftNames(facts.options.root), shapes: new Map(), shaped: new Map() };
  }

  /** Synchronous: for few changes. */
  static of(facts: TriggerFacts, changes: readonly ClassifiedChange[]): Classifier {
    const classifier = new Classifier(facts);
    for (const change of changes) classifier.#add(change);
    return classifier;
  }

  /** The same for any number of changes; `turn` yields to the event loop. */
  static async inTurns(
    facts: TriggerFacts,
    changes: readonly ClassifiedChange[],
    turn: () => Promise<unknown>,
  ): Promise<Classifier> {
    const classifier = new Classifier(facts);
    for (const [at, change] of changes.entries()) {
      if (at > 0 && at % changesPerTurn === 0) await turn();
      classifier.#add(change);
    }
    return classifier;
  }

  #add(change: ClassifiedChange): void {
    this.#draft.names.add(change);
    this.#facts.prepare([...this.#facts.options.root, ...change.path]);
  }

  classify(change: ClassifiedChange): Classification {
    const facts = this.#facts;
    const path = [...facts.options.root, ...change.path];
    const isLink = change.kind === "link" || change.base?.kind === "link";
    const named = strictest([
      classifyPath(path, change, facts, this.#draft),
      // The target of a link with this name would replace triggers below the name.
      ...(isLink ? [belowOf(path, facts)] : []),
      identityOf(change, facts),
    ]);
    if (change.kind !== "link" || named.class === "never" || named.class === "git") return named;
    const fault = linkFault(path, change.target ?? "", facts, this.#draft.names, (at) =>
      classifyPath(at, PLAIN, facts, this.#draft),
    );
    return strictest([named, fault]);
  }
}

const PLAIN: Pick<ClassifiedChange, "kind" | "base"> = { kind: "file", base: null };

/** By names and positions only: for an absolute path, however it is reached. */
function classifyPath(
  path: Path,
  change: Pick<ClassifiedChange, "kind" | "base">,
  facts: TriggerFacts,
  draft: Draft,
): Classification {
  const own = classifyName(path, change, facts, draft);
  if (own.class === "never" || own.class === "git") return own;
  const behind = facts.places.aliases(path).map((alias): Classification => {
    const through = classifyName(alias, PLAIN, facts, draft);
    if (through.class === "free" || through.class === "ask") return through;
    return never(`/${alias.join("/")} leads to it: ${through.why}`);
  });
  return strictest([own, ...behind]);
}

function classifyName(
  path: Path,
  change: Pick<ClassifiedChange, "kind" | "base">,
  { places, options, tree, gitFolders, everyHooks }: TriggerFacts,
  draft: Draft,
): Classification {
  if (path.some(isAuthorityName)) return never("ambit reads it to decide what agents may do");
  const git = gitFolderOf(path, change, {
    tree,
    gitFolders,
    root: options.root,
    draft: draft.names,
    shapes: draft.shapes,
    shaped: draft.shaped,
  });
  if (git !== null) return git;
  if (isHookOfAnyRepository(path, options.root.length, everyHooks)) return never(EVERY_HOOKS);
  const place = places.find(path);
  const match = options.table.find(path, options);
  return strictest([
    FREE,
    ...(place === null ? [] : [classification(place.class, place.why)]),
    ...(match === null ? [] : [classification(match.class, `${match.tool} reads it`)]),
  ]);
}

const EVERY_HOOKS = "git follows your `core.hooksPath` to it in every repository";

function belowOf(path: Path, { places, options, everyHooks }: TriggerFacts): Classification {
  if (isOnWayToHooks(path, everyHooks)) return never(`a link here would replace the folder below: ${EVERY_HOOKS}`);
  const place = places.findBelow(path);
  const match = options.table.findBelow(path, options);
  return strictest([
    FREE,
    ...(place === null
      ? []
      : [classification(place.class, `a link here would replace the folder below: ${place.why}`)]),
    ...(match === null
      ? []
      : [classification(match.class, `a link here would replace the folder below: ${match.tool} reads it`)]),
  ]);
}

const EXECUTABLE = 0o111;

/** By the current file: a hard link of a protected file, or a program while some triggers are unknown. */
function identityOf({ base }: ClassifiedChange, { places }: TriggerFacts): Classification {
  if (base === null || base.kind !== "file") return FREE;
  const file = base.links > 1n ? places.file(`${base.device}:${base.inode}`) : null;
  if (file !== null) return classification(file.class, file.why);
  if (places.partial !== null && ((base.mode ?? EXECUTABLE) & EXECUTABLE) !== 0)
    return classification("ask", `it is a program, and it is unknown what runs it: ${places.partial}`);
  return FREE;
}

function never(why: string): Classification {
  return classification("never", why);
}

function classification(of: "ask" | "never", why: string): Classification {
  return { class: of, why };
}

const STRICTNESS: readonly Classification["class"][] = ["free", "ask", "git", "never"];

function strictest(all: readonly Classification[]): Classification {
  let found: Classification = FREE;
  for (const one of all) if (weight(one) > weight(found)) found = one;
  return found;
}

function weight(one: Classification): number {
  return STRICTNESS.indexOf(one.class);
}

/** For decisions by names only, without disk access. */
export function isGitOrOurs(path: Path): boolean {
  return path.some((name) => isGitName(name) || isAuthorityName(name));
}
