// Facts about this machine that the plan's printers need, read once: program folders, names in /etc, the current user.
import { lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { arch, userInfo } from "node:os";
import type { PlanPath } from "../plan/plan.ts";
import { type SystemFacts, TOP_NAMES, type TopFolder, type UserFacts } from "../plan/start/system.ts";

const ARCHITECTURES: Readonly<Record<string, SystemFacts["architecture"]>> = { x64: "x86-64", arm64: "arm64" };

/** Null on an architecture without a seccomp filter. `program`: our native one. */
export function systemFacts(program: string): SystemFacts | null {
  const architecture = ARCHITECTURES[arch()];
  if (architecture === undefined) return null;
  return { architecture, user: userFacts(), program: segments(realpathSync.native(program)), top: top(), etc: etc() };
}

function segments(path: string): PlanPath {
  return path.split("/").filter((name) => name !== "");
}

/** A uid without a name is a user, too. */
function userFacts(): UserFacts {
  const [user, group] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  try {
    return { name: userInfo().username, user, group };
  } catch {
    return { name: "user", user, group };
  }
}

function top(): readonly TopFolder[] {
  return TOP_NAMES.flatMap((name): readonly TopFolder[] => {
    const found = lstatSync(`/${name}`, { throwIfNoEntry: false });
    if (found === undefined) return [];
    if (found.isSymbolicLink()) return [{ name, link: readlinkSync(`/${name}`) }];
    return found.isDirectory() ? [{ name, link: null }] : [];
  });
}

function etc(): readonly string[] {
  try {
    return readdirSync("/etc");
  } catch {
    return [];
  }
}
