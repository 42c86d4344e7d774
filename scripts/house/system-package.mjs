// A system program that we use on Linux: installed if we may, suggested if we may not, never required.
import { accessSync, constants, statSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { run } from "./child.mjs";
import { stampAt } from "./digest.mjs";
import { root, say } from "./root.mjs";

const triedMillisecondsMax = 24 * 60 * 60_000;
const installMillisecondsMax = 5 * 60_000;

/** All of these systems use the same names for our packages. */
const packageManagers = [
  {
    program: "apt-get",
    install: ["apt-get", "-o", "DPkg::Lock::Timeout=60", "install", "-y", "--no-install-recommends"],
    refresh: ["apt-get", "-o", "DPkg::Lock::Timeout=60", "update"],
  },
  { program: "dnf", install: ["dnf", "install", "-y"], refresh: ["dnf", "makecache"] },
  {
    program: "pacman",
    install: ["pacman", "-S", "--noconfirm", "--needed"],
    refresh: ["pacman", "-Sy", "--noconfirm"],
  },
  { program: "apk", install: ["apk", "add"], refresh: ["apk", "update"] },
  {
    program: "zypper",
    install: ["zypper", "--non-interactive", "install"],
    refresh: ["zypper", "--non-interactive", "refresh"],
  },
];

/** Confines our sandboxes: without it ambit still runs, and reports what is not enforced. */
export const bubblewrap = { package: "bubblewrap", program: "bwrap", gives: "sandboxes" };
/** Makes system calls fail, and records what reached the disk, for test/crash. */
export const strace = { package: "strace", program: "strace", gives: "the tests of crashes" };

/** A terminal whose screen can be read, for the tests of programs on a terminal. */
export const tmux = { package: "tmux", program: "tmux", gives: "the tests of terminals" };

/**
 * A desktop keychain, its program, and age, for test/secrets. Only if `CI` says that the machine is for that: installing a
 * keyring changes where the user's passwords are stored. Named as Debian names them.
 */
export const keychain = [
  { package: "dbus", program: "dbus-daemon", gives: "the tests of a keychain", only: "apt-get" },
  { package: "gnome-keyring", program: "gnome-keyring-daemon", gives: "the tests of a keychain", only: "apt-get" },
  { package: "libsecret-tools", program: "secret-tool", gives: "the tests of a keychain", only: "apt-get" },
  { package: "age", program: "age", gives: "the tests of age keys", only: "apt-get" },
];

/**
 * Shells and editors whose startup files are planted for them in test/triggers; only if `CI` is set. Named as Debian names them.
 */
export const triggerPrograms = [
  ["zsh", "zsh"],
  ["fish", "fish"],
  ["neovim", "nvim"],
  ["emacs-nox", "emacs"],
  ["direnv", "direnv"],
  ["vim", "vim"],
].map(([name, program]) => ({ package: name, program, gives: "the tests of start-up files", only: "apt-get" }));

/** Whether there is something to do or to print: Linux, no such program, and not tried in the same way within a day. */
export function isMissing(wanted) {
  if (process.platform !== "linux" || onPath(wanted.program)) return false;
  if (wanted.only !== undefined && !onPath(wanted.only)) return false;
  const tried = triedFile(wanted);
  return !(stampAt(tried) === means() && Date.now() - statSync(tried).mtimeMs < triedMillisecondsMax);
}

/** Never fails. */
export async function install(wanted) {
  await tryInstall(wanted);
  if (onPath(wanted.program)) return;
  try {
    writeFileSync(triedFile(wanted), `${means()}\n`);
  } catch {
    // A read-only checkout: then it is printed again next time.
  }
}

/** What was tried last, so that a machine that cannot install it is not asked at every run. */
function triedFile(wanted) {
  return join(root, "node_modules", `.ambit-${wanted.package}`);
}

async function tryInstall({ package: name, gives }) {
  const manager = packageManagers.find((each) => onPath(each.program));
  if (manager === undefined) {
    say(`${name} is not installed; install it with your system's package manager to have ${gives}`);
    return;
  }
  const prefix = await rights();
  if (prefix === undefined) {
    const sudo = isRoot() ? [] : ["sudo"];
    say(`${name} is not installed; to have ${gives}, run: ${[...sudo, ...manager.install, name].join(" ")}`);
    return;
  }
  const argv = [...prefix, ...manager.install, name];
  if (await told(argv)) return;
  await told([...prefix, ...manager.refresh]);
  if (await told(argv)) return;
  say(`${name} could not be installed; going on without ${gives}. To try again, run: ${argv.join(" ")}`);
}

/** The command that allows installing: nothing for root, sudo if it needs no password. */
async function rights() {
  if (process.env.AMBIT_NO_SYSTEM_PACKAGES) return undefined;
  if (isRoot()) return [];
  if (!onPath("sudo")) return undefined;
  const asks = await run(["sudo", "-n", "true"], { millisecondsMax: 10_000 });
  return asks.ok ? ["sudo", "-n"] : undefined;
}

async function told(argv) {
  say(`running: ${argv.join(" ")}`);
  const ended = await run(argv, {
    env: { DEBIAN_FRONTEND: "noninteractive" },
    millisecondsMax: installMillisecondsMax,
  });
  if (!ended.ok) say(`that failed: ${ended.output.trim().split("\n").slice(-3).join(" | ")}`);
  return ended.ok;
}

function means() {
  return `${process.getuid?.()} ${process.env.AMBIT_NO_SYSTEM_PACKAGES ? "told not to" : "tried"}`;
}

function isRoot() {
  return process.getuid?.() === 0;
}

function onPath(program) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      const path = join(folder || ".", program);
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });
}
