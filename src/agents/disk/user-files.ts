// Records of users: `users/NAME.md` in the user's own configuration folder. One more limit for sessions on behalf of NAME.

import { readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { ANY } from "../../core/authority/axes/scope.ts";
import { type CompiledLink, compile, type Moment } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import { errorCode } from "../../core/base/error-code.ts";
import { type Diagnostic, Diagnostics } from "../../core/notation/diagnostic.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { NO_FACTS, readUserFacts, type UserFacts } from "../../core/notation/record/user-record.ts";
import type { Source } from "../../core/notation/source.ts";
import { sha256 } from "../../platform/digest.ts";
import { readTextFile } from "../../platform/files.ts";
import { outOfReach } from "../../platform/path-target.ts";
import { sourceCharactersMax } from "../../text/read.ts";
import { agentOf, treeOf } from "./agent-text.ts";

const recordsMax = 10_000;

export interface UserRecord {
  readonly source: Source;
  /** The ceiling; of a record that is not valid, nothing. */
  readonly link: CompiledLink;
  readonly facts: UserFacts;
  readonly diagnostics: readonly Diagnostic[];
  readonly stamp: string;
}

export function userPath(config: string | null, name: string): string | null {
  return config === null ? null : join(config, "users", `${name}.md`);
}

/** Names of the users that have a record; null if unknown. */
export function userNames(config: string | null): readonly string[] | null {
  if (config === null) return [];
  try {
    const names = readdirSync(join(config, "users")).filter((name) => name.endsWith(".md"));
    return names.length > recordsMax ? null : names.map((name) => name.slice(0, -".md".length)).sort();
  } catch (error) {
    return errorCode(error) === "ENOENT" ? [] : null;
  }
}

/** Null if the user has no record. An existing but invalid record limits to nothing. */
export function readUser(config: string | null, name: string, reading: Reading, moment: Moment): UserRecord | null {
  const path = userPath(config, name);
  const content = path === null ? null : readTextFile(path, sourceCharactersMax);
  if (content === null || path === null) return null;
  if (!content.ok && content.code === "not_found" && outOfReach(path) === null) return null;
  if (!content.ok) return refusedRecord({ name: path, text: "" }, name, content.message, []);
  const source: Source = { name: path, text: content.text };
  const { grants, refused, diagnostics } = agentOf(source, name, ".md", reading, moment);
  const found = new Diagnostics();
  const tree = treeOf(source);
  const facts = tree?.kind === "map" ? readUserFacts(tree, found) : NO_FACTS;
  const all = [...diagnostics, ...found.list];
  const stamp = sha256(content.text);
  if (refused || facts === null || all.some(({ severity }) => severity === "error"))
    return refusedRecord(source, name, stamp, all);
  return { source, link: ceilingLink(name, grants), facts, diagnostics: all, stamp };
}

function refusedRecord(source: Source, name: string, stamp: string, all: readonly Diagnostic[]): UserRecord {
  return { source, link: ceilingLink(name, []), facts: NO_FACTS, diagnostics: all, stamp };
}

/** A record that does not mention tools does not limit which tools are called. */
function ceilingLink(name: string, grants: readonly Grant[]): CompiledLink {
  const meant = grants.map((grant): Grant => {
    const isImplied = grant.verb.verb === "tool.invoke" && grant.implied !== null;
    return isImplied ? { ...grant, scopes: grant.verb.axes.map(() => ANY) } : grant;
  });
  return compile({
    id: `user ${name}`,
    role: "limit",
    issuer: "person",
    holder: "*",
    grants: meant,
    validity: ALWAYS,
    calls: null,
  });
}

/** Whether sessions in this workspace may act for the user. INVARIANT: compared by real paths; a list allows no session outside. */
export function isMember({ workspaces }: UserFacts, workspace: string | null, home: string | null): boolean {
  if (workspaces === null) return true;
  const real = workspace === null ? null : realPath(workspace);
  return real !== null && workspaces.some((written) => realPath(expanded(written, home)) === real);
}

/** Whether a workspace of a user's record exists. */
export function isFolder(written: string, home: string | null): boolean {
  return realPath(expanded(written, home)) !== null;
}

function expanded(path: string, home: string | null): string {
  return path === "~" || path.startsWith("~/") ? join(home ?? "/nonexistent", path.slice(1)) : path;
}

/** Null if it cannot be resolved. */
function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
