// The homes of agents' clients in the state folder: `homes/<digest of the agent>/home`. Settings are put in anew at each
// start; history and caches stay. Nothing is ever copied out of a home.

import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_SETTINGS } from "../../clients/package-settings.ts";
import type { ClientProfile } from "../../clients/profile.ts";
import { type InsidePaths, settingsOf } from "../../clients/settings.ts";
import { errorCode } from "../../core/base/error-code.ts";
import { errorMessage } from "../../core/base/error-message.ts";
import { sha256 } from "../../platform/digest.ts";
import { removeTree } from "../drafts/remove-tree.ts";
import { TreeFolder } from "../live/tree-folder.ts";
import { dropName, folderIn, placeFile } from "./home-folder.ts";
import { CERTIFICATES, type RealHome, readAuthorities, readSettings, type SettingFile } from "./real-settings.ts";

export interface HomeRequest {
  /** The agent, by a name that is unique on this machine. */
  readonly owner: string;
  readonly profile: ClientProfile;
  /** The home begins empty: what earlier runs left there is removed. */
  readonly isFresh: boolean;
  readonly real: RealHome;
  readonly inside: InsidePaths;
  /** The person's variables; those that name certificate authorities count. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export type HomeResult =
  | {
      readonly ok: true;
      /** Absolute, on the host. */
      readonly path: string;
      readonly notes: readonly string[];
      /** Of certificate authorities, as they are inside. */
      readonly variables: readonly (readonly [name: string, value: string])[];
      /** Once, when the client has ended. */
      release(): void;
    }
  | { readonly ok: false; readonly reason: string; readonly fix: string };

const HOME = "home";
const OLD = "old-";
/** Old folders in the home itself, used while another client runs there and may have them open. */
const OLD_INSIDE = ".ambit-old";

export class ClientHomes {
  readonly #folder: string;
  /** Runs that use a home now. */
  readonly #uses = new Map<string, number>();
  /** Removals that run now, by home. */
  readonly #removals = new Map<string, Promise<void>>();

  constructor(state: string) {
    this.#folder = join(state, "homes");
  }

  /** Resolves when nothing is being removed. */
  async settled(): Promise<void> {
    await Promise.all(this.#removals.values());
  }

  open({ owner, profile, isFresh, real, inside, environment = {} }: HomeRequest): HomeResult {
    const id = sha256(owner).slice(0, 32);
    const isInUse = (this.#uses.get(id) ?? 0) > 0;
    if (isFresh && isInUse)
      return refuse("another client of this agent is running in its home", "end that client, or omit --fresh");
    const authorities = readAuthorities(environment, inside);
    let notes: readonly string[];
    try {
      mkdirSync(join(this.#folder, id), { recursive: true, mode: 0o700 });
      const folder = TreeFolder.open(join(this.#folder, id));
      try {
        if (isFresh) setAside(folder, HOME);
        notes = [...fill(folder, { profile, real, inside, files: authorities.files, isInUse }), ...authorities.notes];
        if (!isInUse) this.#removeOld(id, folder);
      } finally {
        folder.close();
      }
    } catch (error) {
      const reason = errorMessage(error);
      return refuse(`the home of this agent cannot be prepared: ${reason}`, "ambit run --fresh");
    }
    this.#uses.set(id, (this.#uses.get(id) ?? 0) + 1);
    return {
      ok: true,
      path: join(this.#folder, id, HOME),
      notes,
      variables: authorities.variables,
      release: () => {
        const left = (this.#uses.get(id) ?? 1) - 1;
        if (left > 0) this.#uses.set(id, left);
        else this.#uses.delete(id);
      },
    };
  }

  /**
   * In the background, one file at a time. INVARIANT: only folders that no client has open, so nothing changes while it
   * is removed by name. What is left after a failure is tried again at the next start.
   */
  #removeOld(id: string, folder: TreeFolder): void {
    const old = readdirSync(folder.path).filter((name) => name.startsWith(OLD));
    if (old.length === 0 || this.#removals.has(id)) return;
    const removal = (async (): Promise<void> => {
      for (const name of old) await removeTree(join(this.#folder, id, name)).catch(() => undefined);
      this.#removals.delete(id);
    })();
    this.#removals.set(id, removal);
  }
}

function refuse(reason: string, fix: string): HomeResult {
  return { ok: false, reason, fix };
}

/** At once, whatever its size: it is removed afterwards. */
function setAside(folder: TreeFolder, name: string): void {
  try {
    renameSync(folder.pathOf(name), folder.pathOf(`${OLD}${randomBytes(8).toString("hex")}`));
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

interface Filling extends Pick<HomeRequest, "profile" | "real" | "inside"> {
  /** Besides its settings. */
  readonly files: readonly SettingFile[];
  readonly isInUse: boolean;
}

function fill(folder: TreeFolder, { profile, real, inside, files, isInUse }: Filling): readonly string[] {
  try {
    mkdirSync(folder.pathOf(HOME), { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
  const home = folder.child(HOME);
  if (home === null) throw new Error("its folder cannot be opened");
  let kept: TreeFolder | null = null;
  try {
    if (isInUse) kept = folderIn(home, OLD_INSIDE);
    const aside = kept === null ? { folder, prefix: OLD } : { folder: kept, prefix: "" };
    if (!isInUse) dropName(home, [OLD_INSIDE], aside);
    const notes: string[] = [];
    dropName(home, CERTIFICATES, aside);
    for (const { path, content } of files) placeFile(home, path, content, aside);
    for (const setting of [...PACKAGE_SETTINGS, ...settingsOf(profile, inside)]) {
      const read = readSettings(setting, real, inside);
      notes.push(...read.notes);
      // What the client itself put in the place of a setting is gone, also where the person has none. Logins to registries stay
      // where the person has no settings for them.
      if (setting.kind !== "lines" || read.files.length > 0) dropName(home, setting.path.split("/"), aside);
      for (const { path, content } of read.files) placeFile(home, path, content, aside);
    }
    return notes;
  } finally {
    kept?.close();
    home.close();
  }
}
