// The org file of a workspace: `.ambit/org.md` in Markdown or `.ambit/org.yml`, and the agents it defines.
import { lstatSync } from "node:fs";
import { extname, join } from "node:path";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { place, type Source } from "../../core/notation/source.ts";
import type { Mapping } from "../../core/notation/tree.ts";
import type { TrustStore } from "../../core/ports/trust.ts";
import { type Org, readOrg } from "../../org/org.ts";
import { type OrgTree, readOrgMarkdown } from "../../org/org-markdown.ts";
import { NO_TRIGGERS, type OrgTriggers, writtenTriggers } from "../../org/schedules/file-schedule.ts";
import { readTextFile } from "../../platform/files.ts";
import { readJson } from "../../text/json.ts";
import { sourceCharactersMax } from "../../text/read.ts";
import { readYaml } from "../../text/yaml.ts";

/** Relative to the workspace, with slashes. */
export const ORG_PATHS: readonly string[] = [".ambit/org.md", ".ambit/org.yml"];

export interface OrgFile {
  /** Relative to the workspace, with slashes. */
  readonly path: string;
  readonly source: Source;
  /** Without agents where the file cannot be read, or where there are two. */
  readonly org: Org;
  /** Why the file has no effect as a whole, as a sentence; null where it has. */
  readonly problem: string | null;
}

/** The tree of an org file in either form. */
export function orgTree(source: Source): OrgTree {
  if (extname(source.name) === ".md") return readOrgMarkdown(source, readJson);
  const { tree, diagnostics } = readYaml(source);
  if (tree?.kind === "map") return { tree, diagnostics };
  const span = spanOf(source);
  const found = new Diagnostics();
  if (tree !== null) found.error("wrong_type", span, "an org file is a map of name, defaults, agents and triggers");
  return { tree: { kind: "map", entries: [], span }, diagnostics: [...diagnostics, ...found.list] };
}

export function orgOf(source: Source): Org {
  return readOrg(orgTree(source));
}

/** Null where there is no org file. Of two, neither is in effect. */
export function readOrgFile(
  workspace: string | null,
  shown: (path: string) => string = (path) => path,
): OrgFile | null {
  if (workspace === null) return null;
  const there = ORG_PATHS.filter((path) => isThere(join(workspace, path)));
  const [path, other] = there;
  if (path === undefined) return null;
  const whole = join(workspace, path);
  const content = readTextFile(whole, sourceCharactersMax);
  const source = { name: shown(whole), text: content.ok ? content.text : "" };
  const org = orgOf(source);
  const problem = !content.ok
    ? `${path} ${content.message}`
    : other !== undefined
      ? `${path} and ${other} both exist, so neither is in effect: delete one`
      : null;
  if (problem === null) return { path, source, org, problem };
  const found = new Diagnostics();
  found.error("not_understood", { source: source.name, start: 0, end: 0 }, problem);
  return { path, source, problem, org: { ...org, agents: [], diagnostics: [...found.list, ...org.diagnostics] } };
}

/** Its triggers, compared with the text that a person trusted. `trusted`: null for the user's own folder, which needs no trust. */
export function readOrgTriggers(workspace: string | null, trusted: TrustStore | null): OrgTriggers {
  const file = readOrgFile(workspace);
  if (file === null) return NO_TRIGGERS;
  const { path, source, org, problem } = file;
  if (problem !== null) return { path, problem, triggers: [] };
  const text = trusted?.exists === true ? (trusted.file(path)?.text ?? null) : null;
  const was = trusted === null || text === source.text ? org : text === null ? null : orgOf({ ...source, text });
  return writtenTriggers(path, org, was, ({ span }) => `${path}:${place(source, span.start).line}`);
}

/** A symbolic link that leads nowhere is there, too: reading it reports the problem. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

export function spanOf({ name, text }: Source): Mapping["span"] {
  return { source: name, start: 0, end: Math.max(0, text.indexOf("\n")) };
}

/** The agent of this id in the org file; null if it has none. */
export function memberFile(
  id: string,
  workspace: string | null,
  file: OrgFile | null,
): { readonly path: string; readonly name: string } | null {
  if (file === null || workspace === null || !file.org.agents.some((agent) => agent.id === id)) return null;
  return { path: join(workspace, file.path), name: id };
}
