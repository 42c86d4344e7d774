// Probes this machine: programs, kernel switches, distribution. A failed probe is "unknown", and every probe has a
// timeout.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { release } from "node:os";
import { dirname, join } from "node:path";
import type { Fact, MachineFacts, NativeFacts, StateProblem } from "../../core/ports/machine.ts";
import { readTextFile } from "../../platform/files.ts";
import { ignoredHome } from "../../platform/path-settings.ts";
import { engineOf } from "./bubblewrap-error.ts";
import { kernelFacts, trySandbox } from "./detect-sandbox.ts";
import { groupFolders } from "./group-folders.ts";
import { unsuitableFileSystem } from "./overlay-refusals.ts";
import { PROGRAM_FOLDERS } from "./programs.ts";

/** Where to probe; the real machine unless a test overrides it. */
export interface MachineOptions {
  readonly platform: string;
  readonly kernel: string;
  /** Prefix of `/etc` and `/proc`. */
  readonly root: string;
  /** Folders that are searched for programs. */
  readonly path: string;
  readonly millisecondsMax: number;
  /** Path of our native program; null where it is unknown. */
  readonly native: string | null;
  /** The state folder, existing or not; null where nothing names one, undefined to skip its probe. */
  readonly state: string | null | undefined;
  /** The kernel's view of this process. */
  readonly self: string;
}

const fileCharactersMax = 65_536;

