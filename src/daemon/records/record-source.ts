// Reads agents and users from disk for the daemon; values are read again only after a change.
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { openAgents } from "../../agents/disk/agents.ts";
import { ANONYMOUS, readSessionCaveats } from "../../agents/disk/caveats.ts";
import { namedLinks } from "../../agents/disk/named-links.ts";
import { ORG_PATHS, readOrgTriggers } from "../../agents/disk/org-file.ts";
import { openTrust } from "../../agents/disk/trust-file.ts";
import { isMember, readUser, userPath } from "../../agents/disk/user-files.ts";
import { AGENTS, agentIds, findAgent, findWorkspace } from "../../agents/disk/workspace.ts";
import { pathText } from "../../core/authority/axes/path.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import type { Config } from "../../core/notation/config/config.ts";
import type { Reading, RealRoot } from "../../core/notation/reading.ts";
import type { Source } from "../../core/notation/source.ts";
import type { AgentName } from "../../core/ports/stores/link-store.ts";
import type { OrgTriggers } from "../../org/schedules/file-schedule.ts";
import { toAscii } from "../../platform/ascii.ts";
import { sha256 } from "../../platform/digest.ts";
import type { UserFolders } from "../../platform/folders.ts";
import { machinePathSettings } from "../../platform/path-settings.ts";
import { realRoot } from "../../platform/real-path.ts";
import { TriggerTable } from "../../sandbox/plan/triggers/trigger-table.ts";
import type { RecordRead, RecordResult, Records, UserRead } from "../parts.ts";
import { writtenTriggers } from "./change-class.ts";
import { presenceReason } from "./presence-reason.ts";
import { NO_SOURCES, RecordCache, type Sources, TurnCounter } from "./record-cache.ts";

export interface RecordSourceOptions {
  readonly home: string | null;
  readonly folders: UserFolders;
  /** Milliseconds of a monotonic clock. */
  elapsed(): number;
  now(): number;
}

const tablesMax = 64;

/** The daemon's records, and for its file tools the trigger paths of the configurations at a folder. */
export interface RecordSource extends Records {
  triggers(cwd: string): TriggerTable;
}

