// A plan without mounts: where the private folders are on the host, and the same plan in the terms of those places. A program
// sees real paths, so its root, home and temporary folder are named by them.
import type { Plan, PlanPath } from "../plan.ts";
import { ASKING, homeFolder, isWithin, PROGRAM, STORES_VARIABLE, temporaryFolder } from "../plan-path.ts";
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
  const { hasTerminals: _, stores: __, links: ___, linkedGit: ____, ...rest } = plan;
  const shown = root?.copy?.path ?? root?.path ?? null;
  const home = plan.home ?? [...folders.temporary, "home"];
  const moves: readonly (readonly [from: PlanPath, to: PlanPath])[] = [
    ...(root === null || shown === null ? [] : [[root.path, shown] as const]),
    [homeFolder(plan), home],
    [temporaryFolder(plan), folders.temporary],
  ];
  const texts: readonly (readonly [from: string, to: string])[] = [
    [pathOf(PROGRAM), pathOf(system.program)],
    [pathOf(homeFolder(plan)), pathOf(home)],
    [pathOf(temporaryFolder(plan)), pathOf(folders.temporary)],
  ];
  return {
    ...rest,
    masked: [],
    root: root === null || shown === null ? null : { ...root, path: shown },
    directory: moved(plan.directory, moves),
    environment: [
      ...plan.environment
        .filter(([name]) => name !== STORES_VARIABLE[0])
        .map(([name, value]): readonly [string, string] => [
          name,
          name === "PATH" ? withoutAsking(value) : replaced(value, texts),
        ]),
      // The machine's own settings are not readable, which git takes for an error.
      ["GIT_CONFIG_SYSTEM", pathOf([...folders.settings, GIT_SETTINGS])],
    ],
  };
}

/**
 * The command with its program by the name that it has in the copy. Only the first word: the others are text, which was decided
 * as it is.
 */
export function supervisedArgv(
  { root }: Plan,
  [program, ...words]: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  const folder = root?.copy === undefined ? null : `${pathOf(root.path)}/`;
  if (root?.copy === undefined || folder === null || !program.startsWith(folder)) return [program, ...words];
  return [`${pathOf(root.copy.path)}/${program.slice(folder.length)}`, ...words];
}

export const GIT_SETTINGS = "gitconfig";

/** The content of our own settings for git. */
export function gitSettingsText({ user }: SystemFacts): string {
  const name = /^[a-z_][a-z0-9_.-]{0,31}$/i.test(user.name) ? user.name : "user";
  return `${gitLines(name).join("\n")}\n`;
}

function moved(path: PlanPath, moves: readonly (readonly [from: PlanPath, to: PlanPath])[]): PlanPath {
  const move = moves.find(([from]) => isWithin(path, from));
  return move === undefined ? path : [...move[1], ...path.slice(move[0].length)];
}

function replaced(value: string, texts: readonly (readonly [from: string, to: string])[]): string {
  const found = texts.find(([from]) => value === from || value.startsWith(`${from}/`) || value.startsWith(`${from} `));
  return found === undefined ? value : `${found[1]}${value.slice(found[0].length)}`;
}

function withoutAsking(value: string): string {
  return value
    .split(":")
    .filter((folder) => folder !== pathOf(ASKING))
    .join(":");
}

function pathOf(path: PlanPath): string {
  return `/${path.join("/")}`;
}
