// Profiles are data that people review: each is named once, and nothing in it can load code or name a file to run.
import { expect, test } from "vitest";
import { NO_USER_PROFILES, profileById } from "./profile-choice.ts";
import { PLAIN_PROFILE, PROFILES, profileOfProgram } from "./profiles.ts";

test("ids and programs are named once", () => {
  const ids = [...PROFILES, PLAIN_PROFILE].map(({ id }) => id);
  const programs = PROFILES.flatMap((one) => one.programs);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(programs).size).toBe(programs.length);
  for (const id of ids) expect(id).toMatch(/^ambit:[a-z-]+@\d+$/);
});

test.each(PROFILES.map((one) => [one.id, one] as const))(
  "%s sets switches and folders of its home, and no program or option",
  (_id, one) => {
    for (const [name, value] of one.variables) {
      expect(name).toMatch(/^[A-Z][A-Z0-9_]+$/);
      expect(name).not.toMatch(/PATH|NODE_|PYTHON|GIT_|LD_|OPTIONS|COMMAND|SHELL|^HOME$/);
      expect(value).toMatch(/^(0|1|true|false|\{home\}\/[\w./-]+)$/);
    }
    for (const path of [...one.folders, ...one.settings.map((setting) => setting.path)]) {
      expect(path).toMatch(/^\.[\w./-]+$/);
      expect(path.split("/")).not.toContain("..");
      // Where these clients keep their credentials.
      expect(path).not.toMatch(/auth|credential|oauth|token|\.claude$|\.codex$|\.gemini$/);
    }
    for (const [name, value] of one.model?.variables ?? []) {
      expect(name).toMatch(/^[A-Z_]+(_BASE_URL|_API_KEY)$/);
      expect(value).toMatch(/^(\{relay\}\/[a-z0-9/]+|\{key\})$/);
    }
    for (const { path } of one.model?.settings ?? []) expect(one.settings.map((each) => each.path)).toContain(path);
  },
);

test.each([
  ["claude", "ambit:claude-code@1"],
  ["/opt/tools/bin/codex", "ambit:codex@1"],
  ["claude.sh", "ambit:plain@1"],
  ["", "ambit:plain@1"],
])("%s has the profile %s", (program, id) => {
  expect(profileOfProgram(program).id).toBe(id);
  expect(profileById(id, NO_USER_PROFILES)).toBe(profileOfProgram(program));
});

test("an unknown id has no profile", () => {
  expect(profileById("ambit:claude-code@2", NO_USER_PROFILES)).toBeNull();
});
