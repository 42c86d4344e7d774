// The composition root of the daemon: the store, what it reads, what it runs, and its two sockets.
import { AsyncLocalStorage } from "node:async_hooks";
import { type Agents, openAgents } from "../agents/disk/agents.ts";
import { userNames } from "../agents/disk/user-files.ts";
import { PresenceVerifiers } from "../approvals/presence/presence.ts";
import type { JsonObject } from "../core/base/json.ts";
import { VERSION } from "../core/base/version.ts";
import type { Config } from "../core/notation/config/config.ts";
import type { Answer } from "../core/ports/daemon/exchange.ts";
import type { EntryKind, LogEntry } from "../core/ports/stores/log.ts";
import { daemonClock } from "../daemon/clock.ts";
import { agentPowers } from "../daemon/contexts/agents.ts";
import { daemonFiles } from "../daemon/contexts/files.ts";
import { daemonInstruments } from "../daemon/contexts/instruments.ts";
import { recordPowers } from "../daemon/contexts/records.ts";
import { scriptPowers } from "../daemon/contexts/scripts.ts";
import { skillPowers } from "../daemon/contexts/skills.ts";
import { Daemon } from "../daemon/daemon.ts";
import { daemonHosts } from "../daemon/hosts/hosts.ts";
import { IdGenerator } from "../daemon/ids.ts";
import { copiedChain } from "../daemon/log/copied-chain.ts";
import { CopiedLedger } from "../daemon/log/copied-ledger.ts";
import { NO_ACTOR } from "../daemon/log/entries.ts";
import { openNotary } from "../daemon/log/notary.ts";
import { proofOf } from "../daemon/log/proof.ts";
import { DaemonSink } from "../daemon/log/sink.ts";
import { unconfirmedOutcome } from "../daemon/log/sink-entries.ts";
import { approvalNotifier } from "../daemon/notify.ts";
import type { DaemonParts } from "../daemon/parts.ts";
import { daemonDrafts } from "../daemon/programs/drafts.ts";
import { pinOf } from "../daemon/programs/pin.ts";
import type { RunEnvironment } from "../daemon/programs/plan-facts.ts";
import { daemonPrograms } from "../daemon/programs/programs.ts";
import { agentRecordWriter } from "../daemon/records/agent-record-writer.ts";
import { recordSource } from "../daemon/records/record-source.ts";
import { protocolVersion } from "../daemon/rpc/limits.ts";
import { daemonSecrets } from "../daemon/secrets.ts";
import type { Session } from "../daemon/session.ts";
import { builtinTool, builtinToolWith } from "../daemon/tools/daemon-tool.ts";
import { installCommand } from "../doctor/backend.ts";
import { canonicalJson } from "../log/chain/canonical.ts";
import { configFolder } from "../platform/config-folder.ts";
import { takeRefusedCalls } from "../platform/daemon/refused-calls.ts";
import { sha256 } from "../platform/digest.ts";
import type { UserFolders } from "../platform/folders.ts";
import { homeFolder, userName } from "../platform/ground.ts";
import { callMillisecondsMax } from "../runtime/tool/define.ts";
import { RootLock } from "../sandbox/drafts/root-lock.ts";
import { machineFacts } from "../sandbox/linux/machine.ts";
import { openState } from "../store/state.ts";
import { readFrontmatter } from "../text/frontmatter.ts";
import { agentTools } from "../tools/agents/agent-tools.ts";
import { recordTools } from "../tools/records/record-tools.ts";
import { searchTool } from "../tools/search/search-tool.ts";
import { shellTool } from "../tools/shell/shell-tool.ts";
import { SKILL_TOOLS } from "../tools/skills/skill-tools.ts";

const tickMilliseconds = 1000;

export interface ComposedDaemon {
  readonly daemon: Daemon;
  close(): Promise<void>;
}

export interface DaemonOptions {
  readonly state: string;
  readonly program: string;
  connections(): number;
  stop(): void;
  log(line: string): void;
}

