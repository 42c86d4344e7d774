// Can this machine hold a process at all? The sandbox backend, what stands in its way, and the command that mends it.
import type { MachineFacts, StateProblem } from "../core/ports/machine.ts";
import { type Finding, NO_AGENT, newFinding } from "./finding.ts";

export interface MachineReport {
  readonly findings: readonly Finding[];
  /** What was looked at and is well, in words. */
  readonly passed: readonly string[];
}

/** `needed`: some agent may run processes, so without a backend something does not work. */
export function examineMachine(facts: MachineFacts, needed: boolean): MachineReport {
  const findings: Finding[] = [];
  const passed: string[] = [];
  const severity = needed ? "error" : "warning";
  if (facts.platform === "darwin") passed.push("sandbox: seatbelt comes with the system");
  else if (facts.platform !== "linux") findings.push(noBackend(facts.platform, severity));
  else if (isSupervised(facts)) supervised(facts, findings, passed);
  else if (facts.bubblewrap === null) {
    findings.push(
      newFinding("sandbox_missing", NO_AGENT, {
        severity,
        message: "bubblewrap is not installed",
        meaning: "Processes of agents are refused: nothing runs outside a sandbox.",
        fix: installCommand(facts.distribution),
      }),
    );
  } else if (facts.sandboxStarts === false || facts.userNamespaces === false) {
    if (facts.sandboxStarts === true) passed.push(backend(facts));
    else findings.push({ ...blocked(facts), severity });
  } else if (facts.bubblewrap === "unknown") {
    findings.push(
      newFinding("not_checked", NO_AGENT, {
        severity: "info",
        message: "could not check whether bubblewrap works",
        fix: "bwrap --version",
      }),
    );
  } else passed.push(backend(facts));
  if (facts.platform === "linux") {
    landlock(facts, findings, passed);
    if (!isSupervised(facts)) {
      native(facts, severity, findings, passed);
      drafts(facts, severity, findings, passed);
    }
    limits(facts, findings, passed);
  }
  if (facts.stateProblem !== null) findings.push(noState(facts.stateProblem, facts.isContainer));
  else if (facts.ignoredHome !== null) findings.push(homeIgnored(facts.ignoredHome));
  return { findings, passed };
}

/** As programs are started: without namespaces only where they are refused, never for want of bubblewrap alone. */
function isSupervised(facts: MachineFacts): boolean {
  const { platform, bubblewrap, sandboxStarts, sandboxProblem, native, requiresNamespaces } = facts;
  if (platform !== "linux" || native === "unknown" || native === null || requiresNamespaces === true) return false;
  const isRefused =
    bubblewrap === null ? !native.userNamespaces : sandboxStarts === false && sandboxProblem?.isRefusal === true;
  return isRefused && native.supervised;
}

function supervised(facts: MachineFacts, findings: Finding[], passed: string[]): void {
  const { message, fix } =
    facts.bubblewrap === null
      ? { message: "bubblewrap is not installed, and namespaces are refused", fix: null }
      : blocked(facts);
  findings.push(
    newFinding("sandbox_weaker", NO_AGENT, {
      severity: "warning",
      message: `programs run in sandboxes without namespaces: ${message}`,
      meaning:
        "Landlock, a system call filter and a supervisor confine them. Programs work in a copy of the project, see names, sizes and link targets of other files, and cannot listen on a port, watch files or use `/tmp`.",
      fix:
        fix ?? "allow namespaces, as docs/guides/containers.md says, or `namespaces: required` in your own config.yml",
    }),
  );
  passed.push(
    "sandbox: without namespaces (Landlock, filtered system calls, a supervisor)",
    "network: every connection and every name lookup goes through the broker",
    "drafts: changes of programs stay in a copy of the folder until they land",
  );
}

