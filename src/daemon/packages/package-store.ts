// Packages of MCP servers in the state folder: `packages/<lock>`, read-only, and the digest of each in the store. INVARIANT: a folder
// without a record is ignored, and a tree that differs from its record is not used.
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { SERVERS_PATH } from "../../agents/disk/authority-files.ts";
import { registeredWorkspaces } from "../../agents/disk/registered-workspaces.ts";
import { errorCode } from "../../core/base/error-code.ts";
import { isJsonObject, type JsonObject, member } from "../../core/base/json.ts";
import { parseJson } from "../../core/notation/json-reader.ts";
import { type PinnedPackage, packageText } from "../../core/notation/servers/server-package.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { SettingStore } from "../../core/ports/stores/secret-store.ts";
import type { UserFolders } from "../../platform/folders.ts";
import { removeTree } from "../../sandbox/drafts/remove-tree.ts";

import { makeReadOnly, type TreeDigest, treeDigest } from "./tree-digest.ts";

export interface PackageStoreOptions {
  readonly folders: UserFolders;
  readonly settings: Pick<SettingStore, "get" | "set">;
  entry(outcome: string, facts: JsonObject): LogEntry;
}

export type PackageFolder =
  | { readonly ok: true; readonly folder: string }
  | {
      readonly ok: false;
      readonly code: "not_available" | "pin_changed";
      readonly message: string;
      readonly fix: string;
    };

type Key = Pick<PinnedPackage, "lock" | "hasScripts">;

const STAGE = "stage-";
/** The part of a stage that becomes the package. */
export const PACKAGE = "package";
const DIGEST = /^[0-9a-f]{64}$/;

export class PackageStore {
  readonly #options: PackageStoreOptions;
  /** Nothing else is done with a package meanwhile. */
  readonly #busy = new Map<string, Promise<unknown>>();

  constructor(options: PackageStoreOptions) {
    this.#options = options;
  }

  /** What an earlier daemon left of fetches that it did not finish. */
  async clean(): Promise<void> {
    const folder = this.#folder();
    if (folder === null) return;
    for (const name of namesIn(folder).filter((one) => one.startsWith(STAGE)))
      await removeTree(join(folder, name)).catch(() => undefined);
  }

  /** An empty folder for one fetch; null where there is no state. */
  stage(): string | null {
    const folder = this.#folder();
    if (folder === null) return null;
    const stage = join(folder, `${STAGE}${randomBytes(8).toString("hex")}`);
    mkdirSync(join(stage, PACKAGE), { recursive: true, mode: 0o700 });
    return stage;
  }

  async discard(stage: string): Promise<void> {
    await removeTree(stage).catch(() => undefined);
  }

  /** The staged package takes its place, unless the same is there. Rejects as the file system does. */
  async adopt(stage: string, pin: PinnedPackage, facts: JsonObject): Promise<TreeDigest> {
    const digest = await treeDigest(join(stage, PACKAGE));
    await this.#alone(pin, async () => {
      const place = this.#place(pin);
      if (await this.#isAsStored(pin)) return;
      await rename(place, join(stage, "before")).catch(ignoreAbsent);
      await rename(join(stage, PACKAGE), place);
      await makeReadOnly(place);
      const entry = this.#options.entry("package_fetched", { ...facts, tree: digest.digest });
      const stored = await this.#options.settings.set(keyOf(pin), JSON.stringify({ tree: digest.digest }), entry);
      if (!stored.ok) throw new Error(stored.message);
    });
    return digest;
  }

  /** Whether it was fetched; its content is compared where it is used. */
  has(pin: Key): boolean {
    return this.#recorded(pin) !== null;
  }

  async stateOf(pin: Key): Promise<"stored" | "missing" | "changed"> {
    if (!this.has(pin)) return "missing";
    return (await this.#isAsStored(pin)) ? "stored" : "changed";
  }

  /** The folder of a package, compared with its record. */
  async folderOf(pin: PinnedPackage, server: string): Promise<PackageFolder> {
    const name = packageText(pin);
    const fix = `ambit mcp fetch ${server}`;
    const state = await this.stateOf(pin);
    if (state === "missing")
      return { ok: false, code: "not_available", message: `the package ${name} is not fetched`, fix };
    if (state === "stored") return { ok: true, folder: this.#place(pin) };
    const message = `the stored package ${name} changed since it was fetched, so it is not run`;
    return { ok: false, code: "pin_changed", message, fix };
  }

  /** Removes a package that no file of servers names any more. `beside`: a workspace that may not be registered. */
  async release(pin: Key, beside: string | null): Promise<boolean> {
    if (!this.has(pin) || this.#isNamed(pin.lock, beside)) return false;
    return this.#alone(pin, async () => {
      const place = this.#place(pin);
      const entry = this.#options.entry("package_removed", { lock: pin.lock });
      const stored = await this.#options.settings.set(keyOf(pin), null, entry);
      if (!stored.ok) return false;
      await removeTree(place).catch(() => undefined);
      return true;
    });
  }

  async #alone<T>(pin: Key, work: () => Promise<T>): Promise<T> {
    const key = keyOf(pin);
    const mine = (this.#busy.get(key) ?? Promise.resolve()).catch(() => undefined).then(work);
    this.#busy.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#busy.get(key) === mine) this.#busy.delete(key);
    }
  }

  async #isAsStored(pin: Key): Promise<boolean> {
    const recorded = this.#recorded(pin);
    if (recorded === null) return false;
    const { digest } = await treeDigest(this.#place(pin)).catch(() => ({ digest: null }));
    return digest === recorded;
  }

  #recorded(pin: Key): string | null {
    const read = parseJson(this.#options.settings.get(keyOf(pin)) ?? "");
    const tree = read.ok && isJsonObject(read.value) ? member(read.value, "tree") : null;
    return typeof tree === "string" && DIGEST.test(tree) ? tree : null;
  }

  /** A file that cannot be read may name it. */
  #isNamed(lock: string, beside: string | null): boolean {
    const { config, state } = this.#options.folders;
    const workspaces = registeredWorkspaces(state);
    if (workspaces === null) return true;
    const files = [
      ...(config === null ? [] : [join(config, "mcp.yml")]),
      ...[...workspaces, ...(beside === null ? [] : [beside])].map((one) => join(one, ...SERVERS_PATH.split("/"))),
    ];
    return files.some((file) => {
      try {
        return readFileSync(file, "utf8").includes(lock);
      } catch (error) {
        return errorCode(error) !== "ENOENT";
      }
    });
  }

  #place(pin: Key): string {
    const folder = this.#folder();
    if (folder === null) throw new Error("there is no state folder");
    return join(folder, `${pin.lock.replace(/^sha256-/, "")}${pin.hasScripts ? "-scripts" : ""}`);
  }

  #folder(): string | null {
    const { state } = this.#options.folders;
    return state === null ? null : join(state, "packages");
  }
}

function keyOf({ lock, hasScripts }: Key): string {
  return `mcp.package ${lock}${hasScripts ? " scripts" : ""}`;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function ignoreAbsent(error: unknown): void {
  if (errorCode(error) !== "ENOENT") throw error;
}
