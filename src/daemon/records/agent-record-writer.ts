// What agents' tools write into the records of a workspace: grants, and records of agents they made. INVARIANT: nothing of it
// has an effect before a person trusts it; a record is found by its id alone, and never written through a symbolic link.
import { join } from "node:path";
import { AgentFiles } from "../../agents/disk/agent-files.ts";
import { openAgents } from "../../agents/disk/agents.ts";
import { hasPlainFolders, isPlainRecord } from "../../agents/disk/workspace.ts";
import { type EditContext, editRecord, type RecordEdit } from "../../agents/edit/edit.ts";
import { scalarText } from "../../agents/edit/edit-scalar.ts";
import { readGrantSpec } from "../../agents/edit/edit-spec.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { parseAgentId } from "../../core/base/agent-id.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { Source } from "../../core/notation/source.ts";
import type { AgentName } from "../../core/ports/stores/link-store.ts";
import type { UserFolders } from "../../platform/folders.ts";
import { readFrontmatter } from "../../text/frontmatter.ts";
import { sourceCharactersMax } from "../../text/read.ts";
import type { AgentRecordWriter, Records } from "../parts.ts";

interface RecordWriterOptions {
  readonly home: string | null;
  readonly folders: UserFolders;
  readonly records: Records;
  now(): number;
}

export function agentRecordWriter({ home, folders, records, now }: RecordWriterOptions): AgentRecordWriter {
  const filesOf = (workspace: string): AgentFiles =>
    new AgentFiles({ cwd: workspace, workspace, state: folders.state, charactersMax: sourceCharactersMax });
  const openedAt = (workspace: string): ReturnType<ReturnType<typeof openAgents>["opened"]> => {
    const moment: Moment = { now: now(), clean: true, generation: 0, revoked: null, exhausted: null };
    const { readingAt } = records;
    return openAgents({ cwd: workspace, workspace, home, folders, moment, readingAt }).opened();
  };
  const groundOf = (workspace: string, agent: string): EditContext => {
    const moment: Moment = { now: now(), clean: true, generation: 0, revoked: null, exhausted: null };
    const reading = { ...openedAt(workspace).project.readingOf(agent), name: agent };
    return { reading, moment, read: (source) => readFrontmatter(source).read };
  };
  /** INVARIANT: in a folder that needs no trust nothing is written: it would count at once, and no person would have seen it. */
  const needsTrust = (workspace: string): boolean => openedAt(workspace).trusted !== null;
  const isRecord = (workspace: string, agent: string): boolean =>
    parseAgentId(agent).ok && isPlainRecord(workspace, agent);
  return {
    grant: ({ workspace, agent }, specs, limits) => {
      if (workspace === null || !isRecord(workspace, agent)) return refuse("bad_value", NO_RECORD);
      if (!needsTrust(workspace)) return refuse("bad_value", OWN_FOLDER);
      const context = groundOf(workspace, agent);
      const edited = filesOf(workspace).edit<string>(pathOf(workspace, agent), (source) => {
        const text = granted(source, specs, limits, context);
        return text.ok ? { kind: "write", text: text.value } : { kind: "refuse", refusal: text.message };
      });
      if (edited.kind === "done") return done(fileOf(agent));
      return refuse("bad_value", edited.kind === "refused" ? edited.refusal : edited.message);
    },
    create: ({ workspace, agent }, specs, limits, instructions) => {
      if (workspace === null) return refuse("bad_value", NO_RECORD);
      if (!needsTrust(workspace)) return refuse("bad_value", OWN_FOLDER);
      if (!hasPlainFolders(workspace, agent)) return refuse("bad_value", LINKED);
      const { reading } = groundOf(workspace, agent);
      const limited = specs.map((spec) => readGrantSpec(spec, limits, { reading, root: null }));
      const bad = limited.find((spec) => !spec.ok);
      if (bad?.ok === false) return refuse("bad_value", bad.message);
      const texts = limited.flatMap((spec) => (spec.ok ? [spec.value.text] : []));
      const created = filesOf(workspace).create(agent, recordText(texts, instructions));
      if (created.kind === "done") return done(fileOf(agent));
      return refuse("bad_value", created.kind === "refused" ? created.refusal : created.message);
    },
    remove: ({ workspace, agent }) => {
      if (workspace === null || !isRecord(workspace, agent)) return refuse("bad_value", NO_RECORD);
      const files = filesOf(workspace);
      const path = pathOf(workspace, agent);
      const found = files.read(path);
      if (!found.ok) return refuse("bad_value", found.message);
      const removed = files.remove(path, found.value.text);
      if (removed.kind === "done") return done(fileOf(agent));
      return refuse("bad_value", removed.kind === "refused" ? removed.refusal : removed.message);
    },
  };
}

const NO_RECORD = "the agent has no record of its own here";
const OWN_FOLDER =
  "records in this folder are in effect without trust, so only a person may write them: call this without `write`";
const LINKED = "a folder in the path of its record is a symbolic link, or not a folder";

/** By its path: an id with a slash and a dot could also name another file of the project. */
function pathOf(workspace: string, agent: string): string {
  return join(workspace, fileOf(agent));
}

function fileOf(agent: AgentName["agent"]): string {
  return `.ambit/agents/${agent}.md`;
}

/** All of the specs, or none: each edit is proved on the text that the one before it left. */
function granted(
  source: Source,
  specs: readonly string[],
  limits: Extract<RecordEdit, { kind: "grant" }>["limits"],
  context: EditContext,
): Result<string> {
  let { text } = source;
  for (const spec of specs) {
    const edit = editRecord({ name: source.name, text }, { kind: "grant", spec, limits }, context);
    if (edit.kind === "refused") return refuse("bad_value", edit.message);
    if (edit.kind === "edited") text = edit.text;
  }
  return done(text);
}

function recordText(specs: readonly string[], instructions: string): string {
  const list = specs.map((spec) => `  - ${scalarText(spec, false)}\n`).join("");
  return `---\nclass: agent\ncapabilities:${specs.length === 0 ? " []\n" : `\n${list}`}---\n\n${instructions.trimStart()}\n`;
}
