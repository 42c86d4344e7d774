// The profile of a client in a request: known by its id, never sent as data.

import { isOlder } from "../../clients/client-version.ts";
import { installedVersion } from "../../clients/disk/installed-version.ts";
import { registryVariables } from "../../clients/package-settings.ts";
import type { ClientProfile } from "../../clients/profile.ts";
import { NO_USER_PROFILES, profileById, type UserProfiles } from "../../clients/profile-choice.ts";
import { variablesOf } from "../../clients/settings.ts";
import { guardPath, pathText } from "../../core/authority/axes/path.ts";
import { optionalText } from "../../core/base/fields.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { RunFailure, RunRefusal } from "../../core/ports/process.ts";
import { segmentsOf } from "../../platform/folders.ts";
import { realRoot } from "../../platform/real-path.ts";
import type { ClientHomes, HomeResult } from "../../sandbox/homes/client-homes.ts";
import type { Limits, Plan, PlanNetwork, PlanPath } from "../../sandbox/plan/plan.ts";
import { DEFAULT_LIMITS } from "../../sandbox/plan/plan-facts.ts";
import { ASKING, homeFolder, isWithin } from "../../sandbox/plan/plan-path.ts";
import type { RunEnvironment } from "./run-plan.ts";
import type { ClientToolchains } from "./toolchains.ts";

/** Null: a program, not a client. `users`: reads the user's own profiles. */
export function clientIn(value: JsonObject, users: () => UserProfiles): Answer<ClientRun | null> {
  const id = optionalText(value, "profile", 128);
  if (id === null) return { ok: true, value: null };
  const isUsers = id?.startsWith("user:") === true;
  const profile = id === undefined ? null : profileById(id, isUsers ? users() : NO_USER_PROFILES);
  if (profile === null) {
    const why = isUsers ? ", or it changed since it was read" : "";
    return refusal("invalid_input", `no such profile${why}`, "ambit profiles list");
  }
  return { ok: true, value: { profile, isFresh: value["isFresh"] === true } };
}

/** The longest time the kernel's limit takes here: some eleven days of the processor. */
const cpuSecondsMax = 1_000_000;

/** Defaults for a client: it lives as long as the person works with it, and its reader slows its output down. */
export const CLIENT_LIMITS: Limits = {
  ...DEFAULT_LIMITS,
  wallMilliseconds: 0,
  cpuSeconds: cpuSecondsMax,
  outputBytes: Number.MAX_SAFE_INTEGER,
};

/** A client to be run: its profile, and whether its home begins empty. */
export interface ClientRun {
  readonly profile: ClientProfile;
  readonly isFresh: boolean;
}

type Home = Extract<HomeResult, { readonly ok: true }>;

export type ClientPlan = { readonly ok: true; readonly plan: Plan; readonly home: Home } | RunFailure;

/**
 * INVARIANT: a profile adds variables, the agent's own home, and the port with the model relay and the door of the session to
 * a plan, and nothing else.
 */