export function recordSource({ home, folders, elapsed, now }: RecordSourceOptions): RecordSource {
  const turns = new TurnCounter();
  const records = new RecordCache<RecordResult>(turns, elapsed);
  const users = new RecordCache<UserRead | null>(turns, elapsed);
  const caveats = new RecordCache<RecordRead>(turns, elapsed);
  const required = new RecordCache<boolean>(turns, elapsed);
  const grounds = new RecordCache<(base: string) => Reading>(turns, elapsed);
  const places = new RecordCache<string | null>(turns, elapsed);
  const tables = new RecordCache<TriggerTable>(turns, elapsed);
  const shadows = new RecordCache<Config | null>(turns, elapsed);
  const orgTriggers = new RecordCache<OrgTriggers>(turns, elapsed);
  const sameTables = new Map<string, TriggerTable>();

  const workspaceOf = (cwd: string): string | null =>
    places.get(
      cwd,
      () => NO_SOURCES,
      () => findWorkspace(realPath(cwd) ?? cwd),
    );
  const readingAt = (cwd: string): Reading => {
    const workspace = workspaceOf(cwd);
    const at = grounds.get(
      workspace ?? "",
      () => NO_SOURCES,
      () => {
        const groundAt = machinePathSettings({ home, folders, workspace });
        return (base: string): Reading => ({ pathSettings: groundAt(base), toAscii, ceiling: null, realRoot });
      },
    );
    return at(cwd);
  };
  const moment = (): Moment => ({ now: now(), clean: true, generation: 0, revoked: null, exhausted: null });

  const recordSources = (cwd: string, name: string | null): Sources => {
    const workspace = workspaceOf(cwd);
    const file = name === null ? null : findAgent(name, cwd, workspace);
    const around = workspace === null ? [] : [".ambit/config.yml", ...ORG_PATHS].map((path) => join(workspace, path));
    const ours = folders.config === null ? [] : [join(folders.config, "config.yml")];
    const trust = folders.state === null ? NO_SOURCES : trustSources(folders.state, workspace);
    const agentFolders = workspace === null ? [] : [join(workspace, AGENTS)];
    return [...(file === null ? [] : [file.path]), ...around, ...ours, ...agentFolders, ...trust];
  };

  const readRecord = (cwd: string, name: string): RecordResult => {
    const workspace = workspaceOf(cwd);
    const at = moment();
    const linkedRoots: (readonly string[])[] = [];
    const notedRoot: RealRoot = (root) => {
      const real = realRoot(root);
      if (real !== null && pathText(real) !== pathText(root)) linkedRoots.push(root);
      return real;
    };
    const agents = openAgents({
      cwd,
      workspace,
      home,
      folders,
      moment: at,
      readingAt: (base) => ({
        ...readingAt(cwd),
        pathSettings: readingAt(base).pathSettings,
        realRoot: notedRoot,
      }),
    });
    const loaded = agents.loadAgent(name);
    if (!loaded.ok) return loaded;
    const { agent, source, trust } = loaded.value;
    const file = findAgent(name, cwd, workspace);
    const owner =
      file?.isMember === true && workspace !== null
        ? { workspace: realPath(workspace) ?? workspace, agent: agent.id }
        : ownerOf(file?.path ?? name, agent.id);
    const prefix = `record ${owner.workspace ?? ""}#${owner.agent}`;
    const errors = agent.diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
    const isWaiting = trust?.status.kind === "untrusted" || trust?.status.kind === "waiting";
    const untrusted =
      trust?.status.kind === "untrusted"
        ? ["this project's files have no effect until you trust it: ambit trust"]
        : trust?.status.kind === "waiting"
          ? ["grants added since the project was trusted have no effect: ambit trust"]
          : [];
    return {
      ok: true,
      value: {
        name: owner,
        authority: agent.authority.map((chain, at) => namedLinks(chain, prefix, at)),
        written: isWaiting ? trust.written.authority.map((chain, at) => namedLinks(chain, prefix, at)) : null,
        approvers: agent.approvers ?? { need: 1, of: null },
        needsReview: agent.needsReview,
        policyLimits: agent.policyLimits ?? new Map(),
        budgets: agent.budgets ?? [],
        notes: [...errors, ...untrusted],
        reading: { ...readingAt(cwd), workingRoot: agent.workingRoot },
        linkedRoots,
        stamp: sha256(source.text),
        placeOf: placesIn(source),
      },
    };
  };

  const userConfig = (): Config | null =>
    openAgents({ cwd: home ?? "/", workspace: null, home, folders, moment: moment(), readingAt }).user()?.config ??
    null;

  const readTable = (cwd: string): TriggerTable => {
    const agents = openAgents({ cwd, workspace: workspaceOf(cwd), home, folders, moment: moment(), readingAt });
    const written = writtenTriggers(agents);
    const key = JSON.stringify(written);
    // The same rules give the same table object: values derived from it stay valid.
    const table = sameTables.get(key) ?? new TriggerTable(...written);
    if (sameTables.size >= tablesMax) sameTables.clear();
    sameTables.set(key, table);
    return table;
  };

  const readUserRequired = (cwd: string): boolean =>
    openAgents({ cwd, workspace: workspaceOf(cwd), home, folders, moment: moment(), readingAt }).opened().project
      .isUserRequired;

  const readUserRecord = (name: string): UserRead | null => {
    const read = readUser(folders.config, name, readingAt(home ?? "/"), moment());
    if (read === null) return null;
    const { link, facts, stamp } = read;
    return { authority: [[link]], facts, stamp, isMemberOf: (workspace) => isMember(facts, workspace, home) };
  };

  const readCaveats = (cwd: string, text: string, account: string): RecordRead => {
    const workspace = workspaceOf(cwd);
    const { read, notes } = readSessionCaveats({ cwd, workspace, home, folders, moment: moment(), readingAt }, text);
    return {
      name: { workspace, agent: ANONYMOUS },
      authority: read.authority.map((chain, at) => namedLinks(chain, `caveats ${account}`, at)),
      written: null,
      approvers: { need: 1, of: null },
      needsReview: read.needsReview,
      policyLimits: new Map(),
      budgets: [],
      notes,
      reading: readingAt(cwd),
      stamp: sha256(text),
      linkedRoots: [],
      placeOf: () => null,
    };
  };

  return {
    record: (cwd, name) =>
      records.get(
        `${cwd}\0${name}`,
        () => recordSources(cwd, name),
        () => readRecord(cwd, name),
      ),
    caveats: (cwd, text, account) =>
      caveats.get(
        `${cwd}\0${account}\0${text}`,
        () => recordSources(cwd, null),
        () => readCaveats(cwd, text, account),
      ),
    user: (name) =>
      users.get(
        name,
        () => [userPath(folders.config, name)].filter((path) => path !== null),
        () => readUserRecord(name),
      ),
    triggers: (cwd) =>
      tables.get(
        cwd,
        () => recordSources(cwd, null),
        () => readTable(cwd),
      ),
    agentIds: (cwd) => agentIds(workspaceOf(cwd)),
    isUserRequired: (cwd) =>
      required.get(
        cwd,
        () => recordSources(cwd, null),
        () => readUserRequired(cwd),
      ),
    readingAt,
    workspaceOf,
    orgTriggers: (workspace) =>
      orgTriggers.get(
        workspace,
        () => recordSources(workspace, null),
        () => readOrgTriggers(workspace, openTrust(workspace, folders, sha256)),
      ),
    notify: () => userConfig()?.notify ?? [],
    shadow: (agent) => {
      const config = shadows.get(
        "",
        () => recordSources(home ?? "/", null),
        () => shadowConfig(userConfig()),
      );
      const end = config?.shadow.get(agent);
      return config === null || end === undefined ? null : { end, root: config.sandbox };
    },
    presenceReason: () => presenceReason(userConfig()),
  };
}

