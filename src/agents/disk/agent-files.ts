// The records of a workspace's agents as files that can be read, written, renamed and restored.

import { mkdirSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { parseAgentId } from "../../core/base/agent-id.ts";
import { errorCode } from "../../core/base/error-code.ts";
import type { Failure, Result } from "../../core/base/result.ts";
import type { Source } from "../../core/notation/source.ts";
import {
  type EditChange,
  type EditOptions,
  type EditResult,
  editFile,
  realFile,
  undoFolder,
} from "../../platform/edit-file.ts";
import { readTextFile } from "../../platform/files.ts";
import { segmentsOf } from "../../platform/folders.ts";
import { realRoot } from "../../platform/real-path.ts";
import { pastOf } from "../../platform/undo.ts";
import { AGENTS, findAgent } from "./workspace.ts";

export interface AgentFilesOptions {
  readonly cwd: string;
  readonly workspace: string | null;
  /** The user's state folder, required for changes; or null. */
  readonly state: string | null;
  readonly charactersMax: number;
}

type AgentPath = { readonly path: string; readonly inside: string };
type ReadResult = Result<Source, Failure>;

/** The text of a file, and the text before the last edit. Null: the file does or did not exist. */
export interface Step {
  readonly now: Source | null;
  readonly before: Source | null;
}

export class AgentFiles {
  readonly #place: AgentFilesOptions;

  constructor(place: AgentFilesOptions) {
    this.#place = place;
  }

  read(name: string): ReadResult {
    const other = this.#otherNotation(name);
    if (other !== null) return { ok: false, message: other };
    const found = this.#find(name) ?? this.#byId(name);
    if (found === null) return { ok: false, message: `${JSON.stringify(name.slice(0, 200))} is not a valid agent id` };
    const file = readTextFile(found.path, this.#place.charactersMax);
    const source = this.#shown(found.path);
    return file.ok
      ? { ok: true, value: { name: source, text: file.text } }
      : { ok: false, message: `${source} ${file.message}` };
  }

  edit<R>(name: string, change: (source: Source) => EditChange<R>): EditResult<R> {
    return this.#change(this.#find(name), name, (text, source) => (text === null ? { kind: "gone" } : change(source)));
  }

  /** Never overwrites an existing file. */
  create(id: string, text: string): EditResult<string> {
    const named = parseAgentId(id);
    if (!named.ok) return { kind: "failed", message: named.message };
    const found = this.#byId(id);
    if (found === null) return { kind: "failed", message: "there is no workspace here; create one: ambit init" };
    const folder = realRoot(segmentsOf(dirname(found.path)));
    const inside = realRoot(segmentsOf(found.inside));
    try {
      if (folder !== null && inside?.every((part, at) => part === folder[at]) === true)
        mkdirSync(dirname(found.path), { recursive: true });
    } catch (error) {
      return { kind: "failed", message: `${this.#shown(found.path)} cannot be created (${errorCode(error)})` };
    }
    return this.#change(found, id, (now, source) =>
      now === null ? { kind: "write", text } : { kind: "refuse", refusal: `${source.name} already exists` },
    );
  }

  /** Only if its text is still the one that was read. */
  remove(name: string, text: string): EditResult<string> {
    return this.#change(this.#find(name), name, (now, source) =>
      now === text ? { kind: "remove" } : { kind: "refuse", refusal: `${source.name} was changed in the meantime` },
    );
  }

  /** What an undo would do; null if there is no edit of ours to undo, or the file has changed since. */
  step(name: string): Step | null {
    const found = this.#find(name) ?? this.#byId(name);
    const { state, charactersMax } = this.#place;
    if (found === null || state === null) return null;
    const real = realFile(found.path, found.inside);
    const file = readTextFile(found.path, charactersMax);
    const past = real === null ? null : pastOf(undoFolder(state, real), file.ok ? file.text : null);
    const source = (text: string | null): Source | null =>
      text === null ? null : { name: this.#shown(found.path), text };
    return past === null ? null : { now: source(file.ok ? file.text : null), before: source(past.before) };
  }

  undo(name: string, { now, before }: Step): EditResult<string> {
    return this.#change(this.#find(name) ?? this.#byId(name), name, (text, source, past) =>
      past !== null && text === (now?.text ?? null) && past.before === (before?.text ?? null)
        ? { kind: "undo", past }
        : { kind: "refuse", refusal: `${source.name} was changed in the meantime` },
    );
  }

  #change<R>(
    found: AgentPath | null,
    name: string,
    change: (
      text: string | null,
      source: Source,
      past: Parameters<Parameters<typeof editFile<R>>[2]>[1],
    ) => EditChange<R>,
  ): EditResult<R> {
    const { state, charactersMax } = this.#place;
    if (found === null)
      return { kind: "failed", message: `there is no agent called ${JSON.stringify(name.slice(0, 200))}` };
    if (state === null) return { kind: "failed", message: "there is no state folder, so the edit could not be undone" };
    const shown = this.#shown(found.path);
    const place: EditOptions = { state, inside: found.inside, charactersMax };
    const done = editFile<R>(found.path, place, (text, past) => change(text, { name: shown, text: text ?? "" }, past));
    return done.kind === "failed" ? { ...done, message: `${shown} ${done.message}` } : done;
  }

  #find(name: string): AgentPath | null {
    const { cwd, workspace } = this.#place;
    const file = findAgent(name, cwd, workspace);
    if (file === null || file.isMember === true || !file.path.endsWith(".md")) return null;
    const isInside = workspace !== null && file.path.startsWith(workspace + sep);
    return { path: file.path, inside: isInside ? workspace : dirname(file.path) };
  }

  /** Why an agent cannot be edited here; null for a record. */
  #otherNotation(name: string): string | null {
    const file = findAgent(name, this.#place.cwd, this.#place.workspace);
    if (file?.isMember === true)
      return `${JSON.stringify(file.name)} is defined in ${this.#shown(file.path)}: edit it there, then run ambit trust`;
    if (file === null || file.path.endsWith(".md")) return null;
    return `${this.#shown(file.path)} is not a record: edit it by hand, then run ambit trust`;
  }

  #byId(id: string): AgentPath | null {
    const { workspace } = this.#place;
    return workspace !== null && parseAgentId(id).ok
      ? { path: resolve(join(workspace, AGENTS), `${id}.md`), inside: workspace }
      : null;
  }

  #shown(path: string): string {
    const shown = relative(this.#place.cwd, path);
    return shown.startsWith("..") ? path : shown;
  }
}
