// The composition root of the daemon: connects its state, what it reads and what it runs.
import { AsyncLocalStorage } from "node:async_hooks";
import { createHmac, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { type Agents, openAgents } from "../agents/disk/agents.ts";
import { userNames } from "../agents/disk/user-files.ts";
import { PresenceVerifiers } from "../approvals/presence/presence.ts";
import { VERSION } from "../core/base/version.ts";
import type { Config } from "../core/notation/config/config.ts";
import type { WrittenModel } from "../core/notation/config/model-setting.ts";
import type { Answer } from "../core/ports/daemon/exchange.ts";
import { machineZones } from "../daemon/clock.ts";
import { agentPowers } from "../daemon/contexts/agents.ts";
import { type DaemonFiles, daemonFiles } from "../daemon/contexts/files.ts";
import { daemonInstruments } from "../daemon/contexts/instruments.ts";
import { completionCost, modelPowers } from "../daemon/contexts/models.ts";
import { recordPowers } from "../daemon/contexts/records.ts";
import { scriptPowers } from "../daemon/contexts/scripts.ts";
import { skillPowers } from "../daemon/contexts/skills.ts";
import { storePowers } from "../daemon/contexts/stores.ts";
import { Daemon } from "../daemon/daemon.ts";
import { type DaemonHostsOptions, daemonHosts } from "../daemon/hosts/hosts.ts";
import { approvalNotifier } from "../daemon/notify.ts";
import { openAccessTokens } from "../daemon/oauth/access-tokens.ts";
import type { DaemonParts } from "../daemon/parts.ts";
import { daemonDrafts } from "../daemon/programs/drafts.ts";
import { pinOf } from "../daemon/programs/pin.ts";
import { type DaemonPrograms, daemonPrograms } from "../daemon/programs/programs.ts";
import type { RunEnvironment } from "../daemon/programs/run-plan.ts";
import { agentRecordWriter } from "../daemon/records/agent-record-writer.ts";
import { recordSource } from "../daemon/records/record-source.ts";
import { protocolVersion } from "../daemon/rpc/limits.ts";
import { type DaemonSecrets, daemonSecrets } from "../daemon/secrets.ts";
import type { Session } from "../daemon/session.ts";
import { StoreFiles } from "../daemon/stores/store-files.ts";
import { WorkspaceStores } from "../daemon/stores/workspace-stores.ts";
import { builtinTool, builtinToolWith, type DaemonTool } from "../daemon/tools/daemon-tool.ts";
import { installCommand } from "../doctor/backend.ts";
import { canonicalJson } from "../log/chain/canonical.ts";
import { doorProtocol } from "../mcp/door.ts";
import { configFolder } from "../platform/config-folder.ts";
import { readPeer } from "../platform/daemon/peers.ts";
import { takeRefusedCalls } from "../platform/daemon/refused-calls.ts";
import { sha256 } from "../platform/digest.ts";
import type { UserFolders } from "../platform/folders.ts";
import { userName } from "../platform/path-settings.ts";
import { realRoot } from "../platform/real-path.ts";
import { callMillisecondsMax } from "../runtime/tool/define.ts";
import { RootLock } from "../sandbox/drafts/root-lock.ts";
import { machineFacts } from "../sandbox/linux/machine.ts";
import type { ResolverChoice } from "../sandbox/network/names/resolver.ts";
import type { State } from "../store/state.ts";
import { readFrontmatter } from "../text/frontmatter.ts";
import { agentTools } from "../tools/agents/agent-tools.ts";
import { COMPLETE_TOOL } from "../tools/model/complete-tool.ts";
import { recordTools } from "../tools/records/record-tools.ts";
import { searchTool } from "../tools/search/search-tool.ts";
import { shellTool } from "../tools/shell/shell-tool.ts";
import { SKILL_TOOLS } from "../tools/skills/skill-tools.ts";
import { STORE_TOOLS } from "../tools/stores/store-tools.ts";
import { waitingPageProcess } from "../tools/web/page-process.ts";
import { presentWith } from "../tools/web/present-result.ts";
import { type DaemonState, openDaemonState } from "./daemon-state.ts";
import { composeServers } from "./servers.ts";

const tickMilliseconds = 1000;

export interface ComposedDaemon {
  readonly daemon: Daemon;
  close(): Promise<void>;
}

export interface DaemonOptions {
  readonly state: string;
  readonly home: string | null;
  readonly program: string;
  connections(): number;
  stop(): void;
  log(line: string): void;
}

/** INVARIANT: the caller holds the state's lock. */
export async function composeDaemon(options: DaemonOptions): Promise<Answer<ComposedDaemon>> {
  const { state, home, program, log, connections, stop } = options;
  const folders: UserFolders = { state, config: configFolder(state, home) };
  const opened = await openDaemonState({
    ...{ state, program, log },
    unconfirmed: (approval, outcome) => void daemon.approvalRequests.settled(approval, outcome),
  });
  if (!opened.ok) return opened;
  const { stores, sink, now, elapsed, id, entry } = opened.value;
  const served = new AsyncLocalStorage<Session>();
  const secrets = await openSecrets(opened.value, { state, log, session: () => served.getStore() ?? null });
  const records = recordSource({ home, folders, elapsed, now });
  const settings = new Settings({ home, folders, program, records, now });
  const proof = await opened.value.begin({ folder: folders.config, config: () => settings.user() });
  const held = (session: Session): ReturnType<Daemon["held"]> => daemon.held(session);
  const install = (): string => installCommand(machineFacts().distribution);
  const lock = new RootLock();
  const drafts = daemonDrafts({
    ...{ lock, state, program, folders, home, records, now },
    triggers: (cwd) => records.triggers(cwd),
    isBareAllowed: () => settings.user()?.bare === true,
    note: log,
  });
  const requiresNamespaces = (): boolean => settings.user()?.namespaces === "required";
  const programs = daemonPrograms({
    ...{ drafts, now, program, folders, install, requiresNamespaces },
    secret: secrets.bound,
    secretHosts: secrets.boundHosts,
    secretForUrl: secrets.boundTo,
    stream: secrets.stream,
    environmentOf: (cwd, environment) => settings.at(cwd, environment),
    stores: (workspace) => shared.visible(workspace),
  });
  const files = daemonFiles({
    ...{ lock, program, folders, home, held },
    triggers: ({ facts: { cwd } }) => records.triggers(cwd),
    redacted: (text) => secrets.redacting.text(text),
  });
  const hosts = daemonHosts({
    ...{ state, program, folders, install, elapsed, requiresNamespaces },
    contexts: () => daemon.contexts,
    milliseconds: () => callMillisecondsMax,
    readingAt: (folder) => records.readingAt(folder),
    settings: (workspace) => settings.tools(workspace),
  });
  const shared = new WorkspaceStores({
    ...{ shared: stores.shared, tasks: stores.tasks, files: new StoreFiles(state, sha256) },
    ...{ redacting: secrets.redacting, digest: sha256, now },
    entry: (who, outcome, more) => ({ ...entry("control", outcome, null, secrets.redacting.json(more)), ...who }),
  });
  const agentRecords = agentRecordWriter({ home, folders, records, now });
  const parts: DaemonParts = {
    door: doorProtocol({
      version: VERSION,
      present: presentWith(waitingPageProcess(join(program, "dist", "page.cjs"))),
    }),
    ...{ stores, records, agentRecords, programs, proof, now, id, zones: machineZones() },
    wall: () => Date.now(),
    problems: () => [opened.value.problem(), ...secrets.problems()].filter((one) => one !== null),
    sink: () => sink.shown(),
    accessTokens: openAccessTokens({
      ...{ elapsed, now, digest: sha256, user: () => settings.user(), resolver: () => settings.resolver() },
      fetch: (wish) => programs.fetch(wish),
    }),
    presence: new PresenceVerifiers(stores.settings, now),
    vault: secrets.vault,
    isSigned: async (name, text, signature) => {
      await secrets.ready();
      const key = secrets.open(name);
      if (!key.ok) return null;
      const wanted = createHmac("sha256", key.value.value).update(text).digest();
      key.value.value.fill(0);
      const given = Buffer.from(signature, "hex");
      return wanted.length === given.length && timingSafeEqual(wanted, given);
    },
    drafts: drafts.lifecycle,
    redacting: secrets.redacting,
    isTrigger: (session, request) => files.isTrigger(session, request),
    pin: (call) => pinOf(call, (workspace, tool) => hosts.definition(workspace, tool)),
    version: VERSION,
    digest: sha256,
    canonical: canonicalJson,
    note: log,
    during: (session, act) => served.run(session, act),
  };
  const servers = composeServers({
    ...{ folders, records, stores, programs, entry, elapsed, held, now, id },
    ...{ secrets, redacting: secrets.redacting, resolver: () => settings.resolver() },
    ceiling: () => settings.user()?.ceiling ?? null,
  });
  const daemon: Daemon = new Daemon({
    ...{ parts, state, connections, stop, foreign: servers.beside(hosts) },
    protocol: protocolVersion,
    pid: process.pid,
    servers: servers.answers,
    stores: shared,
    more: [
      ...composeTools({
        ...{ home, folders, records, stores, agentRecords, programs, files, settings, secrets, held, entry, now },
        shared,
      }),
      ...servers.resourceTools,
    ],
    instruments: daemonInstruments({
      ...{ program, programs, files, secrets, kept: stores, entry, log },
      resolvers: ({ facts: { cwd } }) => settings.at(cwd).user?.resolvers ?? [],
    }),
    hooks: {
      ambit: [process.execPath, join(program, "bin", "ambit")],
      classOf: files.calls.classOf,
      realPath: realRoot,
      isAlive: ({ pid, start }) => readPeer(pid, process.getuid?.() ?? 0, start).isFound,
    },
    userNames: () => userNames(folders.config),
  });
  await daemon.recover();
  await drafts.recover();
  await handOverRefusedCalls(daemon, options);
  daemon.approvalRequests.watch(approvalNotifier(records.notify, now));
  const ticking = setInterval(() => void daemon.tick().catch((error: unknown) => log(String(error))), tickMilliseconds);
  ticking.unref();
  const close = async (): Promise<void> => {
    clearInterval(ticking);
    await daemon.close();
    files.close();
    servers.close();
    await hosts.close();
    await programs.close();
    await drafts.close();
    await opened.value.close();
  };
  return { ok: true, value: { daemon, close } };
}

async function openSecrets(
  { stores, now, entry }: DaemonState,
  { state, log, session }: Pick<DaemonOptions, "state" | "log"> & { session(): Session | null },
): Promise<DaemonSecrets> {
  const secrets = daemonSecrets({
    ...{ state, now, session },
    secrets: stores.secrets,
    settings: stores.settings,
    entry: (outcome, name) => entry("secret", outcome, name, { name }),
    alarm: (name, by) => {
      log(`alarm: the canary ${name} was used${by === null ? "" : `, of ${by.facts.name.agent}`}`);
      const alarm = entry("alarm", "canary_leak", name, { name });
      void stores.ledger.append([by === null ? alarm : { ...alarm, ...by.who() }]);
    },
  });
  await secrets.begin();
  return secrets;
}

/** Calls that clients refused while no daemon served are logged. */
async function handOverRefusedCalls(daemon: Daemon, { state, log }: DaemonOptions): Promise<void> {
  const refused = takeRefusedCalls(state);
  if (await daemon.handOver(refused.calls)) refused.done();
  if (refused.isFull)
    log("not all calls that were refused while no daemon was running could be reported: the queue was full");
}

interface SettingsOptions {
  readonly home: string | null;
  readonly folders: UserFolders;
  readonly program: string;
  readonly records: DaemonParts["records"];
  now(): number;
}

/** The user's configuration and that of trusted projects, as they are on disk now. */
class Settings {
  readonly #options: SettingsOptions;

  constructor(options: SettingsOptions) {
    this.#options = options;
  }

  user(): Config | null {
    return this.#agents(this.#options.home ?? "/", null).user()?.config ?? null;
  }

  /** For programs that a client starts in a folder. */
  at(cwd: string, environment: RunEnvironment["environment"] = {}): RunEnvironment {
    const { home, folders, program, records } = this.#options;
    const workspace = records.workspaceOf(cwd);
    const agents = this.#agents(cwd, workspace);
    const { project } = agents.opened();
    return {
      ...{ home, workspace, folders, program, environment },
      pathSettings: records.readingAt(cwd).pathSettings,
      user: agents.user()?.config ?? null,
      project: project.isConfigAsTrusted ? (project.config?.config ?? null) : null,
      userName: userName(),
    };
  }

  /** How the broker looks up names for requests of the user's own. */
  resolver(): ResolverChoice {
    const servers = this.user()?.resolvers ?? [];
    return servers.length === 0 ? null : { servers };
  }

  /** For the third-party tools of a workspace. */
  tools(workspace: string): ReturnType<DaemonHostsOptions["settings"]> {
    const { user, project } = this.at(workspace);
    return {
      packages: project?.tools ?? [],
      isInDevelopment: user?.development.some((one) => `/${one.join("/")}` === workspace) ?? false,
      ceiling: user?.ceiling ?? null,
    };
  }

  #agents(cwd: string, workspace: string | null): Agents {
    const { home, folders, records, now } = this.#options;
    const moment = { now: now(), clean: true, generation: 0, revoked: null, exhausted: null };
    return openAgents({ cwd, workspace, home, folders, moment, readingAt: records.readingAt });
  }
}

