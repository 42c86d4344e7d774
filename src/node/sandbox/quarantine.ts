// What appeared under a pinned name, or in place of a link that was there, is put aside, never deleted: a person looks at
// it, nothing reads it by that name.
import { lstatSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { withFolderBeneath } from "./host-path.ts";
import type { ChangedPin } from "./pins.ts";
import { codeOf } from "./refusal.ts";

const placesMax = 10_000;

/** Where it was put, or null where it stayed: it is told as changed either way. */
export function putAside({ base, way }: ChangedPin, quarantine: string): string | null {
  const name = way.at(-1);
  if (name === undefined) return null;
  return withFolderBeneath(base, way.slice(0, -1), (folder) => {
    mkdirSync(quarantine, { recursive: true, mode: 0o700 });
    const from = join(folder, name);
    try {
      return moved(from, quarantine, plainName(name));
    } catch (error) {
      // On another disk it cannot be taken away in one step; beside its name it is as harmless.
      if (codeOf(error) === "EXDEV") return moved(from, folder, `${name}.ambit-aside`) === null ? null : base;
      throw error;
    }
  });
}

/** The link as it was; never over what could not be put aside. */
export function putBack({ base, way, link }: ChangedPin): void {
  const name = way.at(-1);
  if (name === undefined || link === null) return;
  withFolderBeneath(base, way.slice(0, -1), (folder) => symlinkSync(link, join(folder, name)));
}

/** Never over another: the first free number behind the name. */
function moved(from: string, folder: string, name: string): string | null {
  for (let number = 1; number <= placesMax; number++) {
    const to = join(folder, `${name}.${number}`);
    if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) continue;
    renameSync(from, to);
    return to;
  }
  return null;
}

/** Neither hidden nor too long for another file system. */
function plainName(name: string): string {
  return `aside-${name.replace(/[^\w.-]/g, "_").slice(0, 100)}`;
}
