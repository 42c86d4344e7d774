// Which profile a client gets: a built-in one, the user's own, or the plain one.
import type { Diagnostic } from "../core/notation/diagnostic.ts";
import type { Source } from "../core/notation/source.ts";
import type { ClientProfile } from "./profile.ts";
import { PLAIN_PROFILE, PROFILES } from "./profiles.ts";

export interface ProfileProblem {
  readonly diagnostic: Diagnostic;
  readonly source: Source;
}

export interface UserProfile {
  readonly profile: ClientProfile;
  readonly file: string;
}

export interface BrokenProfile {
  readonly file: string;
  /** The programs it is for; null where that cannot be read. */
  readonly programs: readonly string[] | null;
  readonly problems: readonly ProfileProblem[];
}

export interface UserProfiles {
  readonly profiles: readonly UserProfile[];
  readonly broken: readonly BrokenProfile[];
}

export const NO_USER_PROFILES: UserProfiles = { profiles: [], broken: [] };

export type ProfileChoice =
  | { readonly ok: true; readonly profile: ClientProfile }
  | { readonly ok: false; readonly broken: BrokenProfile };

/**
 * By the name of the program, whatever folder it is in. INVARIANT: a profile with mistakes stops the clients that it is for;
 * none of them runs with another profile instead.
 */
export function chooseProfile(program: string, { profiles, broken }: UserProfiles): ProfileChoice {
  const name = program.slice(program.lastIndexOf("/") + 1);
  const builtIn = PROFILES.find(({ programs }) => programs.includes(name));
  if (builtIn !== undefined) return { ok: true, profile: builtIn };
  const named = broken.find(({ programs }) => programs?.includes(name) === true);
  if (named !== undefined) return { ok: false, broken: named };
  const own = profiles.find(({ profile }) => profile.programs.includes(name));
  if (own !== undefined) return { ok: true, profile: own.profile };
  const unknown = broken.find(({ programs }) => programs === null);
  return unknown === undefined ? { ok: true, profile: PLAIN_PROFILE } : { ok: false, broken: unknown };
}

/** Built-in ones by their id; the user's own by theirs, which changes with the text. */
export function profileById(id: string, { profiles }: UserProfiles): ClientProfile | null {
  const own = profiles.map(({ profile }) => profile);
  return [...PROFILES, PLAIN_PROFILE, ...own].find((one) => one.id === id) ?? null;
}
