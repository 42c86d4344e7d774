// Programs in the daemon: one broker and one set of sandboxes for its lifetime, kept warm between calls.
import { dirname, join } from "node:path";
import { readUserProfiles } from "../../clients/disk/user-profiles.ts";
import { pathText } from "../../core/authority/axes/path.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import type { PlanDecision } from "../../core/gate/programs/program-root.ts";
import { seesStore } from "../../core/gate/programs/visible-files.ts";
import type { RunRefusal, RunResult } from "../../core/ports/process.ts";
import type { StreamRedactor } from "../../log/redaction/redactor.ts";
import { segmentsOf, type UserFolders } from "../../platform/folders.ts";
import { nativeProgram } from "../../platform/native-program.ts";
import { boundedSandboxes } from "../../sandbox/drafts/draft-growth.ts";
import type { DraftRecord } from "../../sandbox/drafts/draft-records.ts";
import type { LandingContext } from "../../sandbox/drafts/landing.ts";
import { ClientHomes } from "../../sandbox/homes/client-homes.ts";
import { barePrograms } from "../../sandbox/linux/bare-programs.ts";
import { ControlGroups } from "../../sandbox/linux/control-groups.ts";
import { detectSandbox } from "../../sandbox/linux/detect-sandbox.ts";
import { groupFolders } from "../../sandbox/linux/group-folders.ts";
import { LinuxSandboxes } from "../../sandbox/linux/linux-sandboxes.ts";
import { COPY_LIMITS, type CopyLimits } from "../../sandbox/live/make-copy.ts";
import { BrokerClient } from "../../sandbox/network/client.ts";
import { keptDenials } from "../../sandbox/plan/drafts/kept-denials.ts";
import type { Plan } from "../../sandbox/plan/plan.ts";
import { homeFolder, STORES_VARIABLE } from "../../sandbox/plan/plan-path.ts";
import type { OpenDraft, Sandboxes, SandboxOwner } from "../../sandbox/plan/sandboxes.ts";
import { argvOfInput, isProgramTool } from "../../tools/programs/program-tools.ts";
import type { ProgramContext, ProgramRun, Programs, ServerRun } from "../parts.ts";
import type { VisibleStore } from "../stores/workspace-stores.ts";
import { type ClientPlan, clientPlan } from "./client-profile.ts";
import type { DaemonDrafts } from "./drafts.ts";
import { type AskSecret, credentialsFor, gitRelay, type SecretHosts, withGit } from "./git-credentials.ts";
import { liveSandboxes } from "./live.ts";
import { couldUseModels, modelSource, relayedOnly, type SecretForUrl } from "./models.ts";
import { redactedOutput } from "./redacted-output.ts";
import { RunExplanation, shownCommand } from "./run-explanation.ts";
import { planFor, type RunEnvironment } from "./run-plan.ts";
import { runProgram } from "./run-program.ts";
import { NO_TOOLCHAINS, toolchainsOf } from "./toolchains.ts";

export interface DaemonProgramsOptions {
  readonly program: string;
  readonly drafts: DaemonDrafts;
  now(): number;
  readonly folders: UserFolders;
  /** Current configuration, trusted project and path settings, for a client in a folder. */
  environmentOf(cwd: string, environment: ProgramContext["environment"]): RunEnvironment;
  /** Shared stores of a workspace that are in use, each with the folder of its file. */
  stores(workspace: string): Promise<readonly VisibleStore[]>;
  /** The command that installs bubblewrap here. */
  install(): string;
  /** The user's configuration accepts nothing but namespaces. */
  requiresNamespaces(): boolean;
  /** Secrets stored here, besides those the user's configuration refers to. */
  readonly secret: AskSecret;
  readonly secretHosts: SecretHosts;
  readonly secretForUrl: SecretForUrl;
  /** Redacts secrets from streamed output; null: nothing is redacted. */
  stream(): StreamRedactor | null;
}

export interface DaemonPrograms extends Programs {
  /** For tools that use the network without a program. */
  readonly fetch: BrokerClient["fetch"];
  close(): Promise<void>;
}

