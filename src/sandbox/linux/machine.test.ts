// Real probes of folders and programs made for the test; every failure results in "unknown".
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { MachineFacts } from "../../core/ports/machine.ts";
import { ignoredHome } from "../../platform/path-settings.ts";
import { complaintProblem } from "./bubblewrap-error.ts";
import { machineFacts } from "./machine.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ambit-machine-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function facts(files: Readonly<Record<string, string | Uint8Array>>, bwrap: string | null = null): MachineFacts {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  mkdirSync(join(root, "bin"), { recursive: true });
  if (bwrap !== null) {
    writeFileSync(join(root, "bin", "bwrap"), `#!/bin/sh\n${bwrap}\n`);
    chmodSync(join(root, "bin", "bwrap"), 0o755);
  }
  return machineFacts({
    platform: "linux",
    kernel: "6.8.0-31-generic",
    root,
    path: join(root, "bin"),
    millisecondsMax: 400,
    self: root,
  });
}

const VERSION = 'if [ "$1" = --version ]; then echo "bubblewrap 0.9.0"; exit 0; fi';

describe("a machine without any answers", () => {
  test("is unknown throughout, but that there is no bubblewrap is known", () => {
    expect(facts({})).toEqual({
      platform: "linux",
      distribution: "unknown",
      bubblewrap: null,
      sandboxStarts: "unknown",
      sandboxProblem: null,
      userNamespaces: "unknown",
      appArmorRestricts: "unknown",
      landlock: "unknown",
      native: "unknown",
      draftsRefusedBy: "unknown",
      controlGroups: [],
      ignoredHome: ignoredHome(),
      stateProblem: null,
      isContainer: false,
      isRoot: process.getuid?.() === 0,
    });
  });
});

describe("bubblewrap", () => {
  test.each([
    ["that works", `${VERSION}; exit 0`, { bubblewrap: "0.9.0", sandboxStarts: true }],
    ["that may not run", `${VERSION}; exit 1`, { bubblewrap: "0.9.0", sandboxStarts: false, sandboxProblem: null }],
    [
      "that may not mount a /proc",
      `${VERSION}; echo "bwrap: Can't mount proc on /proc: Operation not permitted" >&2; exit 1`,
      {
        sandboxStarts: false,
        sandboxProblem: {
          message: expect.stringContaining("forbids a /proc of its own"),
          fix: expect.stringContaining("systempaths=unconfined"),
        },
      },
    ],
    [
      "that may not set a host name, which sandboxes then do without",
      `${VERSION}; case "$*" in *hostname*) echo "bwrap: Can't set hostname to ambit: Operation not permitted" >&2; exit 1;; esac`,
      { sandboxStarts: true, sandboxProblem: null },
    ],
    ["that hangs", "exec /bin/sleep 600", { bubblewrap: "unknown", sandboxStarts: "unknown" }],
    ["that leaves a child behind with its output", "/bin/sleep 5 &\nexit 0", { bubblewrap: "unknown" }],
    ["that hangs in the sandbox", `${VERSION}; exec /bin/sleep 600`, { bubblewrap: "0.9.0", sandboxStarts: "unknown" }],
    ["that fails", "exit 3", { bubblewrap: "unknown", sandboxStarts: "unknown" }],
    ["that prints something else", "echo hello", { bubblewrap: "unknown" }],
    [
      "that prints without end",
      "while :; do echo 9.9.9 9.9.9 9.9.9 9.9.9 9.9.9 9.9.9; done",
      { bubblewrap: "unknown" },
    ],
  ])("%s", (_what, script, wanted) => {
    expect(facts({}, script)).toMatchObject(wanted);
  });

  test("that may not be started is unknown", () => {
    mkdirSync(join(root, "bin"));
    mkdirSync(join(root, "bin", "bwrap"));
    expect(facts({})).toMatchObject({ sandboxStarts: "unknown" });
  });
});

test("namespaces that a container forbids are a setting of its engine, elsewhere one of the kernel", () => {
  const line = "bwrap: No permissions to creating new namespace, likely because the kernel does not allow it";
  const fix = (text: string, engine: "docker" | "podman" | null) => complaintProblem(text, engine)?.fix;
  expect(fix(line, "docker")).toMatch(/seccomp=unconfined .*apparmor=unconfined .*systempaths=unconfined$/);
  expect(fix(line, "podman")).toMatch(/seccomp=unconfined .*apparmor=unconfined .*unmask=ALL$/);
  expect(fix(line, null)).toContain("sysctl");
  const dropped = complaintProblem("bwrap: setting up uid map: Operation not permitted", "docker");
  expect(dropped).toMatchObject({ isRefusal: true, fix: expect.stringContaining("--cap-add SETFCAP") });
  // Podman's filter allows namespaces: it need not go.
  const proc = "bwrap: Can't mount proc on /proc: Operation not permitted";
  expect(fix(proc, "podman")).toBe(
    "start this container with --security-opt unmask=ALL --security-opt apparmor=unconfined",
  );
  expect(fix(proc, null)).toContain("systempaths=unconfined (Docker) or unmask=ALL (Podman)");
  expect(complaintProblem("", "docker")).toBeNull();
});