export function clientPlan(
  bare: Plan,
  { profile, isFresh }: ClientRun,
  { owner, homes, environment, hasRelay, toolchains, program, cwd }: ClientPlanParts,
): ClientPlan {
  const before = bare.environment.find(([name]) => name === "PATH")?.[1] ?? "";
  const path = joinedPath(toolchains, before);
  const fault = clientFault(bare, environment) ?? versionFault(profile, { program, cwd, path });
  if (fault !== null) return { ok: false, refused: fault };
  const port = relayPort(bare.network);
  // `homeFolder` checks only that a home is set; which one is irrelevant here.
  const inside = {
    relay: hasRelay ? `http://127.0.0.1:${port}` : null,
    root: pathText(bare.root?.path ?? []),
    home: pathText(homeFolder({ ...bare, home: [] })),
  };
  const ours = [environment.folders.state, environment.folders.config].flatMap((one) =>
    one === null ? [] : [segmentsOf(one)],
  );
  const home = homes.open({
    ...{ owner, profile, isFresh, inside, environment: environment.environment },
    real: {
      folder: environment.home,
      isProtected: (path) => {
        const segments = segmentsOf(path);
        const isOurs = ours.some((folder) => isWithin(segments, folder));
        return isOurs || guardPath(segments, environment.pathSettings.protectedPaths).guarded !== null;
      },
    },
  });
  if (!home.ok) return { ok: false, refused: { code: "sandbox_unavailable", message: home.reason, fix: home.fix } };
  const registries = registryVariables(environment.environment);
  const set = [
    ["HOME", inside.home] as const,
    // First: an `ambit` that is installed on the machine can do nothing inside.
    ["PATH", `${pathText(ASKING)}:${path}`] as const,
    ["AMBIT_DOOR", `http://127.0.0.1:${port}/ambit`] as const,
    ...toolchains.variables,
    ...home.variables,
    ...registries.variables,
    ...variablesOf(profile, inside),
  ];
  // The last one of a name counts: that of the profile.
  const variables = [...new Map([...bare.environment, ...set])];
  const network = { ...(bare.network ?? NO_NETWORK), relay: port };
  return {
    ok: true,
    plan: { ...bare, home: segmentsOf(home.path), environment: variables, network },
    home: { ...home, notes: [...home.notes, ...registries.notes] },
  };
}

interface ClientPlanParts {
  readonly owner: string;
  readonly homes: ClientHomes;
  readonly environment: RunEnvironment;
  readonly toolchains: ClientToolchains;
  /** As it is called, and the folder it is called in. */
  readonly program: string;
  readonly cwd: string;
  /** The record grants some model to the client. */
  readonly hasRelay: boolean;
}

/** The person's order first, then what else the sandbox has; of their toolchains, only what is on their own search path. */
function joinedPath({ folders, trees }: ClientToolchains, path: string): string {
  const texts = folders.map(pathText).filter((text) => !text.includes(":"));
  const others = path.split(":").filter((text) => !trees.some((tree) => isWithin(segmentsOf(text), tree)));
  return [...new Set([...texts, ...others])].join(":");
}

const NO_NETWORK: PlanNetwork = { ports: [], loopback: [], chains: [] };
const relayPortMin = 9_797;

/** A port that no loopback grant uses: granted ports lead to the host's loopback. */
function relayPort(network: PlanNetwork | null): number {
  let port = relayPortMin;
  while (network?.loopback.includes(port) === true) port++;
  return port;
}

/** Where the version cannot be read, the client runs. */
function versionFault(
  { id, least }: ClientProfile,
  place: { readonly program: string; readonly cwd: string; readonly path: string },
): RunRefusal | null {
  const version = least === undefined ? null : installedVersion({ ...place, packages: least.packages });
  if (least === undefined || version === null || !isOlder(version, least.version)) return null;
  const message = `${place.program} is version ${version}, and ${id} needs ${least.version} or later`;
  return { code: "not_available", message, fix: `update the client: npm install -g ${least.packages[0] ?? ""}` };
}

/** A client works in one project: with a whole home as its root it would have every project, and its own state. */
function clientFault({ root }: Plan, { home, folders }: RunEnvironment): RunRefusal | null {
  if (root === null) return null;
  const at = pathText(root.path);
  const around = [
    ["your home folder", home],
    ["ambit's state", folders.state],
    ["your configuration", folders.config],
  ] as const;
  const found = around.find(([, folder]) => folder !== null && namesOf(folder).some((one) => isWithin(one, root.path)));
  if (found === undefined) return null;
  const message = `${at} is or contains ${found[0]}: a client must run in the folder of one project`;
  return { code: "scope_violation", message, fix: "change to the project's folder, or use --in FOLDER" };
}

/** As it is written, and where it is: a root is a path without links. */
function namesOf(folder: string): readonly PlanPath[] {
  const written = segmentsOf(folder);
  const real = realRoot(written);
  return real === null ? [written] : [written, real];
}
