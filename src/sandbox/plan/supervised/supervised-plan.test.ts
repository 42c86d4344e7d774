// A plan without mounts: paths that a program sees, and rules that are no wider than those of a sandbox with mounts.
import { describe, expect, test } from "vitest";
import type { Plan } from "../plan.ts";
import { at, NETWORK, PLAN, SYSTEM } from "../testing/plan.ts";
import { type PrivateFolders, supervisedArgv, supervisedPlan } from "./supervised-plan.ts";
import { supervisedRules } from "./supervised-setup.ts";

const FOLDERS: PrivateFolders = { temporary: at("/state/private/1/tmp"), settings: at("/state/private/1/settings") };
const COPY = { draft: "d-1", path: at("/state/drafts/d-1/copy"), size: { bytes: 0, inodes: 0 } };
const copied: Plan = { ...PLAN, masked: [], root: { path: at("/home/u/work/ws"), mode: "draft", copy: COPY } };

const MAKE_REG = 1n << 8n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;

describe("a plan without mounts", () => {
  test("names the copy, the home and the temporary folder by their real paths", () => {
    const plan = supervisedPlan(
      {
        ...copied,
        environment: [
          ["PATH", "/run/ambit/bin:/usr/bin"],
          ["HOME", "/tmp/home"],
          ["TMPDIR", "/tmp"],
          ["GIT_CONFIG_VALUE_1", "/run/ambit/ambit-native credential"],
          ["OTHER", "/tmpfile and /tmp"],
          ["AMBIT_STORES", "/run/ambit/stores"],
        ],
        stores: [{ name: "s", folder: at("/state/stores/s") }],
        network: { ...NETWORK, relay: 9797 },
        hasTerminals: true,
      },
      FOLDERS,
      SYSTEM,
    );
    expect(plan.root?.path).toEqual(COPY.path);
    expect(plan.directory).toEqual([...COPY.path, "src"]);
    expect(plan.environment).toEqual([
      ["PATH", "/state/private/1/settings/bin:/usr/bin"],
      ["HOME", "/state/private/1/tmp/home"],
      ["TMPDIR", "/state/private/1/tmp"],
      ["GIT_CONFIG_VALUE_1", "/opt/ambit/native/ambit-native credential"],
      ["OTHER", "/tmpfile and /tmp"],
      ["AMBIT_STORES", "/state/private/1/settings/stores"],
      ["GIT_CONFIG_SYSTEM", "/state/private/1/settings/gitconfig"],
    ]);
    expect(plan.hasTerminals).toBe(undefined);
  });

  test("a throw-away sandbox works in its temporary folder", () => {
    const plan = supervisedPlan({ ...PLAN, root: null, masked: [], directory: at("/tmp") }, FOLDERS, SYSTEM);
    expect([plan.root, plan.directory]).toEqual([null, FOLDERS.temporary]);
  });
});

describe("a command without mounts", () => {
  const packaged: Plan = { ...copied, home: at("/state/stage"), package: at("/state/packages/p") };
  const words = (plan: Plan, ...argv: [string, ...string[]]) => supervisedArgv(plan, argv, FOLDERS, SYSTEM);

  test("names its program in the copy or the package, and folders of ours by what is there", () => {
    expect(words(packaged, "/home/u/work/ws/bin/tool", "/home/u/work/ws/file")).toEqual([
      ...["/state/drafts/d-1/copy/bin/tool", "/home/u/work/ws/file"],
    ]);
    expect(words(packaged, "/run/ambit/package/node_modules/.bin/server", "--port=1")).toEqual([
      ...["/state/packages/p/node_modules/.bin/server", "--port=1"],
    ]);
    expect(words(packaged, "npm", "--prefix=/run/ambit/home/package", "/run/ambit/home/x")).toEqual([
      ...["npm", "--prefix=/state/stage/package", "/state/stage/x"],
    ]);
  });

  test("is otherwise as it was decided", () => {
    const same = ["/home/u/work/wsx/tool", "/run/ambit/homes/x", "x=/run/ambit/home/x", "/tmp/x"] as const;
    for (const word of same) expect(words(packaged, word, word)).toEqual([word, word]);
    const none: Plan = { ...PLAN, root: { path: at("/home/u/work/ws"), mode: "ro" } };
    for (const word of ["/home/u/work/ws/tool", "/run/ambit/package/x"])
      expect(words(none, word, word)).toEqual([word, word]);
  });
});

describe("its Landlock rules", () => {
  const rulesOf = (plan: Plan, version = 7) =>
    supervisedRules(supervisedPlan(plan, FOLDERS, SYSTEM), FOLDERS, SYSTEM, version);
  const shown = (plan: Plan, right: bigint): readonly string[] =>
    (rulesOf(plan)?.rules ?? [])
      .filter(({ rights }) => (rights & right) !== 0n)
      .map(({ path }) => `/${path.join("/")}`);

  test("handle every right, ports and scopes, and need a kernel that holds signals", () => {
    expect(rulesOf(copied)?.handled).toEqual({ files: 0xffffn, network: 0b11n, scopes: 0b11n });
    expect([0, 1, 4, 5].map((version) => rulesOf(copied, version))).toEqual([null, null, null, null]);
  });

  test("let files be made in the copy and the temporary folder alone", () => {
    expect(shown(copied, MAKE_REG)).toEqual(["/state/private/1/tmp", "/state/drafts/d-1/copy"]);
    expect(shown({ ...copied, root: { path: at("/home/u/work/ws"), mode: "ro" } }, MAKE_REG)).toEqual([
      "/state/private/1/tmp",
    ]);
    expect(shown({ ...copied, home: at("/state/homes/h") }, MAKE_REG)).toContain("/state/homes/h");
  });

  test("show stores and the package of a server, and let neither be written", () => {
    const plan: Plan = {
      ...copied,
      stores: [{ name: "s", folder: at("/state/stores/s") }],
      package: at("/state/packages/p"),
    };
    for (const path of ["/state/stores/s", "/state/packages/p"]) {
      expect(shown(plan, READ_FILE)).toContain(path);
      expect(shown(copied, READ_FILE)).not.toContain(path);
      expect(shown(plan, MAKE_REG)).not.toContain(path);
    }
  });

  test("show no process, no other state, no home and not the real folder of a copy", () => {
    const readable = [...shown({ ...copied, network: NETWORK }, READ_FILE), ...shown(copied, READ_DIR)];
    for (const path of readable) {
      expect(path).not.toMatch(/^\/(proc(\/(self|\d+|net))?|home\/u(\/work.*)?|root|state|etc|dev|run|tmp|sys)?$/);
      expect(path).not.toMatch(/^\/etc\/(shadow|ssl|npmrc)$/);
    }
    expect(readable).toContain("/usr");
    expect(readable).toContain("/home/u/.tools/node");
  });
});
