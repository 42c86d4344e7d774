// The agents of a workspace as other agents' tools see them: by id, as they are on disk and in the state.
import { join } from "node:path";
import { openAgents } from "../../agents/disk/agents.ts";
import { AGENTS, agentIds, isPlainRecord } from "../../agents/disk/workspace.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { parseAgentId } from "../../core/base/agent-id.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { textOf } from "../../core/notation/scope/scope-values.ts";
import { entryOf } from "../../core/notation/tree.ts";
import type { AgentName, LinkStore } from "../../core/ports/stores/link-store.ts";
import { editFile } from "../../platform/edit-file.ts";
import type { UserFolders } from "../../platform/folders.ts";
import { readFrontmatter } from "../../text/frontmatter.ts";
import { sourceCharactersMax } from "../../text/read.ts";
import { heldGrants } from "../../tools/agents/held-grants.ts";
import { descriptionCharactersMax } from "../../tools/agents/limits.ts";
import { Holdings } from "../calls/holding.ts";
import type { Records } from "../parts.ts";

export interface AgentDirectoryOptions {
  readonly home: string | null;
  readonly folders: UserFolders;
  readonly records: Records;
  readonly links: LinkStore;
  now(): number;
}

/** An agent by its id. A record takes precedence over a created agent with the same id. */
export type FoundAgent =
  | { readonly kind: "record"; readonly text: string; readonly bodyStart: number; readonly written: readonly Grant[] }
  | { readonly kind: "made"; readonly body: string }
  /** Its holding cannot be determined from its record. */
  | { readonly kind: "broken" };

export class AgentDirectory {
  readonly #asked: AgentDirectoryOptions;
  readonly #holdings: Holdings;

  constructor(asked: AgentDirectoryOptions) {
    this.#asked = asked;
    this.#holdings = new Holdings(asked.records, asked.links);
  }

  find(name: AgentName): FoundAgent | null {
    const { workspace, agent } = name;
    if (workspace === null || !parseAgentId(agent).ok) return null;
    const loaded = isPlainRecord(workspace, agent) ? this.#open(workspace).loadAgent(agent) : null;
    if (loaded?.ok === true) {
      const { agent: counted, source, trust } = loaded.value;
      if (counted.id !== agent) return null;
      const { read, body } = readFrontmatter(source);
      const written = trust?.written ?? counted;
      const isBroken = written.refused || written.diagnostics.some(({ severity }) => severity === "error");
      if (read.tree === null || isBroken) return { kind: "broken" };
      // What it would hold once a person trusts it counts, too.
      return { kind: "record", text: source.text, bodyStart: body.start, written: written.grants };
    }
    const made = this.#asked.links.made(name);
    return made === null || made.ended !== null ? null : { kind: "made", body: made.body };
  }

  /** Everything it may ever use: its record as written, and its delegations. */
  grantsOf(name: AgentName, found: FoundAgent): readonly Grant[] {
    return [...heldGrants(this.authorityOf(name)), ...(found.kind === "record" ? found.written : [])];
  }

  authorityOf(name: AgentName): Authority {
    return this.#holdings.passable(name).map(({ chain }) => chain);
  }

  /** Ids of all agents, sorted: those with a record, and created ones. */
  ids(workspace: string): readonly string[] {
    const made = this.#asked.links
      .allMade()
      .filter(({ name, ended }) => name.workspace === workspace && ended === null);
    return [
      ...new Set([...agentIds(workspace).filter((id) => parseAgentId(id).ok), ...made.map(({ name }) => name.agent)]),
    ].sort();
  }

  /** A record's purpose, and whether a person trusts its current text. */
  description(workspace: string, id: string): { readonly text: string | null; readonly isTrusted: boolean } {
    const loaded = isPlainRecord(workspace, id) ? this.#open(workspace).loadAgent(id) : null;
    if (loaded?.ok !== true) return { text: null, isTrusted: true };
    const { source, trust } = loaded.value;
    const { tree } = readFrontmatter(source).read;
    const entry = tree?.kind === "map" ? entryOf(tree, "description") : null;
    const text = entry === null ? null : (textOf(entry, new Diagnostics())?.text ?? null);
    const kind = trust?.standing.kind;
    return {
      text: text === null ? null : text.replace(/\s+/g, " ").slice(0, descriptionCharactersMax),
      isTrusted: text === null || kind === "trusted" || kind === "own",
    };
  }

  /** Replaces the text after the frontmatter, if the file is unchanged. INVARIANT: the frontmatter stays byte for byte as it is. */
  instruct(
    { workspace, agent }: AgentName,
    found: FoundAgent & { readonly kind: "record" },
    body: string,
  ): InstructResult {
    const { state } = this.#asked.folders;
    if (workspace === null || state === null || !isPlainRecord(workspace, agent)) return "changed";
    const place = { state, inside: join(workspace, AGENTS), charactersMax: sourceCharactersMax };
    const head = found.text.slice(0, found.bodyStart);
    const kept = head.endsWith("\n") ? head : `${head}\n`;
    const after = kept + body;
    if (readFrontmatter({ name: agent, text: after }).body.start !== kept.length)
      return { ok: false, message: "only a person can change its record" };
    const edited = editFile<"changed">(join(workspace, AGENTS, `${agent}.md`), place, (text) =>
      text === found.text ? { kind: "write", text: after } : { kind: "refuse", refusal: "changed" },
    );
    if (edited.kind === "refused") return edited.refusal;
    return edited.kind === "done" ? { ok: true } : { ok: false, message: `its record ${edited.message}` };
  }

  #open(workspace: string): ReturnType<typeof openAgents> {
    const { home, folders, records, now } = this.#asked;
    const moment: Moment = { now: now(), clean: true, generation: 0, revoked: null, exhausted: null };
    return openAgents({ cwd: workspace, workspace, home, folders, moment, readingAt: records.readingAt });
  }
}

export type InstructResult = { readonly ok: true } | { readonly ok: false; readonly message: string } | "changed";