/** A configuration with an error puts no agent into shadow mode. */
function shadowConfig(config: Config | null): Config | null {
  return config === null || config.broken || config.mode !== "shadow" ? null : config;
}

/**
 * Identity of a record by the real path of its file: a symlink to a workspace, a path from another folder and an id in it are
 * one agent, with one budget.
 */
function ownerOf(path: string, id: string): AgentName {
  const real = realPath(path) ?? path;
  const at = real.lastIndexOf(`/${AGENTS}/`);
  return at > 0 ? { workspace: real.slice(0, at), agent: id } : { workspace: null, agent: real };
}

/** Null if it cannot be resolved. */
function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** Line numbers are computed once per position: many calls are decided by few grants. */
function placesIn({ name, text }: Source): RecordRead["placeOf"] {
  const known = new Map<number, string>();
  return (span) => {
    if (span === null || span.source !== name) return null;
    const { start } = span;
    const place = known.get(start) ?? `${name}:${text.slice(0, start).split("\n").length}`;
    known.set(start, place);
    return place;
  };
}

/** The folder of all trust and the one of this workspace: a change of trust renames a file in it. */
function trustSources(state: string, workspace: string | null): Sources {
  if (workspace === null) return NO_SOURCES;
  const real = realRoot(workspace.split("/").filter((part) => part !== ""));
  const name = real === null ? null : encodeURIComponent(`/${real.join("/")}`);
  const folder = name === null || name.length > 200 ? null : join(state, "trust", name);
  return [join(state, "trust"), ...(folder === null ? [] : [folder, join(folder, "project.json")])];
}
