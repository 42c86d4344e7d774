// bubblewrap, which holds our sandboxes on Linux: installed where we may, asked for where we may not, never demanded.
import { accessSync, constants, statSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { run } from "./child.mjs";
import { stampAt } from "./digest.mjs";
import { root, say } from "./root.mjs";

/** What was tried last, so that a machine that cannot have it is not asked at every run. */
const tried = join(root, "node_modules", ".ambit-bubblewrap");
const triedMillisecondsMax = 24 * 60 * 60_000;
const installMillisecondsMax = 5 * 60_000;

const packageManagers = [
  {
    program: "apt-get",
    install: ["apt-get", "-o", "DPkg::Lock::Timeout=60", "install", "-y", "--no-install-recommends", "bubblewrap"],
    refresh: ["apt-get", "-o", "DPkg::Lock::Timeout=60", "update"],
  },
  { program: "dnf", install: ["dnf", "install", "-y", "bubblewrap"], refresh: ["dnf", "makecache"] },
  {
    program: "pacman",
    install: ["pacman", "-S", "--noconfirm", "--needed", "bubblewrap"],
    refresh: ["pacman", "-Sy", "--noconfirm"],
  },
  { program: "apk", install: ["apk", "add", "bubblewrap"], refresh: ["apk", "update"] },
  {
    program: "zypper",
    install: ["zypper", "--non-interactive", "install", "bubblewrap"],
    refresh: ["zypper", "--non-interactive", "refresh"],
  },
];

/** Whether there is something to do or to say: Linux, no bwrap, and not tried in the same way within a day. */
export function bubblewrapMissing() {
  if (process.platform !== "linux" || onPath("bwrap")) return false;
  return !(stampAt(tried) === means() && Date.now() - statSync(tried).mtimeMs < triedMillisecondsMax);
}

/** Ends well whatever happens: without bubblewrap ambit still runs, and reports what nothing holds. */
export async function installBubblewrap() {
  await tryInstall();
  if (onPath("bwrap")) return;
  try {
    writeFileSync(tried, `${means()}\n`);
  } catch {
    // A checkout we may not write to: then it is said again next time.
  }
}

async function tryInstall() {
  const manager = packageManagers.find((each) => onPath(each.program));
  if (manager === undefined) {
    say("bubblewrap (bwrap) is not installed; install it with your system's package manager to have sandboxes");
    return;
  }
  const prefix = await rights();
  if (prefix === undefined) {
    const sudo = isRoot() ? [] : ["sudo"];
    say(`bubblewrap is not installed; to have sandboxes, run: ${[...sudo, ...manager.install].join(" ")}`);
    return;
  }
  const install = [...prefix, ...manager.install];
  if (await told(install)) return;
  await told([...prefix, ...manager.refresh]);
  const last = await told(install);
  if (!last)
    say(`bubblewrap could not be installed; going on without sandboxes. To try again, run: ${install.join(" ")}`);
}

/** What goes before a command so that it may install: nothing for root, sudo where it asks no password. */
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