export function daemonPrograms(asked: DaemonProgramsOptions): DaemonPrograms {
  const { program, folders, drafts } = asked;
  const broker = new BrokerClient(join(program, "dist", "broker.cjs"));
  /** Of every owner that runs programs; a warm sandbox keeps its owner. */
  const environments = new WeakMap<SandboxOwner, RunEnvironment>();
  const homes = folders.state === null ? null : new ClientHomes(folders.state);
  const explanations = new Set<RunExplanation>();
  let made: LinuxSandboxes | null = null;

  /** Created at first use, and retried if the machine had no sandbox before. */
  const linuxSandboxes = (): LinuxSandboxes | RunRefusal => {
    const requiresNamespaces = asked.requiresNamespaces();
    if (made !== null && !(requiresNamespaces && made.backend.kind === "supervised")) return made;
    const detected = detectSandbox({ native: nativeProgram(program), install: asked.install, requiresNamespaces });
    if (folders.state === null) return STATELESS;
    if (!detected.ok) return detected.refused;
    const places = groupFolders();
    made = new LinuxSandboxes({
      environment: detected.environment,
      groups: places.length === 0 ? null : new ControlGroups(places),
      drafts: drafts.folders,
      broker: {
        open: (wish) => {
          const environment = environments.get(wish.owner);
          const resolvers = environment?.user?.resolvers ?? [];
          const resolver = resolvers.length === 0 ? null : { servers: resolvers };
          const git = gitRelay(wish.gitHosts, environment?.user ?? null);
          return broker.open({ ...wish, resolver, git });
        },
      },
    });
    return made;
  };
  drafts.useSandboxes(() => {
    const found = linuxSandboxes();
    return "run" in found ? found : null;
  });
  const sandboxes = ({ user }: RunEnvironment): Sandboxes | RunRefusal => {
    const found = linuxSandboxes();
    return "run" in found || folders.state === null || user?.bare !== true ? found : barePrograms();
  };

  const bounded = (inner: Sandboxes): Sandboxes => boundedSandboxes(inner, (id) => drafts.folders.upper(id));

  const run = async (wanted: ProgramContext, program: ProgramRun): Promise<RunResult> => {
    const environment = asked.environmentOf(wanted.cwd, wanted.environment);
    const where = sandboxes(environment);
    if (!("run" in where)) return { ok: false, refused: where };
    const { session, generation, moment, holds, authority } = wanted;
    const owner: SandboxOwner = { agent: wanted.owner, session, generation };
    environments.set(owner, environment);
    const { milliseconds, client = null, server = null } = program;
    // Its code is a stranger's: `bare` is about the user's own programs.
    if (server !== null && where !== made) return { ok: false, refused: UNCONFINED };
    const hasTerminal = program.terminal != null;
    const [output, errors] = [program.sinks.output, program.sinks.errors].map((sink) =>
      redactedOutput(server === null ? asked.stream : () => null, sink, hasTerminal),
    );
    const path = server === null ? (wanted.environment["PATH"] ?? "") : dirname(process.execPath);
    const toolchains = client === null && server === null ? NO_TOOLCHAINS : toolchainsOf(environment, path);
    const trees = [...toolchains.trees, ...(server?.runtime ?? [])];
    const used: {
      home: Extract<ClientPlan, { ok: true }>["home"] | null;
      /** Set where the sandbox has a relay. */
      isRelayedOnly: ReturnType<typeof relayedOnly> | null;
    } = { home: null, isRelayedOnly: null };
    const draft: { record: DraftRecord | null; context: LandingContext | null } = { record: null, context: null };
    const { workspace } = wanted.agent;
    const stores = workspace === null ? [] : await asked.stores(workspace);
    const explanation = new RunExplanation(wanted.owner, program.argv);
    explanations.add(explanation);
    const running = runProgram(
      {
        holds,
        owner,
        moment,
        plan: (request, by) => {
          // This call is charged already: an exhausted budget must not end it.
          const now = { ...moment(), exhausted: null };
          const decided = { authority, request, by, level: 0 } as const;
          const bare = planFor(
            decided,
            environment,
            {
              ...{ milliseconds, hasTerminal, isClient: client !== null, isServer: server !== null, toolchains: trees },
              folderNames: [...wanted.folderNames, ...program.argv],
            },
            now,
          );
          const stored = bare.ok ? { ...bare, plan: withStores(bare.plan, decided, stores, now) } : bare;
          const planned =
            stored.ok && server === null
              ? { ...stored, plan: withGit(stored.plan, authority, environment, asked.secretHosts, now) }
              : stored;
          if (planned.ok) explanation.planned(planned.plan);
          const refused = planned.ok && isWritten(planned.plan) ? drafts.lifecycle.refusalFor(wanted.owner) : null;
          if (refused !== null) return { ok: false, refused };
          if (planned.ok && server !== null) return { ...planned, plan: withServer(planned.plan, server) };
          if (!planned.ok || client === null) return planned;
          if (homes === null || where !== made) {
            program.onNotes?.(planned.notes);
            return planned;
          }
          const hasRelay = client.profile.model !== null && couldUseModels(authority);
          const equipped = clientPlan(planned.plan, client, {
            owner: wanted.owner,
            homes,
            environment,
            hasRelay,
            toolchains,
            program: program.argv[0] ?? "",
            cwd: wanted.cwd,
          });
          if (!equipped.ok) return equipped;
          used.home = equipped.home;
          used.isRelayedOnly = relayedOnly(authority, environment.user?.models ?? []);
          // A missing client was searched for on the path that it has inside.
          explanation.planned({ ...planned.plan, environment: equipped.plan.environment });
          program.onNotes?.([...planned.notes, ...equipped.home.notes]);
          return equipped;
        },
        refusal: (connection) => (used.isRelayedOnly?.(connection) === true ? "address_refused" : null),
        sandboxes: liveSandboxes(bounded(where), {
          ...{ drafts, native: nativeProgram(asked.program), isConfined: where === made },
          copies: made?.backend.kind === "supervised" ? copyLimits(environment) : null,
          protectedPaths: environment.pathSettings.protectedPaths,
          context: (root) => drafts.contextFor(wanted, environment, root),
          record: (begun) => {
            const needsReview = program.needsReview === true || wanted.needsReview();
            return startedRecord(begun, wanted, { ...program, needsReview }, asked.now());
          },
          note: drafts.note,
        }),
      },
      program,
      {
        argv: program.argv,
        input: program.input,
        terminal: program.terminal ?? null,
        credential: credentialsFor(
          { run: wanted, environment, request: program.request, argv: program.argv, isClient: client !== null },
          asked.secret,
        ),
        model: modelSource({ run: wanted, environment }, asked.secretForUrl),
        ...(client === null || wanted.door === null ? {} : { door: wanted.door }),
        onDraft: (begun) => {
          draft.context = drafts.contextFor(wanted, environment, begun.root);
          const needsReview = program.needsReview === true || wanted.needsReview();
          draft.record = startedRecord(begun, wanted, { ...program, needsReview }, asked.now());
          drafts.lifecycle.beginCommand(draft.record);
        },
      },
      {
        output: explanation.watched((bytes) => output?.write(bytes)),
        errors: explanation.watched((bytes) => errors?.write(bytes)),
        ...(program.sinks.held === undefined ? {} : { held: program.sinks.held }),
      },
      program.signal,
    );
    let result: RunResult;
    try {
      result = explanation.of(await running);
    } catch (error) {
      // An output sink threw: the command's changes so far are stored, and never land.
      if (draft.record !== null && draft.context !== null)
        await drafts.lifecycle.finish({ ...draft.record, isSealed: false }, draft.context);
      throw error;
    } finally {
      used.home?.release();
      explanations.delete(explanation);
    }
    output?.end();
    errors?.end();
    return landed(result, draft.record, draft.context, wanted);
  };

  /** INVARIANT: a command ends after its changes have landed or are stored: the next command sees them. */
  const landed = async (
    result: RunResult,
    begun: DraftRecord | null,
    context: LandingContext | null,
    program: ProgramContext,
  ): Promise<RunResult> => {
    const sealed = result.ok ? result.ran.draft : null;
    if (!result.ok || sealed === null || begun === null || context === null) {
      if (begun !== null) drafts.lifecycle.forget(begun.draft);
      return result;
    }
    const record = {
      ...begun,
      start: String(sealed.startNanoseconds),
      isSealed: sealed.isSealed,
      // As of its start or of now, whichever is stricter.
      needsReview: begun.needsReview || program.needsReview(),
    };
    const changes = await drafts.lifecycle.finish(record, context);
    const denials = [...result.ran.denials, ...keptDenials(changes)];
    return { ok: true, ran: { ...result.ran, draft: null, denials, changes: changes.draft === null ? null : changes } };
  };

  const end = async (agent: string | null, by: string): Promise<number> => {
    for (const one of explanations) if (agent === null || one.owner === agent) one.endedBy(by);
    const before = made?.count ?? 0;
    await made?.end(agent);
    return before - (made?.count ?? 0);
  };
  return {
    isProgram: isProgramTool,
    argvOf: argvOfInput,
    run,
    profiles: (cwd) => {
      const { home, pathSettings } = asked.environmentOf(cwd, {});
      return readUserProfiles({ config: folders.config, home, protectedPaths: pathSettings.protectedPaths });
    },
    end,
    fetch: (wish) => broker.fetch(wish),
    get count() {
      return made?.count ?? 0;
    },
    close: async () => {
      await end(null, STOPPED);
      await broker.stop();
    },
  };
}

