// The homes of agents' clients in the state folder: `homes/<digest of the agent>/home`. Settings are put in anew at each
// start; history and caches stay. Nothing is ever copied out of a home.
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { ClientProfile } from "../../clients/profile.ts";
import { type InsidePaths, settingsOf } from "../../clients/settings.ts";
import { sha256 } from "../../platform/digest.ts";
import { codeOf } from "../../platform/path-target.ts";
import { TreeFolder } from "../live/tree-folder.ts";
import { dropName, placeFile } from "./home-folder.ts";
import { type RealHome, readSettings } from "./real-settings.ts";

export interface HomeRequest {
  /** The agent, by a name that is unique on this machine. */
  readonly owner: string;
  readonly profile: ClientProfile;
  /** The home begins empty: what earlier runs left there is removed. */
  readonly isFresh: boolean;
  readonly real: RealHome;
  readonly inside: InsidePaths;
}

export type HomeResult =
  | {
      readonly ok: true;
      /** Absolute, on the host. */
      readonly path: string;
      readonly notes: readonly string[];
      /** Once, when the client has ended. */
      release(): void;
    }
  | { readonly ok: false; readonly reason: string; readonly fix: string };

const HOME = "home";
const OLD = "old-";

export class ClientHomes {
  readonly #folder: string;
  /** Runs that use a home now. */
  readonly #uses = new Map<string, number>();

  constructor(state: string) {
    this.#folder = join(state, "homes");
  }

  open({ owner, profile, isFresh, real, inside }: HomeRequest): HomeResult {
    const id = sha256(owner).slice(0, 32);
    const isInUse = (this.#uses.get(id) ?? 0) > 0;
    if (isFresh && isInUse)
      return refuse("another client of this agent is running in its home", "end that client, or leave out --fresh");
    let notes: readonly string[];
    try {
      mkdirSync(join(this.#folder, id), { recursive: true, mode: 0o700 });
      const folder = TreeFolder.open(join(this.#folder, id));
      try {
        if (isFresh) setAside(folder);
        if (!isInUse) removeOld(folder);
        notes = fill(folder, profile, real, inside);
      } finally {
        folder.close();
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return refuse(`the home of this agent cannot be prepared: ${reason}`, "ambit run --fresh");
    }
    this.#uses.set(id, (this.#uses.get(id) ?? 0) + 1);
    return {
      ok: true,
      path: join(this.#folder, id, HOME),
      notes,
      release: () => {
        const left = (this.#uses.get(id) ?? 1) - 1;
        if (left > 0) this.#uses.set(id, left);
        else this.#uses.delete(id);
      },
    };
  }
}

function refuse(reason: string, fix: string): HomeResult {
  return { ok: false, reason, fix };
}

/** At once, whatever its size: it is removed afterwards. */
function setAside(folder: TreeFolder): void {
  try {
    renameSync(folder.pathOf(HOME), folder.pathOf(`${OLD}${randomBytes(8).toString("hex")}`));
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

function removeOld(folder: TreeFolder): void {
  for (const name of readdirSync(folder.path)) if (name.startsWith(OLD)) dropName(folder, [name]);
}

function fill(folder: TreeFolder, profile: ClientProfile, real: RealHome, inside: InsidePaths): readonly string[] {
  try {
    mkdirSync(folder.pathOf(HOME), { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
  const home = folder.child(HOME);
  if (home === null) throw new Error("its folder cannot be opened");
  try {
    const notes: string[] = [];
    for (const setting of settingsOf(profile, inside)) {
      const read = readSettings(setting, real, inside);
      notes.push(...read.notes);
      // What the client itself put in the place of a setting is gone, also where the person has none.
      dropName(home, setting.path.split("/"));
      for (const { path, content } of read.files) placeFile(home, path, content);
    }
    return notes;
  } finally {
    home.close();
  }
}
