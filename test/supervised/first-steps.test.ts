// The first commands of a new user where namespaces are refused: `npm start` and the README, as printed.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { walkFirstFiveMinutes } from "../e2e/first-five-minutes.ts";
import { prepareState } from "../house/daemon-state.ts";
import { removeState } from "../house/remove-state.ts";
import { FILTERED } from "./container-filter.ts";

const own = process.getuid?.() ?? 0;
/** An account with a home folder in the password database, which the tour reads `~` by. */
const knownAccount = 65_534;
const USERS = own === 0 ? [0, knownAccount] : [own];

describe.each(USERS)("where namespaces are refused, for user %i", (user) => {
  const as = user === own ? {} : { uid: user, gid: user };
  let base = "";
  let env: NodeJS.ProcessEnv = {};

  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-first-steps-")));
    chmodSync(base, 0o755);
    prepareState(join(base, "state"), join(base, "config"));
    for (const path of [".", ...readdirSync(base, { recursive: true, encoding: "utf8" })])
      chownSync(join(base, path), user, user);
    env = {
      ...{ PATH: `${join(root, "bin")}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`, NO_COLOR: "1" },
      ...{ HOME: base, XDG_STATE_HOME: join(base, "state"), XDG_CONFIG_HOME: join(base, "config") },
    };
  });
  afterEach(() => removeState(base));

  test("`npm start` shows everything as expected", () => {
    const [command = "", ...words] = [...FILTERED, process.execPath, join(root, "scripts", "start.mjs")];
    const { status, stdout, stderr } = spawnSync(command, words, { cwd: base, encoding: "utf8", env, ...as });
    expect(stdout, stderr).toMatch(/\n(\d\d+) of \1 as expected\n/);
    expect(status).toBe(0);
  });

  test("the README's first five minutes work as printed", () => {
    walkFirstFiveMinutes({ environment: env, before: FILTERED, ...as });
  });
});
