// Third-party tools of a workspace: which exist, which are trusted, and why one is not loaded.

import { openTrust } from "../../agents/disk/trust-file.ts";
import { compile } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import { grantOf } from "../../core/notation/grants.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { readDeclarationValue } from "../../core/notation/tools/declaration-value.ts";
import { sha256 } from "../../platform/digest.ts";
import type { UserFolders } from "../../platform/folders.ts";
import { defineTool } from "../../runtime/tool/define.ts";
import type { ToolDescription } from "../../runtime/tool/hosted.ts";
import { inputParser } from "../../runtime/tool/input.ts";
import type { JsonSchema } from "../../runtime/tool/json-schema.ts";
import { prepareTool, type RegisteredTool } from "../../runtime/tool/registered.ts";
import {
  isTrustedSource,
  TOOLS_TEXT,
  type ToolSource,
  type ToolSources,
  toolSources,
} from "../../sandbox/tool-host/sources.ts";
import type { HostPool } from "./pool.ts";

/** The tool settings of a workspace's configuration; null if the configuration is not in effect. */
export interface ToolSettings {
  readonly packages: readonly string[];
  readonly isInDevelopment: boolean;
  /** The upper limit of tool requirements; null means no limit. */
  readonly ceiling: readonly Grant[] | null;
}

export interface LoadedTool {
  readonly registered: RegisteredTool;
  readonly source: ToolSource;
  readonly input: JsonSchema;
  /** The host derives requests before the gate decides; otherwise the declaration is sufficient. */
  readonly isDeriving: boolean;
  /** Its own answer when it was loaded. */
  readonly isAvailable: boolean;
  /** Loaded although its current content is not trusted. */
  readonly isUntrusted: boolean;
}

export interface ToolRefusal {
  readonly source: string;
  readonly why: string;
}

export interface LoadedTools {
  readonly tools: readonly LoadedTool[];
  readonly refused: readonly ToolRefusal[];
}

export interface ForeignSourcesOptions {
  readonly folders: UserFolders;
  readonly pool: HostPool;
  settings(workspace: string): ToolSettings;
  readingAt(folder: string): Reading;
  /** Milliseconds of a monotonic clock. */
  elapsed(): number;
}

interface CachedSources {
  readonly at: number;
  readonly sources: ToolSources;
  readonly loaded: LoadedTools;
  readonly mark: string;
}

/**
 * A package has thousands of files: they are compared with the trusted ones at most this often, and until then the trusted copy
 * runs. Trust and settings are read for each call.
 */
const comparedMilliseconds = 500;
const workspacesMax = 64;

export class ForeignSources {
  readonly #asked: ForeignSourcesOptions;
  readonly #looked = new Map<string, Promise<CachedSources>>();

  constructor(asked: ForeignSourcesOptions) {
    this.#asked = asked;
  }

  async of(workspace: string | null): Promise<LoadedTools> {
    if (workspace === null) return { tools: [], refused: [] };
    const before = this.#looked.get(workspace) ?? null;
    const looking = this.#look(workspace, before === null ? null : await before.catch(() => null));
    this.#looked.delete(workspace);
    this.#looked.set(workspace, looking);
    for (const oldest of this.#looked.keys()) if (this.#looked.size > workspacesMax) this.#looked.delete(oldest);
    return (await looking).loaded;
  }

  async #look(workspace: string, before: CachedSources | null): Promise<CachedSources> {
    const { folders, elapsed } = this.#asked;
    const at = elapsed();
    const settings = this.#asked.settings(workspace);
    const store = openTrust(workspace, folders, sha256);
    const trusted = store === null ? "own" : store.exists ? (store.file(TOOLS_TEXT)?.text ?? "") : null;
    const { isInDevelopment: isFree, packages } = settings;
    const mark = `${isFree ? "development" : "trusted"} ${JSON.stringify(packages)} ${store === null} ${trusted}`;
    if (before !== null && before.mark === mark) {
      if (!isFree && at - before.at < comparedMilliseconds) return before;
      if (before.sources.isAsBefore()) return { ...before, at };
    }
    // Tools of an untrusted project are not even looked at.
    if (trusted === null) return { at, sources: NOTHING, loaded: { tools: [], refused: [] }, mark };
    const sources = toolSources(workspace, packages);
    const isTrusted = (one: ToolSource): boolean => store === null || isTrustedSource(one, trusted);
    const loaded = await this.#load(workspace, sources, settings, isTrusted);
    return { at, sources, loaded, mark };
  }

