// Findings about machines: which of them can confine a process, and the command that fixes those that cannot.
import { describe, expect, test } from "vitest";
import { agentOf, probeOf } from "../../test/doctor/probe.ts";
import type { MachineFacts, NativeFacts } from "../core/ports/machine.ts";
import { examineMachine } from "./backend.ts";
import { examine } from "./examine.ts";

const WELL: MachineFacts = {
  platform: "linux",
  distribution: ["debian"],
  bubblewrap: "0.8.0",
  sandboxStarts: true,
  sandboxProblem: null,
  userNamespaces: true,
  appArmorRestricts: false,
  landlock: 4,
  native: {
    transparent: true,
    descriptorMounts: true,
    seccomp: true,
    overlay: true,
    supervised: true,
    userNamespaces: true,
  },
  draftsRefusedBy: null,
  controlGroups: ["memory", "processes"],
  ignoredHome: null,
  stateProblem: null,
  isContainer: false,
  isRoot: false,
};

const NATIVE: NativeFacts = {
  ...{ transparent: true, descriptorMounts: true, seccomp: true, overlay: true, userNamespaces: true },
  supervised: false,
};

const told = (facts: Partial<MachineFacts>, needed = true) =>
  examineMachine({ ...WELL, ...facts }, needed).findings.map(({ code, severity, fix }) => ({ code, severity, fix }));