function noState(problem: StateProblem, isContainer: boolean): Finding {
  const place = problem.kind === "unnamed" ? "/home/user --env HOME=/home/user" : problem.folder.slice(0, 200);
  const message =
    problem.kind === "unnamed"
      ? "no state folder: neither a home folder nor an absolute XDG_STATE_HOME is set"
      : `the state folder ${JSON.stringify(problem.folder.slice(0, 200))} cannot be written`;
  return newFinding("state_missing", NO_AGENT, {
    severity: "error",
    message,
    meaning:
      "Every call is denied, because nothing can be recorded. A user id without an entry in the password database uses $HOME if that folder belongs to it and is not `/`.",
    fix: isContainer
      ? `start this container with --volume /a/folder/of/this/user:${place}`
      : "export XDG_STATE_HOME=/an/absolute/folder",
  });
}

function homeIgnored(home: string): Finding {
  return newFinding("home_ignored", NO_AGENT, {
    severity: "info",
    message: `$HOME is ${JSON.stringify(home.slice(0, 200))}, which is not your home folder in the password database`,
    meaning:
      "State, configuration and `~` are those of the password database, so that a process cannot get new budgets by changing $HOME.",
    fix: "set XDG_STATE_HOME and XDG_CONFIG_HOME to use other folders",
  });
}

function noBackend(platform: string, severity: "error" | "warning"): Finding {
  return newFinding("sandbox_missing", NO_AGENT, {
    severity,
    message: `there is no sandbox for ${platform.slice(0, 40)}`,
    meaning: "Processes of agents are refused: nothing runs outside a sandbox.",
    fix: "run it on Linux or macOS, or in a Linux virtual machine",
  });
}

function backend({ bubblewrap }: MachineFacts): string {
  return `sandbox: bubblewrap ${bubblewrap}`;
}

const SHOWS_WHY = "bwrap --unshare-all --ro-bind / / --proc /proc true";

function blocked({ userNamespaces, appArmorRestricts, sandboxProblem }: MachineFacts): Finding {
  const message = "bubblewrap is installed, but cannot start a sandbox";
  const meaning = "Processes of agents are refused: nothing runs outside a sandbox.";
  if (userNamespaces === false) {
    const fix = "sudo sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000";
    return newFinding("sandbox_blocked", NO_AGENT, {
      message: `${message}: user namespaces are disabled`,
      meaning,
      fix,
    });
  }
  if (appArmorRestricts === true) {
    return newFinding("sandbox_blocked", NO_AGENT, {
      message: `${message}: AppArmor allows user namespaces only to programs with a profile`,
      meaning,
      fix: [
        "sudo apt-get install apparmor-profiles",
        "sudo cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/",
        "sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict",
      ].join("\n"),
    });
  }
  return newFinding("sandbox_blocked", NO_AGENT, {
    message: sandboxProblem === null ? message : `${message}: ${sandboxProblem.message}`,
    meaning,
    fix: sandboxProblem?.fix ?? `${SHOWS_WHY}   # shows why; containers often forbid namespaces`,
  });
}

/** Version 1 forbids every rename between folders, which is what a landing is. */
const landlockVersionMin = 2;

function landlock({ landlock: version }: MachineFacts, findings: Finding[], passed: string[]): void {
  if (version === "unknown") return;
  if (version !== null && version >= landlockVersionMin) {
    passed.push(`Landlock version ${version}`);
    return;
  }
  findings.push(
    newFinding("landlock_missing", NO_AGENT, {
      severity: "warning",
      message:
        version === null ? "this kernel has no Landlock" : `this kernel has Landlock ${version}, which is too old`,
      meaning:
        "Programs that write are refused, because the process that applies their changes to the project cannot be confined; everything else is enforced by namespaces alone.",
      fix: "a kernel of 5.19 or later with Landlock among its security modules, or `bare: true` in your own config.yml",
    }),
  );
}

