// The private folders of sandboxes without mounts, in the state folder: a temporary folder and our own settings, for one
// sandbox each. Those of a process that has ended are removed by the next one.
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identityText, ownIdentity, readIdentity, stateOf } from "../../platform/daemon/process-identity.ts";
import { readTextFile } from "../../platform/files.ts";
import { segmentsOf } from "../../platform/folders.ts";
import { removeTree } from "../drafts/remove-tree.ts";
import type { Plan } from "../plan/plan.ts";
import type { SystemFacts } from "../plan/start/system.ts";
import {
  ASKING_FOLDER,
  GIT_SETTINGS,
  gitSettingsText,
  type PrivateFolders,
  STORES_FOLDER,
} from "../plan/supervised/supervised-plan.ts";

/** In each folder: the process that made it. */
const OWNER = "owner";
const randomBytesPerName = 8;
const ownerCharactersMax = 1_024;

function ownerOf(folder: string): ReturnType<typeof readIdentity> {
  const content = readTextFile(join(folder, OWNER), ownerCharactersMax);
  return content.ok ? readIdentity(content.text) : null;
}

export interface PrivateFolder extends PrivateFolders {
  /** After the sandbox has ended. What cannot be removed is left for the next process. */
  remove(): Promise<void>;
}

export class PrivateFolderMaker {
  readonly #folder: string;
  readonly #system: SystemFacts;
  #isSwept = false;

  constructor(state: string, system: SystemFacts) {
    this.#folder = join(state, "private");
    this.#system = system;
  }

  /** Throws as the system does. */
  make({ stores = [], network }: Pick<Plan, "stores" | "network">): PrivateFolder {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    if (!this.#isSwept) this.#sweep();
    const path = join(this.#folder, randomBytes(randomBytesPerName).toString("hex"));
    const [temporary, settings] = [join(path, "tmp"), join(path, "settings")];
    mkdirSync(path, { mode: 0o700 });
    writeFileSync(join(path, OWNER), identityText(ownIdentity()), { mode: 0o600, flag: "wx" });
    for (const one of [temporary, settings]) mkdirSync(one, { mode: 0o700 });
    writeFileSync(join(settings, GIT_SETTINGS), gitSettingsText(this.#system, network?.git ?? []), {
      mode: 0o444,
      flag: "wx",
    });
    if (stores.length > 0) mkdirSync(join(settings, STORES_FOLDER), { mode: 0o700 });
    for (const { name, folder } of stores) symlinkSync(`/${folder.join("/")}`, join(settings, STORES_FOLDER, name));
    if (network?.relay !== undefined) {
      mkdirSync(join(settings, ASKING_FOLDER), { mode: 0o700 });
      symlinkSync(`/${this.#system.program.join("/")}`, join(settings, ASKING_FOLDER, "ambit"));
    }
    return {
      temporary: segmentsOf(temporary),
      settings: segmentsOf(settings),
      remove: () => removeTree(path).catch(() => undefined),
    };
  }

  #sweep(): void {
    this.#isSwept = true;
    for (const name of readdirSync(this.#folder)) {
      const owner = ownerOf(join(this.#folder, name));
      // One without an owner is being made at this moment, or was never finished; it holds nothing.
      if (owner === null || stateOf(owner) !== "gone") continue;
      void removeTree(join(this.#folder, name)).catch(() => undefined);
    }
  }
}
