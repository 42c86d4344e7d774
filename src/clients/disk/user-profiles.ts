// The profiles that a user wrote: `profiles/NAME.yml` in their configuration folder. A project's folder is never read: a
// profile chooses files of the home folder that are copied into a sandbox.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { guardPath, type PathSettings } from "../../core/authority/axes/path.ts";
import { errorCode } from "../../core/base/error-code.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import type { Source } from "../../core/notation/source.ts";
import { sha256 } from "../../platform/digest.ts";
import { readTextFile } from "../../platform/files.ts";
import { segmentsOf } from "../../platform/folders.ts";
import { readYaml } from "../../text/yaml.ts";
import type { BrokenProfile, ProfileProblem, UserProfile, UserProfiles } from "../profile-choice.ts";
import { readProfile } from "../written-profile.ts";

const profilesMax = 200;
const profileCharactersMax = 65_536;
const ENDING = ".yml";

export interface UserProfilesOptions {
  /** The configuration folder; null: there is none. */
  readonly config: string | null;
  readonly home: string | null;
  readonly protectedPaths: PathSettings["protectedPaths"];
}

export function readUserProfiles(place: UserProfilesOptions): UserProfiles {
  const folder = place.config === null ? null : join(place.config, "profiles");
  const names = folder === null ? [] : namesIn(folder);
  if (folder === null || names.length === 0) return { profiles: [], broken: [] };
  if (typeof names === "string") return { profiles: [], broken: [unread(folder, names)] };
  const profiles: UserProfile[] = [];
  const broken: BrokenProfile[] = [];
  for (const name of names) {
    const read = readOne(join(folder, name), name, place);
    if (!("profile" in read)) {
      broken.push(read);
      continue;
    }
    const other = profiles.find(({ profile }) => profile.programs.some((one) => read.profile.programs.includes(one)));
    if (other === undefined) profiles.push(read);
    else broken.push({ ...unread(read.file, `names a program of ${other.file}`), programs: read.profile.programs });
  }
  return { profiles, broken };
}

/** In the order of their letters; a text says why they cannot be listed. */
function namesIn(folder: string): readonly string[] | string {
  try {
    const names = readdirSync(folder).filter((name) => !name.startsWith(".") && !name.endsWith("~"));
    return names.length > profilesMax ? `contains more than ${profilesMax} files` : names.sort();
  } catch (error) {
    return errorCode(error) === "ENOENT" ? [] : `cannot be listed (${errorCode(error)})`;
  }
}

function readOne(path: string, name: string, place: UserProfilesOptions): UserProfile | BrokenProfile {
  if (!name.endsWith(ENDING)) return unread(path, `is ignored: a profile file must be named NAME${ENDING}`);
  const content = readTextFile(path, profileCharactersMax);
  if (!content.ok) return unread(path, content.message);
  const source: Source = { name: path, text: content.text };
  const { tree, diagnostics } = readYaml(source);
  const told = (list: readonly ProfileProblem["diagnostic"][]): readonly ProfileProblem[] =>
    list.map((diagnostic) => ({ diagnostic, source }));
  if (tree === null) return { file: path, programs: null, problems: told(diagnostics) };
  const found = new Diagnostics();
  const home = place.home === null ? [] : segmentsOf(place.home);
  const { profile, programs } = readProfile(
    tree,
    {
      name: name.slice(0, -ENDING.length),
      digest: sha256(content.text),
      isProtected: (below) => guardPath([...home, ...below], place.protectedPaths).guarded !== null,
    },
    found,
  );
  return profile === null ? { file: path, programs, problems: told(found.list) } : { profile, file: path };
}

function unread(path: string, message: string): BrokenProfile {
  const found = new Diagnostics();
  found.error("not_understood", { source: path, start: 0, end: 0 }, `${path} ${message}`);
  return {
    file: path,
    programs: null,
    problems: found.list.map((diagnostic) => ({ diagnostic, source: { name: path, text: "" } })),
  };
}
