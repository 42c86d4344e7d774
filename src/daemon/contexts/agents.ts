// The power of the agent tools: the agents of a workspace, as they are on disk and in the state.
import { join } from "node:path";
import { openAgents } from "../../agents/disk/agents.ts";
import { AGENTS, agentIds, isPlainRecord } from "../../agents/disk/workspace.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { parseAgentId } from "../../core/base/agent-id.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { textOf } from "../../core/notation/scope/scope-values.ts";
import { entryOf } from "../../core/notation/tree.ts";
import type { Ledger } from "../../core/ports/stores/ledger.ts";
import type { AgentName, LinkStore } from "../../core/ports/stores/link-store.ts";
import type { EntryKind, LogEntry } from "../../core/ports/stores/log.ts";
import { editFile } from "../../platform/edit-file.ts";
import type { UserFolders } from "../../platform/folders.ts";
import { useDenial, useFailure, useResult } from "../../runtime/context/use-result.ts";
import { readFrontmatter } from "../../text/frontmatter.ts";
import { sourceCharactersMax } from "../../text/read.ts";
import type { AgentAccess, AgentPowers, FoundAgent, InstructResult } from "../../tools/agents/agent-access.ts";
import { heldGrants } from "../../tools/agents/held-grants.ts";
import { descriptionCharactersMax } from "../../tools/agents/limits.ts";
import { isVisibleTo, madeName } from "../calls/agent-names.ts";
import { Holdings } from "../calls/holding.ts";
import type { Daemon } from "../daemon.ts";
import type { AgentRecordWriter, Records } from "../parts.ts";
import type { Session } from "../session.ts";
import type { PowersOptions } from "../tools/daemon-tool.ts";
import { turn } from "./records.ts";

interface AgentPowersOptions {
  readonly home: string | null;
  readonly folders: UserFolders;
  readonly records: Records;
  readonly links: LinkStore;
  readonly ledger: Pick<Ledger, "append">;
  readonly agentRecords: Pick<AgentRecordWriter, "remove">;
  held(session: Session): ReturnType<Daemon["held"]>;
  entry(kind: EntryKind, outcome: string, of: string | null, more: JsonObject): LogEntry;
  now(): number;
}

export function agentPowers(options: AgentPowersOptions): (call: PowersOptions) => AgentPowers {
  const holdings = new Holdings(options.records, options.links);
  return ({ session, isDecided, refuse, taint }) => {
    const { workspace, agent: caller } = session.facts.name;
    const { user } = session.facts;
    const nameOf = (agent: string): AgentName => {
      const plain: AgentName = { workspace, agent };
      const isRecord = workspace !== null && parseAgentId(agent).ok && isPlainRecord(workspace, agent);
      return isRecord ? plain : (madeName(options.links, plain, user) ?? plain);
    };
    const authorityOf: AgentAccess["authorityOf"] = (id) => holdings.passable(nameOf(id)).map(({ chain }) => chain);
    return {
      agents: {
        ...{ caller, hasWorkspace: workspace !== null, isDecided, refuse, taint, pause: turn, authorityOf },
        held: () => {
          const held = options.held(session);
          return held === null ? null : { ...held.holding, moment: held.moment };
        },
        ids: () => (workspace === null ? [] : idsIn(options, workspace, user)),
        find: (id) => find(options, nameOf(id)),
        grantsOf: (id, found) => [...heldGrants(authorityOf(id)), ...(found.kind === "record" ? found.written : [])],
        description: (id) =>
          workspace === null ? { text: null, isTrusted: true } : description(options, workspace, id),
        instruct: async (id, found, body, version) =>
          found.kind === "record"
            ? instructRecord(options, nameOf(id), found, body)
            : instructMade(options, session, nameOf(id), { before: found.body, body, version }),
        remove: (id, found) => remove(options, session, nameOf(id), found),
      },
    };
  };
}

function find(options: AgentPowersOptions, name: AgentName): FoundAgent | null {
  const { workspace, agent } = name;
  if (workspace === null || !parseAgentId(agent).ok) return null;
  const loaded = isPlainRecord(workspace, agent) ? open(options, workspace).loadAgent(agent) : null;
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
  const made = options.links.made(name);
  return made === null || made.ended !== null ? null : { kind: "made", body: made.body };
}

