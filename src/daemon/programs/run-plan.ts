// Collects the machine facts that a sandbox plan needs, for one run.
import { statSync } from "node:fs";
import { registeredWorkspaces } from "../../agents/disk/registered-workspaces.ts";
import { type PathSettings, pathText } from "../../core/authority/axes/path.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import { isPlainText } from "../../core/authority/patterns/reserved.ts";
import { pathBytesMax } from "../../core/base/limits.ts";
import type { PlanDecision, RootChoice } from "../../core/gate/programs/program-root.ts";
import { visibleFiles } from "../../core/gate/programs/visible-files.ts";
import type { Config } from "../../core/notation/config/config.ts";
import type { WrittenLimits } from "../../core/notation/config/run-settings.ts";
import { findNames } from "../../platform/find-names.ts";
import { segmentsOf, type UserFolders } from "../../platform/folders.ts";
import { listNames } from "../../platform/list-names.ts";
import { linksToward, realRoot } from "../../platform/real-path.ts";
import { linkedGitOf } from "../../sandbox/drafts/git/linked-git.ts";
import { foldersToList, listedNamesMax } from "../../sandbox/plan/hidden-names.ts";
import { withLinkedGit } from "../../sandbox/plan/linked-git.ts";
import { namesToFind } from "../../sandbox/plan/masked-names.ts";
import type { Limits, Plan, PlanLink, PlanPath } from "../../sandbox/plan/plan.ts";
import { DEFAULT_LIMITS, type PlanFacts } from "../../sandbox/plan/plan-facts.ts";
import { isWithin } from "../../sandbox/plan/plan-path.ts";
import { type PlanResult, planOf, rootOf } from "../../sandbox/plan/planning.ts";
import { withLinks } from "../../sandbox/plan/root-rules.ts";
import { CLIENT_LIMITS } from "./client-profile.ts";

export interface RunEnvironment {
  readonly home: string | null;
  readonly workspace: string | null;
  readonly folders: UserFolders;
  /** Root folder of the ambit package. */
  readonly program: string;
  readonly pathSettings: PathSettings;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly user: Config | null;
  /** Null if the project's configuration is not in effect. */
  readonly project: Config | null;
  readonly userName: string;
}

/** What a caller asks of a run beside the program. */
export interface RunOptions {
  /** Shorter than the configured limit, never longer. */
  readonly milliseconds: number | null;
  readonly hasTerminal: boolean;
  /** A whole client: it gets terminals, and the limits of clients. */
  readonly isClient: boolean;
  /** A server of tools: it lives as long as its session, within the limits of servers. */
  readonly isServer?: boolean;
  /** How the caller, the record and the command name folders; relative paths are ignored. */
  readonly folderNames?: readonly string[];
  /** Program trees that a client is shown besides those of the configuration. */
  readonly toolchains?: readonly PlanPath[];
}

export function planFor(decided: PlanDecision, run: RunEnvironment, wish: RunOptions, moment: Moment): PlanResult {
  const { folders, workspace, user, project, environment } = run;
  const known = registeredWorkspaces(folders.state);
  if (known === null) return refused("the workspaces of this machine cannot be listed");
  const facts: Omit<PlanFacts, "found" | "listed"> = {
    home: realOf(run.home),
    workspaces: [...known, ...(workspace === null ? [] : [workspace])].flatMap((one) => {
      const real = realOf(one);
      // A removed root has nothing to store, and is not created again.
      return real === null || !isThere(one) ? [] : [real];
    }),
    ours: [folders.state, folders.config].flatMap((one) => {
      const real = realOf(one);
      return one === null ? [] : [segmentsOf(one), ...(real === null ? [] : [real])];
    }),
    program: realOf(run.program) ?? segmentsOf(run.program),
    runtime: [
      ...[...(user?.runtime ?? []), ...(project?.runtime ?? [])].flatMap((tree) => {
        const real = realRoot(tree);
        return real === null ? [] : [real];
      }),
      ...(wish.toolchains ?? []),
    ],
    protectedPaths: run.pathSettings.protectedPaths,
    host: {
      user: run.userName,
      terminal: environment["TERM"] ?? null,
      language: environment["LC_ALL"] ?? environment["LANG"] ?? null,
      timeZone: environment["TZ"] ?? null,
      allowed: (user?.environment ?? []).flatMap((name) => {
        const value = environment[name];
        return value === undefined ? [] : [[name, value] as const];
      }),
    },
    // Clients run their own programs on terminals.
    hasTerminals: wish.hasTerminal || wish.isClient,
    limits: limitsOf(user?.limits ?? {}, wish),
    moment,
  };
  const place = rootOf(decided, facts);
  if (!place.ok) return place;
  const root = place.value?.root ?? null;
  const misplaced = place.value === null ? null : directoryFault(place.value);
  if (misplaced !== null) return misplaced;
  const found = findNames(namesToFind(root, facts), root?.path ?? null);
  if (found === null) return refused("the folder is too large to find the protected paths in it");
  const visible = root === null ? null : visibleFiles(decided, root.path, facts);
  if (visible?.ok === false) return visible;
  const toList = root === null || visible === null ? [] : foldersToList(visible.value, root.path);
  const listed = toList.map((path) => ({ path, names: listNames(path, root?.path ?? [], listedNamesMax) }));
  const result = planOf(decided, { ...facts, found, listed });
  if (!result.ok) return result;
  const shown = showLinkedGit(result, facts);
  return { ...shown, plan: withLinks(shown.plan, linksOf(shown.plan, run.home, wish), facts) };
}

