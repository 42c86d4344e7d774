// Where a client may run: in the folder of one project, never in one that is or contains the home, the state or the configuration.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PLAIN_PROFILE } from "../../clients/profiles.ts";
import { READING } from "../../core/notation/testing/notation.ts";
import { ClientHomes } from "../../sandbox/homes/client-homes.ts";
import { at, PLAN } from "../../sandbox/plan/testing/plan.ts";
import { type ClientPlan, clientPlan } from "./client-profile.ts";
import type { RunEnvironment } from "./run-plan.ts";
import { NO_TOOLCHAINS } from "./toolchains.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-client-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function planIn(root: string, home = "/home/u"): ClientPlan {
  const environment: RunEnvironment = {
    ...{ home, workspace: null, project: null, user: null, environment: {}, program: "/opt/ambit" },
    userName: "u",
    folders: { state: "/var/state/ambit", config: "/etc/u/ambit" },
    pathSettings: READING.pathSettings,
  };
  return clientPlan(
    { ...PLAN, root: { path: at(root), mode: "live" } },
    { profile: PLAIN_PROFILE, isFresh: false },
    {
      ...{ owner: "o", homes: new ClientHomes(folder), environment, hasRelay: false, toolchains: NO_TOOLCHAINS },
      ...{ program: "true", cwd: root },
    },
  );
}

test.each([
  ["/home/u", "your home folder"],
  ["/home", "your home folder"],
  ["/", "your home folder"],
  ["/var/state/ambit", "ambit's state"],
  ["/var", "ambit's state"],
  ["/etc/u", "your configuration"],
] as const)("%s is refused: it is or contains %s", (root, what) => {
  const planned = planIn(root);
  expect(planned.ok ? null : planned.refused).toMatchObject({
    code: "scope_violation",
    message: `${root} is or contains ${what}: a client must run in the folder of one project`,
  });
});

test.each(["/home/u/project", "/home/us", "/var/state/amb"])("%s is not refused", (root) => {
  const planned = planIn(root);
  expect(planned.ok).toBe(true);
  if (planned.ok) planned.home.release();
});

test("a home that is named by a link is refused by its real path, and a project below it is not", () => {
  const real = realpathSync(folder);
  mkdirSync(join(real, "disk", "u", "project"), { recursive: true });
  symlinkSync(join(real, "disk"), join(real, "home"));
  const home = join(real, "home", "u");
  for (const root of [join(real, "disk", "u"), join(real, "disk")])
    expect(planIn(root, home)).toMatchObject({ ok: false, refused: { code: "scope_violation" } });
  const planned = planIn(join(real, "disk", "u", "project"), home);
  expect(planned.ok).toBe(true);
  if (planned.ok) planned.home.release();
});
