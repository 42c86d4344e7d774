// A real repository, a real overlay over it in which a program works, and an import of what the program left.
import { spawnSync } from "node:child_process";
import {
  type BigIntStats,
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type GitImportOutcome, type GitImportRequest, prepareGitImport } from "../../src/sandbox/drafts/git/import.ts";
import type { GitCommitResult } from "../../src/sandbox/drafts/git/prepared-import.ts";
import type { Classify } from "../../src/sandbox/drafts/git/waiting-paths.ts";
import type { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import type { Change, Stamp } from "../../src/sandbox/plan/drafts/change.ts";
import { pauseThread } from "../house/pause.ts";
import { ownFolder, sandboxesIn } from "../sandbox/fixture.ts";

export interface GitFixture {
  readonly folder: string;
  readonly root: string;
  readonly sandboxes: LinuxSandboxes;
}

export interface SealedDraft {
  readonly upper: string;
  readonly changes: readonly Change[];
  readonly startedNanoseconds: bigint;
}

const ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "person",
  GIT_AUTHOR_EMAIL: "person@example.invalid",
  GIT_COMMITTER_NAME: "person",
  GIT_COMMITTER_EMAIL: "person@example.invalid",
};

/** A repository with one commit: `a.txt` and `folder/b.txt`. */
export function gitFixture(format: "sha1" | "sha256" = "sha1"): GitFixture {
  const folder = ownFolder();
  const root = join(folder, "root");
  mkdirSync(root);
  const made: GitFixture = { folder, root, sandboxes: sandboxesIn(folder) };
  git(made, "init", "-q", "-b", "main", `--object-format=${format}`);
  write(root, "a.txt", "one\n");
  write(root, "folder/b.txt", "two\n");
  git(made, "add", ".");
  git(made, "commit", "-q", "-m", "first");
  return made;
}

