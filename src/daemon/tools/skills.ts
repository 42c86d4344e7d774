// The tools `skills_list` and `skills_read`: the skills of an agent, which are those whose tools its grants cover. Others do
// not exist for it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { RECORDS } from "../../agents/disk/record-files.ts";
import { skillMachine } from "../../agents/disk/records.ts";
import { SHARED_SKILLS, SKILLS, USER_SKILLS } from "../../agents/disk/skill-files.ts";
import type { Skill } from "../../agents/skills/skill.ts";
import { checkSkill, type SkillHolder } from "../../agents/skills/skill-check.ts";
import { openSkills, type SkillSource } from "../../agents/skills/skill-shelf.ts";
import { judge } from "../../core/authority/judge.ts";
import { done } from "../../core/base/result.ts";
import type { UserFolders } from "../../platform/folders.ts";
import { objectSchema, textSchema } from "../../runtime/tool/schema-parts.ts";
import { heldGrants } from "../../tools/agents/held-grants.ts";
import { recordRequest } from "../../tools/records/requests.ts";
import { WorkspaceLibraries, workspaceRecords } from "../contexts/records.ts";
import type { Daemon } from "../daemon.ts";
import { textIn } from "../input.ts";
import type { Records } from "../parts.ts";
import type { Session } from "../session.ts";
import type { ExecutionResult, OwnerTool } from "./owner-tool.ts";

interface DaemonSkillsOptions {
  readonly home: string | null;
  readonly folders: UserFolders;
  readonly state: string | null;
  readonly records: Records;
  held(session: Session): ReturnType<Daemon["held"]>;
  now(): number;
}

const nameCharactersMax = 64;
/** Skills compared with the agent's grants in one event-loop turn. */
const skillsPerTurnMax = 16;

export function daemonSkills(asked: DaemonSkillsOptions): readonly OwnerTool[] {
  const libraries = new WorkspaceLibraries();
  const ofSession = async (session: Session): Promise<readonly Skill[] | null> => {
    const held = asked.held(session);
    if (held === null) return null;
    const { authority, reading } = held.holding;
    const holder: SkillHolder = { authority, grants: heldGrants(authority), workingRoot: reading.workingRoot ?? null };
    const mayRead = (id: string): boolean => {
      const request = recordRequest("records.read", "skill", id);
      return request.ok && judge(authority, request.value, held.moment).outcome === "allow";
    };
    const all = openSkills(await machineOf(asked, session, libraries, mayRead), reading).skills;
    const own: Skill[] = [];
    for (const [at, skill] of all.entries()) {
      if (at % skillsPerTurnMax === skillsPerTurnMax - 1) await new Promise<void>((next) => setImmediate(next));
      if (checkSkill(skill, holder, reading, held.moment).satisfied) own.push(skill);
    }
    return own;
  };

  /** Not listed where no skill can be: every listed tool costs the model context. */
  const isThere = ({ facts: { name, cwd } }: Session): boolean => {
    const workspace = name.workspace ?? asked.records.workspaceOf(cwd);
    const { home, folders } = asked;
    const places = [
      ...(workspace === null ? [] : [join(workspace, SKILLS), join(workspace, RECORDS)]),
      ...(folders.config === null ? [] : [join(folders.config, USER_SKILLS)]),
      ...(home === null ? [] : [join(home, SHARED_SKILLS)]),
    ];
    return places.some((place) => existsSync(place));
  };

  const list: OwnerTool = {
    name: "skills_list",
    description:
      "List your skills: instructions for tasks that your grants allow. Read one with skills_read before you do such a task.",
    input: objectSchema({}, []),
    verbs: [],
    isThere,
    requests: () => done([]),
    execute: async ({ session }) => {
      const skills = await ofSession(session);
      if (skills === null) return ENDED;
      const shown = skills.map(({ name, description }) => ({ name, description }));
      return { ok: true, value: { skills: shown }, isUntrusted: skills.some(isUntrusted) };
    },
  };

  const read: OwnerTool = {
    name: "skills_read",
    description: "Read the instructions of one of your skills, by its name in skills_list.",
    input: objectSchema({ name: textSchema("The name of the skill.", 1, nameCharactersMax) }, ["name"]),
    verbs: [],
    isThere,
    requests: () => done([]),
    execute: async ({ input, session }) => {
      const wanted = textIn(input, "name", nameCharactersMax);
      const skills = await ofSession(session);
      if (skills === null) return ENDED;
      const skill = skills.find(({ name }) => name === wanted);
      // The same answer for a skill that is not there and for one that needs more than the agent holds.
      if (skill === undefined)
        return { ok: false, code: "not_found", message: `you have no skill called ${JSON.stringify(wanted)}` };
      const { name, description, compatibility, body } = skill;
      const value = { name, description, compatibility, text: body.trim() };
      return { ok: true, value, isUntrusted: isUntrusted(skill) };
    },
  };
  return [list, read];
}

/** Files of the project may be another person's, and trusting the project does not review them. */
function isUntrusted({ origin }: Skill): boolean {
  return origin === "project" || origin === "record";
}

async function machineOf(
  { home, folders, state, records, now }: DaemonSkillsOptions,
  session: Session,
  libraries: WorkspaceLibraries,
  mayRead: (id: string) => boolean,
): Promise<ReturnType<typeof skillMachine>> {
  const { name, cwd } = session.facts;
  const workspace = name.workspace ?? records.workspaceOf(cwd);
  const machine = skillMachine({
    ...{ home, workspace },
    config: folders.config,
    records: null,
    now: now(),
    nameOf: (path) => path,
  });
  if (workspace === null) return machine;
  const { place } = workspaceRecords(workspace, state, now(), libraries.of(workspace));
  const listing = await place.library.open(place.machine);
  const files = listing.records.flatMap(({ id, path, recordClass }) => {
    const file = recordClass === "skill" && mayRead(id) ? listing.files.get(path) : undefined;
    return file === undefined ? [] : [file];
  });
  const { read, nameOf } = place.machine;
  const source: SkillSource = { origin: "record", files, problems: [], read, nameOf };
  return { ...machine, sources: () => [...machine.sources(), source] };
}

const ENDED: ExecutionResult = { ok: false, code: "revoked", message: "the session has no grants any more" };
