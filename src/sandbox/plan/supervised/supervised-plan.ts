// A plan without mounts: where the private folders are on the host, and the same plan in the terms of those places. A program
// sees real paths, so its root, home and temporary folder are named by them.
import type { Plan, PlanPath } from "../plan.ts";
import { ASKING, homeFolder, isWithin, OURS, PACKAGE_FOLDER, PROGRAM, STORES, temporaryFolder } from "../plan-path.ts";
import { gitLines } from "../start/git-settings.ts";
import type { SystemFacts } from "../start/system.ts";

/** Folders on the host that one sandbox has for itself. */
export interface PrivateFolders {
  /** Emptied after every command; the home is in it. */
  readonly temporary: PlanPath;
  /** Our own files, which programs read. */
  readonly settings: PlanPath;
}

/** INVARIANT: nothing is added that the plan does not have; what needs a mount is left out. */
export function supervisedPlan(plan: Plan, folders: PrivateFolders, system: SystemFacts): Plan {
  const { root } = plan;
  const { hasTerminals: _, links: __, linkedGit: ___, ...rest } = plan;
  const shown = root?.copy?.path ?? root?.path ?? null;
  const moves: readonly (readonly [from: PlanPath, to: PlanPath])[] = [
    ...(root === null || shown === null ? [] : [[root.path, shown] as const]),
    [homeFolder(plan), homeOf(plan, folders)],
    [temporaryFolder(plan), folders.temporary],
  ];
  const texts = [...ownPlaces(plan, folders, system), [temporaryFolder(plan), folders.temporary] as const].map(
    ([from, to]) => [pathOf(from), pathOf(to)] as const,
  );
  return {
    ...rest,
    masked: [],
    root: root === null || shown === null ? null : { ...root, path: shown },
    directory: moved(plan.directory, moves),
    environment: [
      ...plan.environment.map(([name, value]): readonly [string, string] => [
        name,
        name === "PATH" ? replacedFolders(value, texts) : replaced(value, texts),
      ]),
      // The machine's own settings are not readable, which git takes for an error.
      ["GIT_CONFIG_SYSTEM", pathOf([...folders.settings, GIT_SETTINGS])],
    ],
  };
}

/** Names of ours in a sandbox with mounts, and what is there. */
function ownPlaces(
  plan: Plan,
  folders: PrivateFolders,
  system: SystemFacts,
): readonly (readonly [from: PlanPath, to: PlanPath])[] {
  return [
    [PROGRAM, system.program],
    [homeFolder(plan), homeOf(plan, folders)],
    ...(plan.package === undefined ? [] : [[PACKAGE_FOLDER, plan.package] as const]),
    ...(plan.stores === undefined ? [] : [[STORES, [...folders.settings, STORES_FOLDER]] as const]),
    ...(plan.network?.relay === undefined ? [] : [[ASKING, [...folders.settings, ASKING_FOLDER]] as const]),
  ];
}

function homeOf(plan: Plan, folders: PrivateFolders): PlanPath {
  return plan.home ?? [...folders.temporary, "home"];
}

/**
 * The command with its program by the name that it has in the copy, and paths in our own folder by what is there. The
 * other arguments stay as they were decided.
 */
export function supervisedArgv(
  plan: Plan,
  [program, ...words]: readonly [string, ...string[]],
  folders: PrivateFolders,
  system: SystemFacts,
): readonly [string, ...string[]] {
  const { root } = plan;
  const places = ownPlaces(plan, folders, system)
    .filter(([from]) => isWithin(from, OURS))
    .map(([from, to]): readonly [string, string] => [`${pathOf(from)}/`, `${pathOf(to)}/`]);
  const copy = root?.copy === undefined ? [] : [[`${pathOf(root.path)}/`, `${pathOf(root.copy.path)}/`] as const];
  return [placed(program, [...places, ...copy]), ...words.map((word) => placed(word, places))];
}

/** As a path, or as the value of an option. */
function placed(word: string, places: readonly (readonly [from: string, to: string])[]): string {
  const option = /^-[^=/]*=/.exec(word)?.[0] ?? "";
  const found = places.find(([from]) => word.startsWith(from, option.length));
  return found === undefined ? word : `${option}${found[1]}${word.slice(option.length + found[0].length)}`;
}

/** Of the settings: a link for each store that may be read. */
export const STORES_FOLDER = "stores";
/** Of the settings, for clients: `ambit`, by which programs ask their own session. */
export const ASKING_FOLDER = "bin";
export const GIT_SETTINGS = "gitconfig";

/** The content of our own settings for git. */
export function gitSettingsText({ user }: SystemFacts, hosts: readonly string[]): string {
  const name = /^[a-z_][a-z0-9_.-]{0,31}$/i.test(user.name) ? user.name : "user";
  return `${gitLines(name, hosts).join("\n")}\n`;
}

function moved(path: PlanPath, moves: readonly (readonly [from: PlanPath, to: PlanPath])[]): PlanPath {
  const move = moves.find(([from]) => isWithin(path, from));
  return move === undefined ? path : [...move[1], ...path.slice(move[0].length)];
}

function replaced(value: string, texts: readonly (readonly [from: string, to: string])[]): string {
  const found = texts.find(([from]) => value === from || value.startsWith(`${from}/`) || value.startsWith(`${from} `));
  return found === undefined ? value : `${found[1]}${value.slice(found[0].length)}`;
}

function replacedFolders(list: string, texts: readonly (readonly [from: string, to: string])[]): string {
  return list
    .split(":")
    .map((folder) => replaced(folder, texts))
    .join(":");
}

function pathOf(path: PlanPath): string {
  return `/${path.join("/")}`;
}