const folderNamesMax = 256;

/** Links on the paths by which the folders of a run are named. */
function linksOf({ root }: Plan, home: string | null, { folderNames = [] }: RunOptions): readonly PlanLink[] {
  if (root === null) return [];
  const names = new Set([
    ...folderNames.map((name) => name.replace(/^~(?=\/)/, home ?? "~")),
    ...(home === null ? [] : [home]),
  ]);
  return [...names]
    .filter((name) => name.startsWith("/") && name.length <= pathBytesMax && isPlainText(name))
    .slice(0, folderNamesMax)
    .flatMap((name) => linksToward(segmentsOf(name), root.path));
}

/** Git in a linked worktree or a submodule needs the git folder that the root's `.git` file points to. */
function showLinkedGit(
  planned: Extract<PlanResult, { readonly ok: true }>,
  facts: Omit<PlanFacts, "found" | "listed">,
): Extract<PlanResult, { readonly ok: true }> {
  const { root } = planned.plan;
  const found = root === null ? null : linkedGitOf(pathText(root.path));
  if (found === null) return planned;
  if (!found.ok)
    return { ...planned, notes: [...planned.notes, `git does not work in here: ${found.refusal.message}`] };
  if (found.value === null) return planned;
  const { folder, common } = found.value;
  return withLinkedGit(planned, { folder: segmentsOf(folder), common: segmentsOf(common) }, facts);
}

function refused(
  message: string,
  code: DenialCode = "sandbox_unavailable",
  fix: string | null = null,
): Extract<PlanResult, { readonly ok: false }> {
  return { ok: false, refused: { code, message, fix } };
}

/** In a missing working folder every program would look missing, so the folder is checked first. */
function directoryFault({ root, directory }: RootChoice): Extract<PlanResult, { readonly ok: false }> | null {
  const [base, place] = [pathText(root.path), pathText(directory)];
  // The sandbox launcher checks the root itself.
  if (base === place || realOf(base)?.join("/") !== root.path.join("/")) return null;
  if (!isFolder(place))
    return refused(`the working folder ${place} does not exist or is not a folder`, "not_available");
  const real = realOf(place);
  if (real !== null && isWithin(real, root.path)) return null;
  return refused(
    `the working folder ${place} is a link to a folder outside the agent's root`,
    "scope_violation",
    `use a folder whose real path is inside ${base}`,
  );
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    // An unreadable path is checked inside the sandbox.
    return true;
  }
}

/** An unreadable path may exist. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

function realOf(path: string | null): PlanPath | null {
  return path === null ? null : realRoot(segmentsOf(path));
}

const MEBIBYTE = 1_048_576;

/** Defaults for an MCP server: as long as a client, with less memory and fewer processes. */
const SERVER_LIMITS: Limits = {
  ...CLIENT_LIMITS,
  treeMemoryBytes: 1_073_741_824,
  processes: 64,
  openFiles: 512,
};

/** What the user's configuration says holds for clients and servers too. A command may get less time than configured, never more. */
export function limitsOf(
  written: WrittenLimits,
  { milliseconds, hasTerminal, isClient, isServer = false }: RunOptions,
): Limits {
  const defaults = isClient ? CLIENT_LIMITS : isServer ? SERVER_LIMITS : DEFAULT_LIMITS;
  const mebibytes = (value: number | undefined, otherwise: number): number =>
    value === undefined ? otherwise : value * MEBIBYTE;
  const wall = written.seconds === undefined ? defaults.wallMilliseconds : written.seconds * 1000;
  return {
    // Zero is no limit.
    wallMilliseconds: wall === 0 ? (milliseconds ?? 0) : Math.min(wall, milliseconds ?? wall),
    cpuSeconds: written.cpu_seconds ?? Math.max(defaults.cpuSeconds, Math.ceil(wall / 1000)),
    memoryBytes: defaults.memoryBytes,
    treeMemoryBytes: mebibytes(written.memory_mib, defaults.treeMemoryBytes),
    processes: written.processes ?? defaults.processes,
    fileBytes: mebibytes(written.file_mib, defaults.fileBytes),
    openFiles: written.open_files ?? defaults.openFiles,
    // A full-screen program draws the same cells again and again; its reader slows it down.
    outputBytes: mebibytes(written.output_mib, hasTerminal ? Number.MAX_SAFE_INTEGER : defaults.outputBytes),
    temporaryBytes: mebibytes(written.temporary_mib, defaults.temporaryBytes),
    draftBytes: mebibytes(written.draft_mib, defaults.draftBytes),
    draftFiles: written.draft_files ?? defaults.draftFiles,
  };
}
