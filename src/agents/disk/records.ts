// Records and skills of the machine, for the command line.

import { join } from "node:path";
import { readFrontmatter } from "../../text/frontmatter.ts";
import { sourceCharactersMax } from "../../text/read.ts";
import { openCollection } from "../records/record-collection.ts";
import { recordSkills, type SkillMachine, type SkillSource } from "../skills/record-skills.ts";
import type { SkillOrigin } from "../skills/skill.ts";
import { createRecord, fileText, listRecords, RECORDS, readListed, recordCache } from "./record-files.ts";
import type { RecordsFolder } from "./records-folder.ts";
import { CLIENT_SKILLS, listOwnSkills, listProjectSkills, SHARED_SKILLS, SKILLS, USER_SKILLS } from "./skill-files.ts";

export function recordsFolder(
  workspace: string,
  state: string | null,
  now: number,
  nameOf: (path: string) => string,
): RecordsFolder {
  const folder = join(workspace, RECORDS);
  const cache = recordCache(state, workspace);
  return {
    machine: {
      list: () => listRecords(workspace, now),
      read: (file) => readListed(folder, file, sourceCharactersMax),
      frontmatter: readFrontmatter,
      nameOf: (path) => nameOf(join(folder, path)),
      loadCache: cache.load,
      saveCache: cache.save,
    },
    create: (segments, text) => createRecord(workspace, segments, text),
  };
}

interface SkillOptions {
  readonly home: string | null;
  readonly config: string | null;
  readonly workspace: string | null;
  readonly records: RecordsFolder | null;
  readonly now: number;
  nameOf(path: string): string;
}

export function skillMachine({ home, config, workspace, records, now, nameOf }: SkillOptions): SkillMachine {
  const own = (origin: SkillOrigin, folder: string): SkillSource => ({
    origin,
    ...listOwnSkills(folder),
    read: ({ path }) => fileText(join(folder, path), sourceCharactersMax),
    nameOf: (path) => nameOf(join(folder, path)),
  });
  const project = (root: string, below = SKILLS): SkillSource => ({
    origin: "project",
    ...listProjectSkills(root, now, below),
    read: (file) => readListed(join(root, below), file, sourceCharactersMax),
    nameOf: (path) => nameOf(join(root, below, path)),
  });
  return {
    frontmatter: readFrontmatter,
    clientSources: () =>
      CLIENT_SKILLS.flatMap((below) => [
        ...(home === null ? [] : [own("shared", join(home, below))]),
        ...(workspace === null ? [] : [project(workspace, below)]),
      ]),
    sources: () => [
      ...(config === null ? [] : [own("user", join(config, USER_SKILLS))]),
      ...(home === null ? [] : [own("shared", join(home, SHARED_SKILLS))]),
      ...(workspace === null ? [] : [project(workspace)]),
      ...(records === null ? [] : [recordSkills(openCollection(records.machine), records.machine)]),
    ],
  };
}