describe("a machine", () => {
  test("with everything passes", () => {
    expect(examineMachine(WELL, true)).toEqual({
      findings: [],
      passed: [
        "sandbox: bubblewrap 0.8.0",
        "Landlock version 4",
        "system calls: filtered",
        "network: the broker sees names, addresses and every port",
        "drafts: kernel overlays; changes of programs stay outside the real folder until they land",
        "limits of the whole process tree: memory, processes",
      ],
    });
    expect(examineMachine({ ...WELL, platform: "darwin" }, true).findings).toEqual([]);
  });

  test.each([
    [["debian"], "sudo apt-get install bubblewrap"],
    [["linuxmint", "ubuntu", "debian"], "sudo apt-get install bubblewrap"],
    [["rocky", "rhel", "centos", "fedora"], "sudo dnf install bubblewrap"],
    [["manjaro", "arch"], "sudo pacman -S bubblewrap"],
    [["alpine"], "sudo apk add bubblewrap"],
    [["opensuse-leap", "suse"], "sudo zypper install bubblewrap"],
    [["nixos"], "install the package bubblewrap with your system's package manager"],
  ])("of %j without bubblewrap gets the install command", (distribution, fix) => {
    expect(told({ distribution, bubblewrap: null })).toEqual([{ code: "sandbox_missing", severity: "error", fix }]);
  });

  test("without bubblewrap is only warned about while no agent runs anything", () => {
    expect(told({ bubblewrap: null, distribution: "unknown" }, false)).toMatchObject([{ severity: "warning" }]);
    const machine = { ...WELL, bubblewrap: null };
    const severity = (text: string) =>
      examine(probeOf([agentOf(text)], { machine })).find(({ about }) => about === "machine")?.findings[0]?.severity;
    expect(severity("capabilities:\n  - proc.exec{in=/x,cmds=[ls]}")).toBe("error");
    expect(severity("capabilities:\n  - fs.read{in=/x}")).toBe("warning");
  });

  test("whose $HOME has no effect is told so", () => {
    expect(told({ ignoredHome: "/srv/odd" })).toMatchObject([{ code: "home_ignored", severity: "info" }]);
  });

  test("without a state folder is told before anything is denied, in words of a container where it is one", () => {
    const unnamed = { kind: "unnamed" } as const;
    expect(told({ stateProblem: unnamed, ignoredHome: "/" })).toEqual([
      { code: "state_missing", severity: "error", fix: "export XDG_STATE_HOME=/an/absolute/folder" },
    ]);
    expect(told({ stateProblem: unnamed, isContainer: true })[0]?.fix).toContain("--env HOME=/home/user");
    const unwritable = examineMachine({ ...WELL, stateProblem: { kind: "unwritable", folder: "/s" } }, true);
    expect(unwritable.findings[0]?.message).toBe('the state folder "/s" cannot be written');
    const folder = "/work/.local/state/ambit";
    expect(told({ stateProblem: { kind: "unwritable", folder }, isContainer: true })[0]?.fix).toBe(
      `start this container with --volume /a/folder/of/this/user:${folder}`,
    );
  });

  test("without control groups gets the engine's options in a container, and systemd's elsewhere", () => {
    expect(told({ controlGroups: [], isContainer: true })[0]?.fix).toContain("--pids-limit");
    expect(told({ controlGroups: [] })[0]?.fix).toContain("systemd-run");
  });

  test("whose sandbox does not start gets the fix of what bubblewrap printed", () => {
    const sandboxProblem = {
      message: "this container forbids a /proc of its own",
      fix: "start it with an option",
      isRefusal: true,
    };
    expect(told({ sandboxStarts: false, sandboxProblem })[0]).toMatchObject({ fix: "start it with an option" });
  });

  test("whose AppArmor restricts namespaces gets its hint, unless a sandbox still starts", () => {
    expect(told({ sandboxStarts: false, appArmorRestricts: true })[0]?.fix).toContain("apparmor_parser");
    expect(told({ sandboxStarts: true, appArmorRestricts: true })).toEqual([]);
  });

  test("without user namespaces gets the setting to change, unless a sandbox still starts", () => {
    expect(told({ sandboxStarts: false, userNamespaces: false })[0]?.fix).toContain("unprivileged_userns_clone");
    expect(told({ sandboxStarts: "unknown", userNamespaces: false })).toMatchObject([{ code: "sandbox_blocked" }]);
    expect(told({ sandboxStarts: true, userNamespaces: false })).toEqual([]);
    expect(told({ sandboxStarts: false, native: NATIVE })).toMatchObject([{ code: "sandbox_blocked" }]);
  });

  test("that refuses namespaces and holds signals gets a weaker sandbox, and is told why", () => {
    const problem = { message: "user namespaces are refused", fix: "allow them", isRefusal: true };
    const report = examineMachine({ ...WELL, sandboxStarts: false, sandboxProblem: problem }, true);
    expect(report.findings).toMatchObject([{ code: "sandbox_weaker", severity: "warning", fix: "allow them" }]);
    expect(report.findings[0]?.message).toContain("user namespaces are refused");
    expect(report.passed[0]).toBe("sandbox: without namespaces (Landlock, filtered system calls, a supervisor)");
  });

  test("gets no weaker sandbox for want of bubblewrap, on a busy moment, or against the user's word", () => {
    const refusing: NativeFacts = { ...NATIVE, supervised: true, userNamespaces: false };
    expect(told({ bubblewrap: null })).toMatchObject([{ code: "sandbox_missing" }]);
    expect(told({ bubblewrap: null, native: refusing })).toMatchObject([{ code: "sandbox_weaker" }]);
    expect(told({ sandboxStarts: "unknown" })).toEqual([]);
    // As programs are started: a failure that is no refusal is not answered with weaker sandboxes.
    const old = { message: "this bubblewrap is too old", fix: "install a newer one", isRefusal: false };
    expect(told({ sandboxStarts: false, sandboxProblem: old })).toMatchObject([{ code: "sandbox_blocked" }]);
    expect(told({ sandboxStarts: false, requiresNamespaces: true })).toMatchObject([{ code: "sandbox_blocked" }]);
  });

  test("that does not answer is neither good nor bad", () => {
    expect(told({ bubblewrap: "unknown", sandboxStarts: "unknown" })).toMatchObject([
      { code: "not_checked", severity: "info" },
    ]);
    expect(told({ landlock: "unknown" })).toEqual([]);
    expect(told({ landlock: null })).toMatchObject([{ code: "landlock_missing", severity: "warning" }]);
    expect(told({ landlock: 1 })).toMatchObject([{ code: "landlock_missing", severity: "warning" }]);
    expect(told({ landlock: 2 })).toEqual([]);
  });

  test("without our native program, or on a kernel that is too old for it, gets a finding", () => {
    const bare = {
      transparent: true,
      descriptorMounts: true,
      seccomp: true,
      overlay: false,
      supervised: false,
      userNamespaces: false,
    };
    expect(told({ native: bare })).toMatchObject([{ code: "drafts_unavailable", severity: "error" }]);
    expect(told({ native: bare }, false)).toMatchObject([{ code: "drafts_unavailable", severity: "warning" }]);
    expect(told({ draftsRefusedBy: "NFS" })).toMatchObject([{ code: "drafts_unavailable", severity: "error" }]);
    expect(told({ draftsRefusedBy: "unknown" })).toEqual([]);
    expect(told({ native: null })).toMatchObject([{ code: "program_missing", severity: "error" }]);
    expect(told({ native: null }, false)).toMatchObject([{ code: "program_missing", severity: "warning" }]);
    expect(told({ native: "unknown" })).toEqual([]);
    const old = {
      transparent: true,
      descriptorMounts: false,
      seccomp: true,
      overlay: true,
      supervised: true,
      userNamespaces: true,
    };
    expect(told({ native: old })).toMatchObject([{ code: "kernel_too_old", severity: "error" }]);
  });

  test("that enforces less than it could gets the reason, and the fix", () => {
    const native = {
      transparent: false,
      descriptorMounts: true,
      seccomp: true,
      overlay: true,
      supervised: true,
      userNamespaces: true,
    };
    expect(told({ native })).toMatchObject([
      { code: "network_narrower", severity: "info", fix: expect.stringMatching(/nft_tproxy/) },
    ]);
    expect(told({ controlGroups: [] })).toMatchObject([{ code: "limits_weaker", severity: "info" }]);
    expect(told({ controlGroups: "unknown" })).toEqual([]);
    const { findings } = examineMachine({ ...WELL, controlGroups: ["memory"], isRoot: true }, true);
    expect(findings[0]).toMatchObject({
      message: expect.stringMatching(/for processes/),
      meaning: expect.stringMatching(/For root/),
    });
  });

  test("of another kind has no sandbox", () => {
    expect(told({ platform: "win32" })).toMatchObject([{ code: "sandbox_missing", severity: "error" }]);
  });
});