describe("the state folder", () => {
  const problem = (state: string | null) => machineFacts({ root, path: root, self: root, state }).stateProblem;

  test("can be made, cannot be written, or is not named", () => {
    expect(problem(join(root, "not", "yet"))).toBe(null);
    expect(problem(null)).toEqual({ kind: "unnamed" });
    // Root may write in every folder, so it is a file.
    writeFileSync(join(root, "file"), "", { mode: 0o600 });
    const folder = join(root, "file", "state");
    expect(problem(folder)).toEqual({ kind: "unwritable", folder });
  });
});

test("a container is known by the file of its engine", () => {
  expect(facts({}).isContainer).toBe(false);
  expect(facts({ ".dockerenv": "" }).isContainer).toBe(true);
  rmSync(join(root, ".dockerenv"));
  expect(facts({ "run/.containerenv": "" }).isContainer).toBe(true);
});

describe("the distribution", () => {
  test.each([
    ['NAME="X"\nID=debian\n', ["debian"]],
    ['ID="linuxmint"\nID_LIKE="ubuntu debian"\n', ["linuxmint", "ubuntu", "debian"]],
    ["VERSION_ID=12\n", "unknown"],
    ["ID=$(reboot)\n", "unknown"],
    ["", "unknown"],
  ])("%j", (text, wanted) => {
    expect(facts({ "etc/os-release": text }).distribution).toEqual(wanted);
  });

  test("is read from its other path, and unknown in bytes that are not text or a link cycle", () => {
    expect(facts({ "usr/lib/os-release": "ID=arch\n" }).distribution).toEqual(["arch"]);
    expect(facts({ "etc/os-release": Uint8Array.of(0xff, 0xfe) }).distribution).toEqual(["arch"]);
    rmSync(join(root, "etc/os-release"));
    rmSync(join(root, "usr"), { recursive: true });
    symlinkSync("os-release", join(root, "etc/os-release"));
    expect(facts({}).distribution).toBe("unknown");
  });
});

describe("the kernel's switches", () => {
  const clone = "proc/sys/kernel/unprivileged_userns_clone";
  const most = "proc/sys/user/max_user_namespaces";
  test.each([
    [{ [clone]: "1\n" }, true],
    [{ [clone]: "0\n" }, false],
    [{ [most]: "15000\n" }, true],
    [{ [clone]: "1\n", [most]: "0\n" }, false],
    [{ [clone]: "yes\n" }, "unknown"],
  ])("%j", (files, wanted) => {
    expect(facts(files).userNamespaces).toBe(wanted);
  });

  test("of AppArmor", () => {
    const file = "proc/sys/kernel/apparmor_restrict_unprivileged_userns";
    expect(facts({ [file]: "1\n" }).appArmorRestricts).toBe(true);
    expect(facts({ [file]: "0\n" }).appArmorRestricts).toBe(false);
  });
});

describe("Landlock", () => {
  test.each([
    ["lockdown,capability,landlock,yama", 4],
    ["lockdown,capability,yama", null],
    ["landlocked", null],
  ])("among %s", (modules, wanted) => {
    expect(facts({ "sys/kernel/security/lsm": modules }).landlock).toBe(wanted);
  });

  test.each([
    ["5.12.9", "unknown"],
    ["5.13.0", 1],
    ["6.1.0", 2],
    ["6.18.4", 7],
    ["7.0", 7],
    ["odd", "unknown"],
  ])("on kernel %s", (kernel, wanted) => {
    mkdirSync(join(root, "sys/kernel/security"), { recursive: true });
    writeFileSync(join(root, "sys/kernel/security/lsm"), "landlock");
    expect(machineFacts({ platform: "linux", kernel, root, path: root, millisecondsMax: 400 }).landlock).toBe(wanted);
  });
});

describe("our native program", { timeout: 60_000 }, () => {
  const says = (text: string | null): MachineFacts => {
    const native = join(root, "native");
    if (text !== null) writeFileSync(native, `#!/bin/sh\n${text}\n`);
    if (text !== null) chmodSync(native, 0o755);
    return machineFacts({ platform: "linux", root, path: root, self: root, millisecondsMax: 2_000, native });
  };

  test("decides about the kernel", () => {
    const flags = ["tproxy", "openTree", "mountSetattr", "seccomp", "overlay", "supervised", "userNamespaces"];
    const said = JSON.stringify({ landlockAbi: 7, ...Object.fromEntries(flags.map((name) => [name, true])) });
    expect(says(`echo '${said}'`)).toMatchObject({
      landlock: 7,
      native: {
        transparent: true,
        descriptorMounts: true,
        seccomp: true,
        overlay: true,
        supervised: true,
        userNamespaces: true,
      },
    });
    expect(says(`echo '{"landlockAbi":0}'`)).toMatchObject({
      landlock: null,
      native: {
        transparent: false,
        descriptorMounts: false,
        seccomp: false,
        overlay: false,
        supervised: false,
        userNamespaces: false,
      },
    });
  });

  test.each([null, "exit 1", "echo nonsense", "echo 7", "sleep 10"])("that prints %j counts as missing", (text) => {
    expect(says(text).native).toBeNull();
  });
});

test("this machine answers", () => {
  const { platform } = machineFacts();
  expect(platform).toBe(process.platform);
  expect(machineFacts({ platform: "darwin" }).bubblewrap).toBe("unknown");
});