  /**
   * Tools whose current content waits for trust, for a person who decides about it. INVARIANT: they are described in a sandbox
   * that reaches nothing, and never called.
   */
  async waiting(workspace: string | null): Promise<LoadedTools> {
    if (workspace === null) return { tools: [], refused: [] };
    const { folders } = this.#asked;
    const settings = this.#asked.settings(workspace);
    const store = openTrust(workspace, folders, sha256);
    if (store === null || settings.isInDevelopment) return { tools: [], refused: [] };
    const trusted = store.exists ? (store.file(TOOLS_TEXT)?.text ?? "") : "";
    const { sources } = toolSources(workspace, settings.packages);
    const open = sources.filter((one) => !isTrustedSource(one, trusted));
    return this.#load(workspace, { ...NOTHING, sources: open }, settings, () => true);
  }

  async #load(
    workspace: string,
    { sources, problems }: ToolSources,
    { ceiling, isInDevelopment }: ToolSettings,
    isTrusted: (source: ToolSource) => boolean,
  ): Promise<LoadedTools> {
    const refused: ToolRefusal[] = [...problems];
    const tools: LoadedTool[] = [];
    const reading = this.#asked.readingAt(workspace);
    const taken: string[] = [];
    const counting = sources.filter((one) => {
      if (isTrusted(one) || isInDevelopment) return true;
      refused.push({ source: one.name, why: "it changed since it was trusted: review it and run `ambit trust`" });
      return false;
    });
    // One after another: each starts a process.
    for (const source of counting) {
      const described = await this.#asked.pool.described(source);
      if (!described.ok) {
        refused.push({ source: source.name, why: described.message });
        continue;
      }
      if (described.tools.length === 0) refused.push({ source: source.name, why: "it does not export a tool" });
      for (const one of described.tools) {
        const made = register(one, reading, ceiling, taken);
        if (typeof made === "string") refused.push({ source: `${source.name}: ${one.name}`, why: made });
        else {
          taken.push(made.name);
          const isDeriving = one.isAsking || one.isLibrarySchema;
          const { isAvailable } = one;
          const isUntrusted = !isTrusted(source);
          tools.push({ registered: made, source, input: inputOf(one), isDeriving, isAvailable, isUntrusted });
        }
      }
    }
    return { tools, refused };
  }
}

const NOTHING: ToolSources = { sources: [], problems: [], text: null, isAsBefore: () => false };

/** The tool as the gate sees it, or why it is invalid. Its code runs only in its host. */
function register(
  { name, description, risk, capabilities, milliseconds, faults }: ToolDescription,
  reading: Reading,
  ceiling: readonly Grant[] | null,
  taken: readonly string[],
): RegisteredTool | string {
  const [fault] = faults;
  if (fault !== undefined) return `${fault.part}: ${fault.message}`;
  if (capabilities === null) return "capabilities: what a tool touches is plain data";
  const tool = defineTool({
    ...{ name, description, capabilities: capabilities as never, input: {}, execute: () => null },
    ...(risk === null ? {} : { risk: risk as never }),
    ...(milliseconds === null ? {} : { milliseconds }),
  });
  const made = prepareTool(
    tool,
    "foreign",
    {
      read: (declaration) => readDeclarationValue(declaration, reading, `the declaration of ${name}`),
      policy: {
        authority: [[policyOf(ceiling)]],
        name: "your ceiling",
        holds: null,
        protectedPaths: reading.pathSettings.protectedPaths,
      },
      // Derived when it is called.
      backends: { has: () => true, hasSecret: () => true },
      pathSettings: reading.pathSettings,
      toAscii: reading.toAscii,
    },
    taken,
  );
  if (made.ok) return made.value;
  const [error] = made.errors;
  if (error === undefined) return "it cannot be registered";
  return `${error.capability}${error.entry === null ? "" : ` ${error.entry}`}: ${error.message}`;
}

const VERBS = [
  ...["net.get", "net.post", "net.put", "net.delete", "net.connect", "fs.read", "fs.write", "fs.delete"],
  ...["proc.exec", "secret.use", "memory.read", "memory.write"],
];

/** The user's own ceiling; without one, agents' grants alone decide. */
function policyOf(ceiling: readonly Grant[] | null): ReturnType<typeof compile> {
  const span = { source: "policy of tools", start: 0, end: 0 };
  const grants = ceiling ?? VERBS.map((verb) => grantOf(verb, {}, { span }));
  return compile({
    id: "tools",
    role: "limit",
    issuer: "user",
    holder: "tools",
    grants,
    validity: ALWAYS,
    calls: null,
  });
}

/** The schema that is checked here; a schema library's own schema is checked in the host. */
function inputOf({ schema, isLibrarySchema }: ToolDescription): JsonSchema {
  if (schema === null) return { type: "object" };
  if (!isLibrarySchema) return schema as unknown as JsonSchema;
  const { $schema: _dialect, ...rest } = schema;
  const isRead = inputParser(rest as unknown as JsonSchema).faults.length === 0;
  return isRead ? (rest as unknown as JsonSchema) : { type: "object" };
}
