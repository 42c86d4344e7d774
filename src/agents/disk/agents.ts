// The agents of this machine: found, read inside their configuration, and limited to what is trusted.

import { extname, join, relative, resolve, sep } from "node:path";
import type { Moment } from "../../core/authority/compiled.ts";
import { alikeAgentId } from "../../core/base/agent-id.ts";
import { nearestName } from "../../core/notation/nearest.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { Source } from "../../core/notation/source.ts";
import type { Step } from "../../core/ports/progress.ts";
import type { AuthorityFile, TrustStore } from "../../core/ports/trust.ts";
import type { Org } from "../../org/org.ts";
import { sha256 } from "../../platform/digest.ts";
import { readTextFile } from "../../platform/files.ts";
import type { UserFolders } from "../../platform/folders.ts";
import { lazy } from "../../platform/lazy.ts";
import { TOOLS_TEXT, toolSources } from "../../sandbox/tool-host/sources.ts";
import { sourceCharactersMax } from "../../text/read.ts";
import type { ConfigRead } from "../project/hoist-levels.ts";
import { agentFromOrg } from "../project/org-agent.ts";
import { agentNameOf, memberPath, Project } from "../project/project.ts";
import { type ConfigText, type Readers, readLevel } from "../project/project-moment.ts";
import { reviewOf } from "../project/review.ts";
import { agentOf, configOf } from "./agent-text.ts";
import { authorityFiles, SERVERS_PATH } from "./authority-files.ts";
import { readConfigFile } from "./config-file.ts";
import type { LoadedAgent, LoadResult, OpenedProject, SetResult } from "./loaded-agent.ts";
import { ORG_PATHS, type OrgFile, orgOf, readOrgFile, readOrgTriggers } from "./org-file.ts";
import { revisionTexts } from "./revision.ts";
import { projectReading, readServers } from "./server-files.ts";
import { openTrust } from "./trust-file.ts";
import { AGENTS, type AgentFile, agentIds, agentName, findAgent, findAgents, isDefinedTwice } from "./workspace.ts";

export interface AgentsContext {
  readonly cwd: string;
  readonly workspace: string | null;
  readonly home: string | null;
  readonly folders: UserFolders;
  readonly moment: Moment;
  readingAt(base: string): Reading;
}

export interface Agents {
  readonly readers: Readers;
  /** A path as displayed to the user, short where possible. */
  nameOf(path: string): string;
  user(): ConfigRead | null;
  opened(): { readonly project: Project; readonly trusted: TrustStore | null; readonly config: ConfigText | null };
  openProject(step?: Step): OpenedProject | null;
  loadAgent(name: string): LoadResult;
  loadSet(name: string, step?: Step): SetResult;
}