interface ToolsOptions extends Pick<SettingsOptions, "home" | "folders" | "now"> {
  readonly records: DaemonParts["records"];
  readonly stores: State;
  readonly agentRecords: DaemonParts["agentRecords"];
  readonly programs: DaemonPrograms;
  readonly files: DaemonFiles;
  readonly settings: Settings;
  readonly secrets: Pick<DaemonSecrets, "boundTo" | "redacting">;
  readonly held: Daemon["held"];
  readonly entry: DaemonState["entry"];
  readonly shared: WorkspaceStores;
}

/** Built-in tools that have powers of their own beside the context. */
function composeTools(options: ToolsOptions): readonly DaemonTool[] {
  const { home, folders, records, stores, agentRecords, programs, files, settings, secrets, held, entry, now } =
    options;
  const { links, ledger, memory } = stores;
  const search = searchTool(() => {
    const user = settings.user();
    // An invalid configuration names no provider.
    return user === null || user.broken ? null : user.search;
  });
  const withScripts = scriptPowers({ programs, files: files.calls });
  const withRecords = recordPowers({ state: folders.state, records, memory, held, now });
  const withAgents = agentPowers({ home, folders, records, links, ledger, agentRecords, held, entry, now });
  const withStores = storePowers({ records, held, stores: () => options.shared });
  const withSkills = skillPowers({ home, folders, records, held, now });
  const models = (): readonly WrittenModel[] => settings.user()?.models ?? [];
  const withModels = modelPowers({
    ...{ models, now, secret: secrets.boundTo },
    resolver: () => settings.resolver(),
    keepsPrompts: () => settings.user()?.prompts === "keep",
    fetch: (wish) => programs.fetch(wish),
    redacted: (value) => secrets.redacting.json(value),
  });
  return [
    { ...builtinToolWith(COMPLETE_TOOL, withModels), cost: (input) => completionCost(input, models()) },
    ...[builtinToolWith(shellTool(userName), withScripts), builtinTool(search)],
    ...recordTools(readFrontmatter, sha256).map((tool) => builtinToolWith(tool, withRecords)),
    ...agentTools(sha256).map((tool) => builtinToolWith(tool, withAgents)),
    ...SKILL_TOOLS.map((tool) => builtinToolWith(tool, withSkills)),
    ...STORE_TOOLS.map((tool) => builtinToolWith(tool, withStores)),
  ];
}