/** INVARIANT: only stores that the deciding grants let the agent read. A throw-away sandbox has nothing of this machine. */
function withStores(plan: Plan, decided: PlanDecision, stores: readonly VisibleStore[], moment: Moment): Plan {
  const seen = stores.filter(({ store, recordClass }) => seesStore(decided, store, recordClass, moment));
  if (seen.length === 0 || plan.root === null) return plan;
  return {
    ...plan,
    stores: seen.map(({ store, folder }) => ({ name: store, folder: segmentsOf(folder) })),
    environment: [...plan.environment.filter(([name]) => name !== STORES_VARIABLE[0]), STORES_VARIABLE],
  };
}

/** INVARIANT: a server adds variables and a folder of the package store to a plan, and nothing else. */
function withServer(bare: Plan, { environment, package: folder, home }: ServerRun): Plan {
  const plan = {
    ...bare,
    ...(folder === undefined ? {} : { package: segmentsOf(folder) }),
    ...(home === undefined ? {} : { home: segmentsOf(home) }),
  };
  const own = home === undefined ? [] : [["HOME", pathText(homeFolder(plan))] as const];
  const set = [...own, ...environment];
  const names = new Set(set.map(([name]) => name));
  return { ...plan, environment: [...plan.environment.filter(([name]) => !names.has(name)), ...set] };
}