export function openAgents({ cwd, workspace, home, folders, moment, readingAt }: AgentsContext): Agents {
  const readers: Readers = {
    config: configOf,
    agent: (source, name, inside) => agentOf(source, name, extname(source.name), inside, moment),
    member: (source, name, inside) => agentFromOrg(parsed(source), name, inside),
  };
  let last: { readonly source: Source; readonly org: Org } | null = null;
  /** Each agent of an org file is read from the same text, which is parsed once. */
  const parsed = (source: Source): Org => {
    if (last?.source.name !== source.name || last.source.text !== source.text) last = { source, org: orgOf(source) };
    return last.org;
  };
  const nameOf = (path: string): string => {
    const near = relative(cwd, path);
    return near.startsWith("..") ? path : near;
  };
  const user = lazy((): ConfigRead | null => {
    const text = folders.config === null ? null : readConfigFile(folders.config, sourceCharactersMax, nameOf);
    return text === null ? null : readLevel(text, "user", readingAt(home ?? "/"), readers);
  });
  /** Compared with its trusted version, or without one if it needs no trust. */
  const projectAt = (base: string, config: ConfigText | null, trusted: TrustStore | null): Project =>
    new Project({ readers, reading: readingAt(base), user: user(), config, trusted });
  const opened = lazy(() => {
    const config = workspace === null ? null : readConfigFile(join(workspace, ".ambit"), sourceCharactersMax, nameOf);
    const trusted = openTrust(workspace, folders, sha256);
    return { project: projectAt(workspace ?? cwd, config, trusted), trusted, config };
  });
  const org = lazy((): OrgFile | null => readOrgFile(workspace, nameOf));
  const openProject = (step?: Step): OpenedProject | null => {
    if (workspace === null) return null;
    const { project, trusted } = opened();
    const { files: texts, problems } = authorityFiles(workspace, sourceCharactersMax);
    // Tool code is trusted like grants: by its content.
    const tools = toolSources(workspace, project.config?.config.tools ?? []).text;
    const members = org()?.org.agents.map(({ id }) => ({
      path: memberPath(org()?.path ?? "", id),
      text: org()?.source.text ?? "",
    }));
    const files = [...texts, ...(members ?? []), ...(tools === null ? [] : [{ path: TOOLS_TEXT, text: tools }])];
    const review = reviewOf(project, files, trusted, sha256, step);
    return {
      workspace,
      review,
      store: trusted,
      user: user(),
      config: project.config,
      levels: project.levels,
      servers: serversIn(texts, workspace, readingAt(workspace)),
      triggers: readOrgTriggers(workspace, trusted),
      problems: [...problems, ...(org()?.problem == null ? [] : [org()?.problem ?? ""])],
    };
  };
  const read = (
    file: AgentFile,
  ): { readonly ok: true; readonly source: Source } | Extract<LoadResult, { ok: false }> => {
    const content = readTextFile(file.path, sourceCharactersMax);
    const name = nameOf(file.path);
    if (!content.ok) return { ok: false, message: `${name}: ${content.message}`, fix: null };
    return { ok: true, source: { name, text: content.text } };
  };
  const loadFile = (file: AgentFile): LoadResult => {
    const found = read(file);
    if (!found.ok) return found;
    const { source } = found;
    const { project } = opened();
    const inner = workspace === null ? null : relative(workspace, file.path).split(sep).join("/");
    const path = inner !== null && file.isMember === true ? memberPath(inner, file.name) : inner;
    const isOfProject = path !== null && agentNameOf(path) !== null;
    const trust = isOfProject ? project.agent(source, file.name, path) : project.given(source, file.name);
    return { ok: true, value: { agent: trust.agent, source, trust } };
  };
  /** Texts to be compared: each by itself, inside the configuration beside it, without limits. */
  const plainly = (project: Project, source: Source, name: string, isMember: boolean): LoadResult => ({
    ok: true,
    value: {
      agent: project.agent(source, name, isMember ? memberPath(ORG_PATHS[0] ?? "", name) : source.name).own,
      source,
    },
  });
  const loadSet = (name: string, step: Step = () => {}): SetResult => {
    const files = findAgents(name, cwd);
    if (files !== null) {
      const isOneFile = files[0]?.path === resolve(cwd, name);
      const beside = isOneFile ? null : readConfigFile(join(resolve(cwd, name), ".ambit"), sourceCharactersMax, nameOf);
      const project = projectAt(workspace ?? cwd, beside ?? opened().config, null);
      const results = files.map((file, at): LoadResult => {
        step(at, files.length);
        const found = read(file);
        return found.ok ? plainly(project, found.source, file.name, file.isMember === true) : found;
      });
      return setOf(results, isOneFile);
    }
    const texts = revisionTexts(name, cwd, workspace ?? cwd);
    if (texts === null) {
      const message = `there is no file, folder or git revision called ${JSON.stringify(name.slice(0, 200))}`;
      return { ok: false, message, fix: null };
    }
    const project = projectAt(workspace ?? cwd, texts.config, null);
    const written = texts.agents.map((source, at) => {
      step(at, texts.agents.length);
      return plainly(project, source, agentName(source.name), false);
    });
    const { org: orgText } = texts;
    const members = orgText === null ? [] : orgOf(orgText).agents.map(({ id }) => plainly(project, orgText, id, true));
    return setOf([...written, ...members], name.includes(":"));
  };
  return {
    readers,
    nameOf,
    user,
    opened,
    openProject,
    loadAgent: (name) => {
      const file = findAgent(name, cwd, workspace, org);
      if (file === null) return missing(name, agentIds(workspace, org));
      const isOwn =
        workspace !== null && (file.isMember === true || file.path.startsWith(join(workspace, AGENTS) + sep));
      if (isOwn && isDefinedTwice(file.name, workspace, org())) return twice(file.name);
      const other = isOwn ? alikeAgentId(file.name, agentIds(workspace, org)) : null;
      return other === null ? loadFile(file) : alike(file.name, other);
    },
    loadSet,
  };
}

function missing(name: string, known: readonly string[]): LoadResult {
  const nearest = nearestName(name, known);
  const listed = `agents here: ${known.slice(0, 10).join(", ")}`;
  const none = "name a record, manifest or Caveats file, or write .ambit/agents/<id>.md";
  const fix = nearest === null ? (known.length === 0 ? none : listed) : `did you mean ${nearest}?`;
  return { ok: false, message: `there is no agent and no file called ${JSON.stringify(name.slice(0, 200))}`, fix };
}

/** Of two ids that look alike, neither is accepted. */
function alike(name: string, other: string): LoadResult {
  const message = `${JSON.stringify(name)} and ${JSON.stringify(other)} look alike, so neither is a valid agent id`;
  return { ok: false, message, fix: "rename one of the files" };
}

/** Which of the files was meant is unknown. */
function twice(name: string): LoadResult {
  const message = `several files define ${JSON.stringify(name)}, so none of them is in effect`;
  return { ok: false, message, fix: "rename or delete all but one of them" };
}

/** Two files with one id would hide one of them, so both are refused. */
function setOf(results: readonly LoadResult[], isOneFile: boolean): SetResult {
  const agents = new Map<string, LoadedAgent>();
  for (const result of results) {
    if (!result.ok) return result;
    const { agent, source } = result.value;
    const other = agents.get(agent.id);
    if (other !== undefined) {
      const message = `${other.source.name} and ${source.name} are both called ${JSON.stringify(agent.id)}`;
      return { ok: false, message, fix: "change one of the ids" };
    }
    agents.set(agent.id, result.value);
  }
  return { ok: true, value: agents, isOneFile };
}

/** The servers of a project's `mcp.yml`, for a person who decides about it. */
function serversIn(texts: readonly AuthorityFile[], workspace: string, base: Reading): OpenedProject["servers"] {
  const found = texts.find(({ path }) => path === SERVERS_PATH);
  if (found === undefined) return null;
  const source = { name: found.path, text: found.text };
  return { file: readServers(source, "project", projectReading(workspace, base)), source };
}