export function machineFacts(asked: Partial<MachineOptions> = {}): MachineFacts {
  const question: MachineOptions = {
    platform: process.platform,
    kernel: release(),
    root: "/",
    // As the sandbox finds them.
    path: PROGRAM_FOLDERS.join(":"),
    millisecondsMax: 3_000,
    native: null,
    self: "/proc/self",
    state: undefined,
    ...asked,
  };
  const { platform } = question;
  if (platform !== "linux") {
    return {
      platform,
      distribution: "unknown",
      bubblewrap: "unknown",
      ...NOT_TRIED,
      userNamespaces: "unknown",
      appArmorRestricts: "unknown",
      landlock: "unknown",
      native: "unknown",
      draftsRefusedBy: "unknown",
      controlGroups: "unknown",
      ignoredHome: ignoredHome(),
      stateProblem: stateProblem(question.state),
      isContainer: false,
      isRoot: process.getuid?.() === 0,
    };
  }
  const said = question.native === null ? "unknown" : kernelFacts(question.native, question.millisecondsMax);
  const bubblewrap = bubblewrapVersion(question);
  return {
    platform,
    distribution: distribution(question),
    bubblewrap,
    ...(typeof bubblewrap === "string" && bubblewrap !== "unknown" ? sandboxStarts(question) : NOT_TRIED),
    userNamespaces: userNamespaces(question),
    appArmorRestricts: flag(question, "proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
    landlock: said === "unknown" || said === null ? landlock(question) : landlockVersion(said),
    native: said === "unknown" || said === null ? said : nativeFacts(said),
    draftsRefusedBy:
      question.state === null || question.state === undefined ? "unknown" : draftFileSystem(question.state),
    controlGroups: groupFolders(question.self).flatMap(({ holds }) => holds),
    ignoredHome: ignoredHome(),
    stateProblem: stateProblem(question.state),
    isContainer: engineOf(question.root) !== null,
    isRoot: process.getuid?.() === 0,
  };
}

function draftFileSystem(state: string): Fact<string | null> {
  const folder = nearestExisting(state);
  return folder === null ? "unknown" : unsuitableFileSystem(folder);
}

function stateProblem(state: string | null | undefined): StateProblem | null {
  if (state === undefined) return null;
  if (state === null) return { kind: "unnamed" };
  try {
    accessSync(nearestExisting(state) ?? state, constants.W_OK | constants.X_OK);
    return null;
  } catch {
    return { kind: "unwritable", folder: state };
  }
}

/** The folder, or its nearest parent that exists. */
function nearestExisting(path: string): string | null {
  for (let folder = path; ; folder = dirname(folder)) {
    if (existsSync(folder)) return folder;
    if (folder === dirname(folder)) return null;
  }
}

function distribution(question: MachineOptions): Fact<readonly string[]> {
  const text = read(question, "etc/os-release") ?? read(question, "usr/lib/os-release");
  if (text === null) return "unknown";
  const value = (key: string): string =>
    new RegExp(`^${key}=["']?([\\w .-]*)["']?$`, "m").exec(text)?.[1]?.toLowerCase() ?? "";
  const ids = `${value("ID")} ${value("ID_LIKE")}`.split(" ").filter((id) => id !== "");
  return ids.length === 0 ? "unknown" : [...new Set(ids)];
}

function bubblewrapVersion(question: MachineOptions): Fact<string | null> {
  const { status, stdout, error } = run(question, ["--version"]);
  if (error !== undefined && "code" in error && error.code === "ENOENT") return null;
  if (error !== undefined || status !== 0) return "unknown";
  return /\b\d+(\.\d+)+\b/.exec(stdout.slice(0, 200))?.[0] ?? "unknown";
}

type SandboxStart = Pick<MachineFacts, "sandboxStarts" | "sandboxProblem">;

const NOT_TRIED: SandboxStart = { sandboxStarts: "unknown", sandboxProblem: null };

/** The only reliable probe is to do it: starts an empty sandbox that exits at once. */
function sandboxStarts(question: MachineOptions): SandboxStart {
  const trial = trySandbox((argv) => {
    const { status, error, stderr } = run(question, argv);
    return { status: error === undefined ? status : null, stderr };
  });
  if (trial.kind === "unknown") return NOT_TRIED;
  return trial.kind === "starts"
    ? { sandboxStarts: true, sandboxProblem: null }
    : { sandboxStarts: false, sandboxProblem: trial.problem };
}

interface Answer {
  readonly status: number | null;
  readonly error: Error | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function run({ path, millisecondsMax }: MachineOptions, argv: readonly string[]): Answer {
  const { status, error, stdout, stderr } = spawnSync("bwrap", [...argv], {
    env: { PATH: path, LC_ALL: "C" },
    cwd: "/",
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
    timeout: millisecondsMax,
    killSignal: "SIGKILL",
    maxBuffer: fileCharactersMax,
  });
  // Both are undefined where nothing was started, although the types say otherwise.
  return { status, error, stdout: (stdout as string | null) ?? "", stderr: (stderr as string | null) ?? "" };
}

/** Debian's own switch, and the limit every kernel has. */
function userNamespaces(question: MachineOptions): Fact<boolean> {
  const switches = [
    flag(question, "proc/sys/kernel/unprivileged_userns_clone"),
    flag(question, "proc/sys/user/max_user_namespaces"),
  ];
  if (switches.includes(false)) return false;
  return switches.includes(true) ? true : "unknown";
}

/** A kernel switch; anything but zero is on. */
function flag(question: MachineOptions, file: string): Fact<boolean> {
  const text = read(question, file)?.trim();
  return text === undefined || !/^\d+$/.test(text) ? "unknown" : Number(text) > 0;
}

function landlockVersion({ landlockAbi }: Readonly<Record<string, unknown>>): Fact<number | null> {
  return typeof landlockAbi !== "number" ? "unknown" : landlockAbi === 0 ? null : landlockAbi;
}

function nativeFacts(said: Readonly<Record<string, unknown>>): NativeFacts {
  const { tproxy, openTree, mountSetattr, seccomp, overlay, supervised, userNamespaces } = said;
  return {
    transparent: tproxy === true,
    descriptorMounts: openTree === true && mountSetattr === true,
    seccomp: seccomp === true,
    overlay: overlay === true,
    supervised: supervised === true,
    userNamespaces: userNamespaces === true,
  };
}

/** The first kernel release of each Landlock version. Only the system call itself would be certain. */
const LANDLOCK: readonly (readonly [major: number, minor: number, version: number])[] = [
  [6, 15, 7],
  [6, 12, 6],
  [6, 10, 5],
  [6, 7, 4],
  [6, 2, 3],
  [5, 19, 2],
  [5, 13, 1],
];

function landlock(question: MachineOptions): Fact<number | null> {
  const modules = read(question, "sys/kernel/security/lsm");
  if (modules === null) return "unknown";
  if (!modules.trim().split(",").includes("landlock")) return null;
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(question.kernel) ?? [];
  const found = LANDLOCK.find(
    ([one, other]) => Number(major) > one || (Number(major) === one && Number(minor) >= other),
  );
  return found?.[2] ?? "unknown";
}

function read({ root }: MachineOptions, file: string): string | null {
  const content = readTextFile(join(root, file), fileCharactersMax);
  return content.ok ? content.text : null;
}
