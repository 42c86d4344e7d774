// Lands a repository that a program created: a fresh git folder with an empty config receives its objects, refs, HEAD
// and index in our state, and is then moved into the project as a whole. No configuration, hook or template of the
// draft comes with it.

import { constants, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { copyFile, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode } from "../../../core/base/error-code.ts";
import type { Change } from "../../plan/drafts/change.ts";
import { importConfig } from "../../plan/drafts/git/environment.ts";
import { type GitResult, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import { configBytesMax, parseRepositoryFormat } from "../../plan/drafts/git/repository-format.ts";
import { readGitConfig } from "../../plan/triggers/git-config.ts";
import { kindAt, readGitFile } from "./git-files.ts";
import { type GitImportOutcome, type GitImportRequest, prepareGitImport } from "./import.ts";

export interface NewRepositoryRequest
  extends Pick<
    GitImportRequest,
    "changes" | "upper" | "workFolder" | "sandboxes" | "classify" | "isApproved" | "signal"
  > {
  readonly root: string;
  /** Below the root: ends in `.git`, and does not exist. */
  readonly gitPath: readonly string[];
  /** The id of the draft. */
  readonly draft: string;
}

export type NewRepositoryOutcome =
  | Extract<GitImportOutcome, { readonly kind: "stays" | "waits" | "denied" }>
  | { readonly kind: "built"; readonly repository: BuiltRepository; readonly notCarried: readonly string[] };

const filesMax = 10_000;
const TAKEN = "the project now has a git repository where the program created one";
/** Later than every file time: our own folder counts as unchanged. */
const always = 2n ** 62n;

/** Settings that `git init` and `git clone` write by themselves, and that our config replaces. */
const ORDINARY_SETTINGS: ReadonlySet<string> = new Set([
  ...[
    "repositoryformatversion",
    "filemode",
    "bare",
    "logallrefupdates",
    "ignorecase",
    "precomposeunicode",
    "symlinks",
  ].map((key) => `core.${key}`),
  "extensions.objectformat",
]);

export async function buildRepository(request: NewRepositoryRequest): Promise<NewRepositoryOutcome> {
  const { root, gitPath, upper } = request;
  const stays = (from: Extract<GitResult<never>, { ok: false }>): NewRepositoryOutcome => ({
    kind: "stays",
    refusal: from.refusal,
  });
  if (!["HEAD", "objects", "refs"].every((name) => kindAt(join(upper, ...gitPath, name)) !== null))
    return stays(refuseGit("malformed", "the new git folder is not a valid repository"));
  const config = readGitFile(join(upper, ...gitPath, "config"), configBytesMax, "config");
  if (!config.ok) return stays(config);
  const text = config.value?.bytes.toString("latin1") ?? "";
  const { format, isBare, obstacle } = parseRepositoryFormat(text);
  if (obstacle !== null) return { kind: "stays", refusal: obstacle };
  if (isBare) return stays(refuseGit("unsupported", "the new repository is bare"));
  let stage: string | null = null;
  let isBuilt = false;
  try {
    mkdirSync(request.workFolder, { recursive: true, mode: 0o700 });
    stage = mkdtempSync(join(realpathSync.native(request.workFolder), "git-new-"));
    const folder = join(stage, ".git");
    for (const name of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "logs"])
      mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, "config"), importConfig(format, false, true));
    writeFileSync(join(folder, "HEAD"), "ref: refs/heads/main\n");
    const imported = await prepareGitImport({
      ...request,
      repository: { root: stage, gitPath, worktreePath: [], folders: { folder, common: folder } },
      changes: request.changes.filter((change) => !isOfTemplate(change, gitPath)),
      startedNanoseconds: always,
    });
    if (imported.kind !== "nothing" && imported.kind !== "prepared") return imported;
    if (imported.kind === "prepared") {
      const done = await imported.prepared.commit();
      if (!done.ok) return { kind: "stays", refusal: done.refusal };
    }
    const carried = imported.kind === "nothing" ? imported.notCarried : imported.prepared.plan.notCarried;
    isBuilt = true;
    return {
      kind: "built",
      repository: new BuiltRepository(stage, join(root, ...gitPath), request.draft),
      notCarried: [...carried, ...(hasOwnSettings(text) ? ["config"] : [])],
    };
  } catch (error) {
    return stays(refuseGit("unavailable", `the new repository cannot be built (${errorCode(error)})`));
  } finally {
    if (!isBuilt && stage !== null) rmSync(stage, { recursive: true, force: true });
  }
}

/** Files that git writes into every new repository: replacing them is not reported. */
function isOfTemplate({ kind, path }: Change, gitPath: readonly string[]): boolean {
  const name = path.slice(gitPath.length).join("/");
  if (name === "" || kind === "folder") return true;
  return name === "config" || name === "description" || name === "info/exclude" || /^hooks\/[^/]+\.sample$/.test(name);
}

/** Whether the config has more than the defaults: remotes, aliases, programs. */
function hasOwnSettings(text: string): boolean {
  const settings = readGitConfig(text);
  if (!settings.ok) return true;
  return settings.value.some(
    ({ section, subsection, key }) => subsection !== null || !ORDINARY_SETTINGS.has(`${section}.${key}`),
  );
}

/** The name under which a new git folder is written into the project before it gets its own. */
export function newRepositoryFolder(target: string, draft: string): string {
  return join(dirname(target), `.ambit-git-${draft}`);
}

/** A complete git folder in our state. It is placed or discarded once. */
export class BuiltRepository {
  readonly #stage: string;
  readonly #target: string;
  /** In the folder of the target, so that one rename makes it a repository. */
  readonly #written: string;

  constructor(stage: string, target: string, draft: string) {
    this.#stage = stage;
    this.#target = target;
    this.#written = newRepositoryFolder(target, draft);
  }

  /** All or nothing. */
  async place(): Promise<GitResult<null>> {
    const parent = dirname(this.#target);
    let isMade = false;
    try {
      if (realpathSync.native(parent) !== parent)
        return refuseGit("conflict", "the folder of the new repository is a link");
      const names = readdirSync(join(this.#stage, ".git"), { recursive: true, encoding: "utf8" }).sort();
      if (names.length > filesMax) return refuseGit("too_large", `the new repository has more than ${filesMax} files`);
      await mkdir(this.#written);
      isMade = true;
      for (const name of names) await this.#copy(name);
      if (kindAt(this.#target) !== null) return refuseGit("conflict", TAKEN);
      // Replaces nothing but an empty folder.
      await rename(this.#written, this.#target);
      isMade = false;
      return value(null);
    } catch (error) {
      return errorCode(error) === "EEXIST" || errorCode(error) === "ENOTEMPTY" || errorCode(error) === "ENOTDIR"
        ? refuseGit("conflict", TAKEN)
        : refuseGit("unavailable", `the new repository cannot be written (${errorCode(error)})`);
    } finally {
      if (isMade) await rm(this.#written, { recursive: true, force: true });
      this.discard();
    }
  }

  discard(): void {
    rmSync(this.#stage, { recursive: true, force: true });
  }

  async #copy(name: string): Promise<void> {
    const [from, to] = [join(this.#stage, ".git", name), join(this.#written, name)];
    if (kindAt(from)?.kind === "folder") return void (await mkdir(to));
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    const file = await open(to, constants.O_RDONLY);
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }
}
