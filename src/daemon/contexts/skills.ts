// The power of the skill tools: the user's, the shared and the project's skill files of a session, and records of class skill.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { RECORDS } from "../../agents/disk/record-files.ts";
import { skillMachine } from "../../agents/disk/records.ts";
import { SHARED_SKILLS, SKILLS, USER_SKILLS } from "../../agents/disk/skill-files.ts";
import type { SkillMachine, SkillSource } from "../../agents/skills/record-skills.ts";
import type { UserFolders } from "../../platform/folders.ts";
import type { SkillPowers } from "../../tools/skills/skill-tools.ts";
import type { Daemon } from "../daemon.ts";
import type { Records } from "../parts.ts";
import type { Session } from "../session.ts";
import type { PowersOptions } from "../tools/daemon-tool.ts";
import { turn, WorkspaceLibraries, workspaceRecords } from "./records.ts";

interface SkillPowersOptions {
  readonly home: string | null;
  readonly folders: UserFolders;
  readonly records: Pick<Records, "workspaceOf">;
  held(session: Session): ReturnType<Daemon["held"]>;
  now(): number;
}

export function skillPowers(options: SkillPowersOptions): (call: PowersOptions) => SkillPowers {
  const libraries = new WorkspaceLibraries();
  return ({ session, taint }) => {
    const { name, cwd } = session.facts;
    const workspace = name.workspace ?? options.records.workspaceOf(cwd);
    return {
      skills: {
        ...{ taint, pause: turn },
        hasFolder: () => foldersOf(options, workspace).some((folder) => existsSync(folder)),
        held: () => {
          const held = options.held(session);
          return held === null ? null : { ...held.holding, moment: held.moment };
        },
        open: (mayRead) => openMachine(options, workspace, libraries, mayRead),
      },
    };
  };
}

function foldersOf({ home, folders }: SkillPowersOptions, workspace: string | null): readonly string[] {
  return [
    ...(workspace === null ? [] : [join(workspace, SKILLS), join(workspace, RECORDS)]),
    ...(folders.config === null ? [] : [join(folders.config, USER_SKILLS)]),
    ...(home === null ? [] : [join(home, SHARED_SKILLS)]),
  ];
}

async function openMachine(
  { home, folders, now }: SkillPowersOptions,
  workspace: string | null,
  libraries: WorkspaceLibraries,
  mayRead: (id: string) => boolean,
): Promise<SkillMachine> {
  const machine = skillMachine({
    ...{ home, workspace, config: folders.config, records: null, now: now() },
    nameOf: (path) => path,
  });
  if (workspace === null) return machine;
  const { place } = workspaceRecords(workspace, folders.state, now(), libraries.of(workspace));
  const listing = await place.library.open(place.machine);
  const files = listing.records.flatMap(({ id, path, recordClass }) => {
    const file = recordClass === "skill" && mayRead(id) ? listing.files.get(path) : undefined;
    return file === undefined ? [] : [file];
  });
  const { read, nameOf } = place.machine;
  const source: SkillSource = { origin: "record", files, problems: [], read, nameOf };
  return { ...machine, sources: () => [...machine.sources(), source] };
}