export function write(root: string, path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** The person's own git, on the real repository. */
export function git({ root }: Pick<GitFixture, "root">, ...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("git", words, { cwd: root, encoding: "utf8", env: ENVIRONMENT });
  if (status !== 0) throw new Error(`git ${words.join(" ")}: ${stderr}`);
  return stdout.trimEnd();
}

let drafts = 0;

/** Runs a shell script in a fresh overlay over the root, as a program of an agent would. */
export function draftOf({ folder, root }: GitFixture, script: string): SealedDraft {
  const draft = join(folder, `draft-${++drafts}`);
  const [upper, work, merged] = ["upper", "work", "merged"].map((name) => join(draft, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [upper, work, merged]) mkdirSync(each, { recursive: true });
  // File times have the resolution of the kernel's tick.
  pauseTick();
  const startedNanoseconds = timeOfFile(draft);
  const mount = `mount -t overlay overlay -o "userxattr,lowerdir=$1,upperdir=$2,workdir=$3" "$4" && cd "$4" && exec sh -ec "$5"`;
  const { status, stderr } = spawnSync(
    "unshare",
    [
      "--user",
      "--map-current-user",
      "--keep-caps",
      "--mount",
      "sh",
      "-c",
      mount,
      "sh",
      root,
      upper,
      work,
      merged,
      script,
    ],
    { encoding: "utf8", env: { ...ENVIRONMENT, GIT_COMMITTER_NAME: "agent", GIT_AUTHOR_NAME: "agent" } },
  );
  // Overlay leaves a folder without any mode bits, with whiteouts for later.
  chmodSync(join(work, "work"), 0o700);
  if (status !== 0) throw new Error(`the program in the draft failed: ${stderr}`);
  return { upper, changes: scan(root, upper), startedNanoseconds };
}

function pauseTick(): void {
  pauseThread(20, "file times have the resolution of the kernel's tick");
}

function timeOfFile(folder: string): bigint {
  writeFileSync(join(folder, "started"), "");
  return lstatSync(join(folder, "started"), { bigint: true }).ctimeNs;
}

/** A file in the upper folder, as an overlay would have left it. */
export function plant(
  draft: SealedDraft,
  fixture: GitFixture,
  path: string,
  content: string | Uint8Array,
): SealedDraft {
  write(draft.upper, path, content);
  return { ...draft, changes: scan(fixture.root, draft.upper) };
}

export function scan(root: string, upper: string): readonly Change[] {
  const changes: Change[] = [];
  const visit = (path: readonly string[]): void => {
    for (const name of readdirSync(join(upper, ...path)).sort()) {
      const below = [...path, name];
      const stat = lstatSync(join(upper, ...below));
      const base = stampAt(join(root, ...below));
      if (stat.isCharacterDevice()) remove(root, below, changes);
      else if (stat.isDirectory()) {
        if (base?.kind !== "folder") changes.push({ kind: "folder", path: below, base });
        visit(below);
      } else if (stat.isSymbolicLink())
        changes.push({ kind: "link", path: below, target: readlinkSync(join(upper, ...below)), base });
      else changes.push({ kind: "file", path: below, bytes: stat.size, isExecutable: (stat.mode & 0o100) !== 0, base });
    }
  };
  visit([]);
  return changes;
}

function remove(root: string, path: readonly string[], changes: Change[]): void {
  const base = stampAt(join(root, ...path));
  if (base === null) return;
  if (base.kind === "folder")
    for (const name of readdirSync(join(root, ...path))) remove(root, [...path, name], changes);
  changes.push({ kind: "delete", path, base });
}

function stampAt(path: string): Stamp | null {
  let stat: BigIntStats;
  try {
    stat = lstatSync(path, { bigint: true });
  } catch {
    return null;
  }
  return {
    kind: stat.isFile() ? "file" : stat.isDirectory() ? "folder" : stat.isSymbolicLink() ? "link" : "other",
    device: stat.dev,
    inode: stat.ino,
    bytes: stat.size,
    modifiedNanoseconds: stat.mtimeNs,
    changedNanoseconds: stat.ctimeNs,
    mode: Number(stat.mode & 0o7777n),
    links: stat.nlink,
  };
}

/** Paths an import asks about in these tests. */
const CLASSES: Classify = ({ path, target }) =>
  target?.startsWith("/") === true
    ? "never"
    : /(^|\/)\.vscode(\/|$)/i.test(path)
      ? "never"
      : /(^|\/)\.envrc$/.test(path)
        ? "ask"
        : "free";

export function prepare(
  { folder, root, sandboxes }: GitFixture,
  draft: SealedDraft,
  changes: Partial<GitImportRequest> = {},
): Promise<GitImportOutcome> {
  return prepareGitImport({
    repository: { root, gitPath: [".git"], worktreePath: [] },
    ...draft,
    workFolder: join(folder, "work"),
    sandboxes,
    classify: CLASSES,
    isApproved: false,
    lockMilliseconds: 200,
    ...changes,
  });
}

/** Prepares, lands the files of the worktree as the lander would, and commits. Fails unless all of it succeeds. */
export async function land(
  fixture: GitFixture,
  draft: SealedDraft,
  changes: Partial<GitImportRequest> = {},
): Promise<GitCommitResult & { readonly ok: true }> {
  const outcome = await prepare(fixture, draft, changes);
  if (outcome.kind !== "prepared") throw new Error(`not prepared: ${JSON.stringify(outcome)}`);
  landFiles(fixture, draft);
  const result = await outcome.prepared.commit();
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result;
}

function landFiles({ root }: GitFixture, { upper, changes }: SealedDraft): void {
  for (const { kind, path } of changes) {
    if (path[0] === ".git") continue;
    if (kind === "delete") spawnSync("rm", ["-rf", "--", join(root, ...path)]);
    else if (kind === "folder") {
      spawnSync("rm", ["-f", "--", join(root, ...path)]);
      mkdirSync(join(root, ...path), { recursive: true });
    } else if (kind === "file") write(root, path.join("/"), readFileSync(join(upper, ...path)));
  }
}

/** Why the git part stays a draft; fails if it does not. */
export async function refusalOf(
  fixture: GitFixture,
  draft: SealedDraft,
  changes: Partial<GitImportRequest> = {},
): Promise<string> {
  const outcome = await prepare(fixture, draft, changes);
  if (outcome.kind === "prepared") await outcome.prepared.abort();
  if (outcome.kind !== "stays") throw new Error(`does not stay: ${outcome.kind}`);
  return `${outcome.refusal.code}: ${outcome.refusal.message}`;
}