function native({ native }: MachineFacts, severity: Finding["severity"], findings: Finding[], passed: string[]): void {
  if (native === "unknown") return;
  if (native === null) {
    findings.push(
      newFinding("program_missing", NO_AGENT, {
        severity,
        message: "ambit's native program is not built, or does not run here",
        meaning: "Processes of agents and their file tools are refused.",
        fix: "install the package again, or in its folder: node scripts/native.mjs program   # needs a C compiler",
      }),
    );
    return;
  }
  if (!native.descriptorMounts || !native.seccomp) {
    findings.push(
      newFinding("kernel_too_old", NO_AGENT, {
        severity,
        message: "this kernel lacks features that a sandbox needs",
        meaning: "Processes of agents are refused.",
        fix: "a kernel of 5.12 or later, with seccomp",
      }),
    );
    return;
  }
  passed.push("system calls: filtered");
  if (native.transparent) passed.push("network: the broker sees names, addresses and every port");
  else {
    findings.push(
      newFinding("network_narrower", NO_AGENT, {
        severity: "info",
        message: "the network broker sees listed ports only",
        meaning: "Nothing more is reachable; denials of raw addresses and other ports are not reported.",
        fix: "sudo modprobe nft_tproxy",
      }),
    );
  }
}

function drafts(
  { native: program, draftsRefusedBy }: MachineFacts,
  severity: Finding["severity"],
  findings: Finding[],
  passed: string[],
): void {
  if (program === "unknown" || program === null || draftsRefusedBy === "unknown") return;
  const meaning = "Programs that may write a folder are refused; those that only read run.";
  if (!program.overlay)
    findings.push(
      newFinding("drafts_unavailable", NO_AGENT, {
        severity,
        message: "this kernel does not allow overlays in a user namespace",
        meaning,
        fix: "sudo modprobe overlay   # or a kernel of 5.12 or later",
      }),
    );
  else if (draftsRefusedBy !== null)
    findings.push(
      newFinding("drafts_unavailable", NO_AGENT, {
        severity,
        message: `the state folder is on ${draftsRefusedBy}, which cannot hold drafts`,
        meaning,
        fix: "set XDG_STATE_HOME to a folder on a local disk (ext4, xfs, btrfs)",
      }),
    );
  else passed.push("drafts: kernel overlays; changes of programs stay outside the real folder until they land");
}

function limits({ controlGroups, isRoot, isContainer }: MachineFacts, findings: Finding[], passed: string[]): void {
  if (controlGroups === "unknown") return;
  const missing = (["memory", "processes"] as const).filter((one) => !controlGroups.includes(one));
  if (controlGroups.length > 0) passed.push(`limits of the whole process tree: ${controlGroups.join(", ")}`);
  if (missing.length === 0) return;
  const root =
    isRoot && missing.includes("processes") ? " For root the number of processes is not limited at all." : "";
  findings.push(
    newFinding("limits_weaker", NO_AGENT, {
      severity: "info",
      message: `no delegated control groups for ${missing.join(" and ")}`,
      meaning: `These limits apply to each process, not to the whole process tree.${root}`,
      fix: isContainer
        ? "start this container with --pids-limit 512 --memory 4g, which limit all of it"
        : "systemd-run --user --scope -p Delegate=yes ambit ...",
    }),
  );
}

/** By the family of the distribution, the nearest first. */
const INSTALL: ReadonlyMap<string, string> = new Map([
  ["debian", "sudo apt-get install bubblewrap"],
  ["ubuntu", "sudo apt-get install bubblewrap"],
  ["fedora", "sudo dnf install bubblewrap"],
  ["rhel", "sudo dnf install bubblewrap"],
  ["centos", "sudo dnf install bubblewrap"],
  ["arch", "sudo pacman -S bubblewrap"],
  ["alpine", "sudo apk add bubblewrap"],
  ["opensuse", "sudo zypper install bubblewrap"],
  ["suse", "sudo zypper install bubblewrap"],
]);

export function installCommand(distribution: MachineFacts["distribution"]): string {
  const ids = distribution === "unknown" ? [] : distribution;
  const family = ids.map((id) => (id.startsWith("opensuse") ? "opensuse" : id)).find((id) => INSTALL.has(id));
  return INSTALL.get(family ?? "") ?? "install the package bubblewrap with your system's package manager";
}