/** INVARIANT: the caller holds the owner's lock of the state. */
export async function composeDaemon(place: DaemonOptions): Promise<Answer<ComposedDaemon>> {
  const { state, program, log } = place;
  const home = homeFolder();
  const folders: UserFolders = { state, config: configFolder(state, home) };
  const signing = openNotary(state);
  if (!signing.ok) return { ...signing, fix: "ambit daemon logs" };
  const { value: notary } = signing;
  const opened = openState(state, { digest: sha256, program, notary });
  if (!opened.ok) return { ...opened, fix: "ambit audit verify" };
  const { value: store } = opened;
  const last = await store.ledger.log({ count: 1 });
  const clock = daemonClock(last.ok ? (last.value[0]?.entry.at ?? 0) : 0);
  const { now } = clock;
  const names = new IdGenerator();
  const { id } = names;
  // Before the first commit, which is signed with this name.
  const node = store.settings.get("node") ?? names.name();
  notary.begin(node, now);
  const sink = new DaemonSink();
  const served = new AsyncLocalStorage<Session>();
  store.loop.onFailure((why) => log(why === null ? "the log is written again" : unwritten(why)));
  const kept = {
    ...store,
    chain: copiedChain(store.chain, sink),
    ledger: new CopiedLedger({
      ledger: store.ledger,
      copies: sink,
      elapsed: clock.elapsed,
      unconfirmed: ({ entry, claim }) => {
        const outcome = unconfirmedOutcome(entry, id("e"), now());
        void kept.ledger.append([outcome]);
        if (claim !== null) void daemon.desk.settled(claim.approval, outcome.outcome);
      },
    }),
  };
  const bare = (kind: EntryKind, outcome: string, of: string | null, more: JsonObject): LogEntry => ({
    ...NO_ACTOR,
    id: id("e"),
    kind,
    at: now(),
    tool: null,
    verbs: [],
    outcome,
    code: null,
    of,
    more,
  });
  const secrets = daemonSecrets({
    secrets: kept.secrets,
    settings: kept.settings,
    state,
    now,
    entry: (outcome, name) => bare("secret", outcome, name, { name }),
    alarm: (name, session) => {
      log(`alarm: the canary ${name} was seen${session === null ? "" : `, of ${session.facts.name.agent}`}`);
      const entry = bare("alarm", "canary_leak", name, { name });
      void kept.ledger.append([session === null ? entry : { ...entry, ...session.who() }]);
    },
    session: () => served.getStore() ?? null,
  });
  await secrets.begin();
  const records = recordSource({ home, folders, elapsed: clock.elapsed, now });
  if (kept.settings.get("node") === null)
    await kept.settings.set("node", node, bare("daemon", "named", null, { node }));
  const proof = proofOf({
    notary,
    node,
    chain: kept.chain,
    ledger: kept.ledger,
    digest: sha256,
    now,
    entry: (outcome, more) => bare("daemon", outcome, null, more),
  });
  sink.begin({
    folder: folders.config,
    config: () => userConfig({ home, folders, program, cwd: home ?? "/", environment: {}, records, now }),
    ...{ node, chain: kept.chain, ledger: store.ledger, settings: kept.settings, digest: sha256, now, log },
    beginning: proof.beginning,
    entry: (outcome, more) => bare("daemon", outcome, null, more),
  });
  const lock = new RootLock();
  const drafts = daemonDrafts({
    lock,
    ...{ state, program, folders, home, records, now },
    triggers: (cwd) => records.triggers(cwd),
    isBareAllowed: () =>
      runGround({ home, folders, program, cwd: home ?? "/", environment: {}, records, now }).user?.bare === true,
    note: log,
  });
  const programs = daemonPrograms({
    ...{ drafts, now },
    program,
    folders,
    install: () => installCommand(machineFacts().distribution),
    secret: secrets.bound,
    secretForUrl: secrets.boundTo,
    stream: secrets.stream,
    ground: (cwd, environment) => runGround({ home, folders, program, cwd, environment, records, now }),
  });
  const parts: DaemonParts = {
    stores: kept,
    problems: () => [...(store.loop.problem === null ? [] : [unwritten(store.loop.problem)]), ...secrets.problems()],
    sink: () => sink.shown(),
    presence: new PresenceVerifiers(kept.settings, now),
    vault: secrets.vault,
    proof,
    records,
    agentRecords: agentRecordWriter({ home, folders, records, now }),
    programs,
    drafts: drafts.lifecycle,
    redacting: secrets.redacting,
    isTrigger: (session, request) => files.isTrigger(session, request),
    pin: (call) => pinOf(call, (workspace, tool) => hosts.definition(workspace, tool)),
    version: VERSION,
    digest: sha256,
    canonical: canonicalJson,
    now,
    id,
    note: log,
    during: (session, act) => served.run(session, act),
  };
  const { connections, stop } = place;
  const files = daemonFiles({
    lock,
    ...{ program, folders, home },
    held: (session) => daemon.held(session),
    triggers: ({ facts: { cwd } }) => records.triggers(cwd),
    redacted: (text) => secrets.redacting.text(text),
  });
  const resolvers = ({ facts: { cwd } }: Session): readonly string[] =>
    runGround({ home, folders, program, cwd, environment: {}, records, now }).user?.resolvers ?? [];
  const instruments = daemonInstruments({
    ...{ program, programs, files, secrets, kept, resolvers, entry: bare, log },
  });
  const held = (session: Session): ReturnType<Daemon["held"]> => daemon.held(session);
  const search = searchTool(() => {
    const user = userConfig({ home, folders, program, cwd: home ?? "/", environment: {}, records, now });
    // An invalid configuration names no provider.
    return user === null || user.broken ? null : user.search;
  });
  const withRecords = recordPowers({ state, records, memory: kept.memory, held, now });
  const { links, ledger } = kept;
  const { agentRecords } = parts;
  const withAgents = agentPowers({ home, folders, records, links, ledger, agentRecords, held, entry: bare, now });
  const withSkills = skillPowers({ home, folders, records, held, now });
  const shell = builtinToolWith(shellTool(userName), scriptPowers({ programs, files: files.calls }));
  const more = [
    ...[shell, builtinTool(search)],
    ...recordTools(readFrontmatter, sha256).map((tool) => builtinToolWith(tool, withRecords)),
    ...agentTools(sha256).map((tool) => builtinToolWith(tool, withAgents)),
    ...SKILL_TOOLS.map((tool) => builtinToolWith(tool, withSkills)),
  ];
  const hosts = daemonHosts({
    ...{ state, program, folders },
    install: () => installCommand(machineFacts().distribution),
    contexts: () => daemon.contexts,
    milliseconds: () => callMillisecondsMax,
    elapsed: clock.elapsed,
    readingAt: (folder) => records.readingAt(folder),
    settings: (workspace) => {
      const cwd = workspace;
      const { user, project } = runGround({ home, folders, program, cwd, environment: {}, records, now });
      return {
        packages: project?.tools ?? [],
        isInDevelopment: user?.development.some((one) => `/${one.join("/")}` === workspace) ?? false,
        ceiling: user?.ceiling ?? null,
      };
    },
  });
  const daemon: Daemon = new Daemon({
    parts,
    protocol: protocolVersion,
    pid: process.pid,
    state,
    more,
    foreign: hosts,
    instruments,
    userNames: () => userNames(folders.config),
    connections,
    stop,
  });
  await daemon.recover();
  await drafts.recover();
  const handed = takeRefusedCalls(state);
  if (await daemon.handOver(handed.calls)) handed.done();
  if (handed.isFull) log("there was no room to hand over all calls that were refused while no daemon served");
  daemon.desk.watch(approvalNotifier(records.notify, now));
  const ticking = setInterval(() => void daemon.tick().catch((error: unknown) => log(String(error))), tickMilliseconds);
  ticking.unref();
  return {
    ok: true,
    value: {
      daemon,
      close: async () => {
        clearInterval(ticking);
        await daemon.close();
        files.close();
        await hosts.close();
        await programs.close();
        drafts.close();
        await sink.close();
        kept.close();
        notary.close();
      },
    },
  };
}

function unwritten(why: string): string {
  return `the log cannot be written, so every call is denied: ${why}`;
}

interface GroundOptions {
  readonly home: string | null;
  readonly folders: UserFolders;
  readonly program: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly records: DaemonParts["records"];
  now(): number;
}

function agentsAt({ home, folders, cwd, records, now }: GroundOptions, workspace: string | null): Agents {
  const moment = { now: now(), clean: true, generation: 0, revoked: null, exhausted: null };
  return openAgents({ cwd, workspace, home, folders, moment, readingAt: records.readingAt });
}

function userConfig(asked: GroundOptions): Config | null {
  return agentsAt(asked, null).user()?.config ?? null;
}

function runGround(asked: GroundOptions): RunEnvironment {
  const { home, folders, program, cwd, environment, records } = asked;
  const workspace = records.workspaceOf(cwd);
  const agents = agentsAt(asked, workspace);
  const { project } = agents.opened();
  return {
    home,
    workspace,
    folders,
    program,
    ground: records.readingAt(cwd).ground,
    environment,
    user: agents.user()?.config ?? null,
    project: project.isConfigAsTrusted ? (project.config?.config ?? null) : null,
    userName: userName(),
  };
}