const UNCONFINED: RunRefusal = {
  code: "sandbox_unavailable",
  message: "an MCP server never runs without a sandbox, and this machine has none",
  fix: "ambit doctor",
};

/** Without namespaces a folder that programs write is copied: so much is still cheap. */
const copyBytesMax = 268_435_456;

function copyLimits({ user }: RunEnvironment): CopyLimits {
  const written = user?.limits.copy_mib;
  return { names: COPY_LIMITS.names, bytes: written === undefined ? copyBytesMax : written * 1_048_576 };
}

function isWritten({ root }: Plan): boolean {
  return root?.mode === "draft" || root?.mode === "live";
}

const STOPPED = "ambit daemon stop";

const STATELESS: RunRefusal = {
  code: "audit_unavailable",
  message: "no state folder for the log: neither a home folder nor an absolute XDG_STATE_HOME is set",
  fix: null,
};

/** Draft metadata of a command that is about to run, in case the daemon ends before it does. */
function startedRecord(
  { id, root, masked, rootIdentity }: OpenDraft,
  { agent, owner, call }: ProgramContext,
  { argv, needsReview = false }: ProgramRun,
  now: number,
): DraftRecord {
  return {
    draft: id,
    state: "running",
    agent: agent.agent,
    workspace: agent.workspace,
    root: pathText(root),
    call,
    command: shownCommand(argv),
    at: now,
    bytes: 0,
    landed: 0,
    kept: [],
    keptMore: 0,
    owner,
    rootDevice: String(rootIdentity.device),
    rootInode: String(rootIdentity.inode),
    // Taken before the overlay is mounted, so that no later change counts as seen.
    start: String(BigInt(Date.now()) * 1_000_000n),
    inodes: 0,
    landings: [],
    masked: masked.map((path) => path.slice(root.length)),
    needsReview,
    isSealed: false,
    repositories: [],
  };
}
