// The whole org of a workspace: its org file, and records that say under `org` where they belong.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../core/base/json.ts";
import { isJsonObject } from "../../core/base/json.ts";
import type { Failure, Result } from "../../core/base/result.ts";
import type { Source } from "../../core/notation/source.ts";
import { type Entry, entryOf, type Mapping } from "../../core/notation/tree.ts";
import { type Org, readOrg } from "../../org/org.ts";
import { jsonOfTree } from "../../org/org-text.ts";
import { readTextFile } from "../../platform/files.ts";
import { writeNew } from "../../platform/write-new.ts";
import { readFrontmatter } from "../../text/frontmatter.ts";
import { sourceCharactersMax } from "../../text/read.ts";
import { ORG_PATHS, orgTree, readOrgFile, spanOf } from "./org-file.ts";
import { AGENTS, filesBelow } from "./workspace.ts";

export interface WholeOrg {
  /** The org file, and the records that have an `org` of their own. */
  readonly org: Org;
  readonly tree: Mapping;
  readonly sources: ReadonlyMap<string, Source>;
  /** The rulings that records keep from the file they were imported from, by agent. */
  readonly imported: ReadonlyMap<string, JsonObject>;
}

/** Null where there is neither an org file nor a record that belongs to one. */
export function readWholeOrg(
  workspace: string | null,
  shown: (path: string) => string = (path) => path,
): WholeOrg | null {
  const file = readOrgFile(workspace, shown);
  const records = workspace === null ? [] : recordMembers(workspace, shown);
  if (file === null && records.length === 0) return null;
  const source = file?.source ?? { name: ORG_PATHS[1] ?? "", text: "" };
  const { tree, diagnostics } =
    file === null
      ? { tree: { kind: "map" as const, entries: [], span: spanOf(source) }, diagnostics: [] }
      : orgTree(source);
  const agents = entryOf(tree, "agents");
  const own = agents?.value.kind === "map" && file?.problem == null ? agents.value.entries : [];
  // An agent that is defined twice has no effect; it is shown as the file has it.
  const joined = records.filter(({ entry }) => !own.some(({ key }) => key === entry.key)).map(({ entry }) => entry);
  const value: Mapping = { kind: "map", entries: [...own, ...joined], span: agents?.value.span ?? tree.span };
  const entry = { key: "agents", keySpan: agents?.keySpan ?? tree.span, value };
  const whole: Mapping = { ...tree, entries: [...tree.entries.filter(({ key }) => key !== "agents"), entry] };
  const org = readOrg({ tree: whole, diagnostics });
  return {
    org: file === null ? org : { ...org, diagnostics: file.org.diagnostics },
    tree: whole,
    imported: new Map(
      records.flatMap((one) => (one.imported === null ? [] : [[one.entry.key, one.imported] as const])),
    ),
    sources: new Map([source, ...records.map((one) => one.source)].map((one) => [one.name, one])),
  };
}

/** Records with `org`: their agents as an org file would define them. */
function recordMembers(workspace: string, shown: (path: string) => string): readonly RecordMember[] {
  const folder = join(workspace, AGENTS);
  return filesBelow(folder)
    .filter((file) => file.endsWith(".md"))
    .flatMap((file) => {
      const content = readTextFile(join(folder, file), sourceCharactersMax);
      if (!content.ok || !content.text.includes("\norg:")) return [];
      return recordMember({ name: shown(join(folder, file)), text: content.text }, file.slice(0, -3)) ?? [];
    });
}

export interface RecordMember {
  readonly entry: Entry;
  readonly source: Source;
  /** The rulings of the org file it was imported from. */
  readonly imported: JsonObject | null;
}

/** What the agent may do is what its `policy` says. Null for a record without `org`. */
export function recordMember(source: Source, id: string): RecordMember | null {
  const { read, body } = readFrontmatter(source);
  const org = read.tree?.kind === "map" ? entryOf(read.tree, "org") : null;
  if (read.tree?.kind !== "map" || org === null) return null;
  const policy = entryOf(read.tree, "policy");
  const prompt = source.text.slice(body.start).replace(/^(?:[ \t]*\r?\n)+|\s+$/g, "");
  const own = org.value.kind === "map" ? org.value.entries : [];
  const span = { source: source.name, start: body.start, end: source.text.length };
  const entries: readonly Entry[] = [
    ...own.filter(({ key }) => key !== "capabilities"),
    ...(policy === null ? [] : [{ ...policy, key: "capabilities" }]),
    ...(prompt === ""
      ? []
      : [{ key: "prompt", keySpan: org.keySpan, value: { kind: "scalar" as const, value: prompt, span } }]),
  ];
  const before = own.find(({ key }) => key === "capabilities");
  const imported = before === undefined ? {} : jsonOfTree(before.value);
  const value: Mapping = { kind: "map", entries, span: org.value.span };
  return {
    entry: { key: id, keySpan: org.keySpan, value },
    source,
    imported: isJsonObject(imported) ? imported : null,
  };
}

/** Writes files that are not there yet; none where one of them is. */
export function writeOrgFiles(
  workspace: string,
  files: readonly { readonly path: string; readonly text: string }[],
): Result<null, Failure> {
  const there = [...files.map(({ path }) => path), ...ORG_PATHS].find(
    (path) => lstatSync(join(workspace, path), { throwIfNoEntry: false }) !== undefined,
  );
  if (there !== undefined) return { ok: false, message: `${there} already exists; nothing was written` };
  for (const { path, text } of files) {
    const written = writeNew(workspace, path, text);
    if (!written.ok) return { ok: false, message: `${path} ${written.message}` };
    if (written.kind === "kept")
      return { ok: false, message: `${path} was created in the meantime and not overwritten` };
  }
  return { ok: true, value: null };
}