/** Those with a record, and those made for this user or for none. */
function idsIn({ links }: AgentPowersOptions, workspace: string, user: string | null): readonly string[] {
  const made = links
    .allMade()
    .filter(({ name, ended }) => name.workspace === workspace && ended === null && isVisibleTo(name, user));
  return [
    ...new Set([...agentIds(workspace).filter((id) => parseAgentId(id).ok), ...made.map(({ name }) => name.agent)]),
  ].sort();
}

function description(
  options: AgentPowersOptions,
  workspace: string,
  id: string,
): ReturnType<AgentAccess["description"]> {
  const loaded = isPlainRecord(workspace, id) ? open(options, workspace).loadAgent(id) : null;
  if (loaded?.ok !== true) return { text: null, isTrusted: true };
  const { source, trust } = loaded.value;
  const { tree } = readFrontmatter(source).read;
  const entry = tree?.kind === "map" ? entryOf(tree, "description") : null;
  const text = entry === null ? null : (textOf(entry, new Diagnostics())?.text ?? null);
  const kind = trust?.status.kind;
  return {
    text: text === null ? null : text.replace(/\s+/g, " ").slice(0, descriptionCharactersMax),
    isTrusted: text === null || kind === "trusted" || kind === "own",
  };
}

function instructRecord(
  { folders: { state } }: AgentPowersOptions,
  { workspace, agent }: AgentName,
  found: FoundAgent & { readonly kind: "record" },
  body: string,
): InstructResult {
  if (workspace === null || state === null || !isPlainRecord(workspace, agent)) return "changed";
  const place = { state, inside: join(workspace, AGENTS), charactersMax: sourceCharactersMax };
  const before = found.text.slice(0, found.bodyStart);
  const head = before.endsWith("\n") ? before : `${before}\n`;
  const after = head + body;
  if (readFrontmatter({ name: agent, text: after }).body.start !== head.length)
    return { ok: false, message: "only a person can change its record" };
  const edited = editFile<"changed">(join(workspace, AGENTS, `${agent}.md`), place, (text) =>
    text === found.text ? { kind: "write", text: after } : { kind: "refuse", refusal: "changed" },
  );
  if (edited.kind === "refused") return edited.refusal;
  return edited.kind === "done" ? { ok: true } : { ok: false, message: `its record ${edited.message}` };
}

async function instructMade(
  { entry, links }: AgentPowersOptions,
  session: Session,
  name: AgentName,
  { before, body, version }: { readonly before: string; readonly body: string; readonly version: string },
): Promise<InstructResult> {
  const more = { agent: name.agent, version, clean: session.isClean };
  const instructed = { ...entry("delegation", "instructed", name.agent, more), ...session.who() };
  const stored = await links.instruct(name, before, body, instructed);
  if (!stored.ok) return stored;
  return stored.value === null ? "changed" : { ok: true };
}

async function remove(
  { entry, links, ledger, agentRecords, now }: AgentPowersOptions,
  session: Session,
  name: AgentName,
  found: FoundAgent,
): ReturnType<AgentAccess["remove"]> {
  const isMade = links.made(name)?.ended === null;
  const entryOfAgent = (outcome: string, of: string): LogEntry => ({
    ...entry("delegation", outcome, of, { agent: name.agent, made: isMade }),
    ...session.who(),
  });
  // INVARIANT: the entry is on disk before the agent is gone.
  const noted = await ledger.append([entryOfAgent("deleted", name.agent)]);
  if (!noted.ok) return useFailure(null, noted);
  const removed = found.kind === "made" ? null : agentRecords.remove(name);
  if (removed?.ok === false) return useDenial("not_available", null, removed.message);
  for (const link of links.heldBy(name)) {
    const revoked = await links.revoke(link.id, now(), entryOfAgent("revoked", link.id));
    if (!revoked.ok) return useFailure(null, revoked);
  }
  const ended = isMade ? await links.end(name, now(), entryOfAgent("ended", name.agent)) : null;
  if (ended?.ok === false) return useFailure(null, ended);
  return useResult({ record: removed?.value ?? null });
}

function open({ home, folders, records, now }: AgentPowersOptions, workspace: string): ReturnType<typeof openAgents> {
  const moment: Moment = { now: now(), clean: true, generation: 0, revoked: null, exhausted: null };
  return openAgents({ cwd: workspace, workspace, home, folders, moment, readingAt: records.readingAt });
}
