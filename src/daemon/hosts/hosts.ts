// Third-party tools in the daemon: each runs in a sandboxed host, derives its requests there, and uses a context served here.
import { join } from "node:path";
import type { Request } from "../../core/authority/request.ts";
import { onAbort } from "../../core/base/abort.ts";
import { isJsonObject } from "../../core/base/json.ts";
import { done, refuse } from "../../core/base/result.ts";
import { workingPathSettings } from "../../core/notation/reading.ts";
import type { Outcome } from "../../core/ports/stores/commit.ts";
import { nativeProgram } from "../../platform/native-program.ts";
import { requestOf, type ToolRequest } from "../../runtime/context/tool-request.ts";
import { availabilityOf, missingText, SAYS_UNAVAILABLE } from "../../runtime/tool/availability.ts";
import { DraftFolders } from "../../sandbox/drafts/draft-folders.ts";
import { ControlGroups } from "../../sandbox/linux/control-groups.ts";
import { detectSandbox } from "../../sandbox/linux/detect-sandbox.ts";
import { groupFolders } from "../../sandbox/linux/group-folders.ts";
import { LinuxSandboxes } from "../../sandbox/linux/linux-sandboxes.ts";
import type { Sandboxes } from "../../sandbox/plan/sandboxes.ts";
import { clearSnapshots } from "../../sandbox/tool-host/snapshot.ts";
import type { Contexts } from "../contexts/contexts.ts";
import type {
  DaemonTool,
  ExecutionResult,
  ForeignTools,
  ForeignToolView,
  Missing,
  ToolExecution,
} from "../tools/daemon-tool.ts";
import { ToolHost } from "./host.ts";
import { HostPool } from "./pool.ts";
import { ForeignSources, type ForeignSourcesOptions, type LoadedTool, type ToolRefusal } from "./sources.ts";

export interface DaemonHostsOptions extends Omit<ForeignSourcesOptions, "pool"> {
  readonly state: string;
  /** Root folder of the ambit package. */
  readonly program: string;
  install(): string;
  /** The user's configuration accepts nothing but namespaces. */
  requiresNamespaces(): boolean;
  contexts(): Contexts;
  /** Time limit of one call. */
  milliseconds(): number;
}

export interface DaemonHosts extends ForeignTools {
  readonly sources: ForeignSources;
  /** The digest of everything a tool's source could load; null if the workspace has no such tool. */
  definition(workspace: string | null, tool: string): Promise<string | null>;
  close(): Promise<void>;
}

export function daemonHosts(asked: DaemonHostsOptions): DaemonHosts {
  const { state, program } = asked;
  clearSnapshots(state);
  let made: LinuxSandboxes | null = null;
  const sandboxes = (): Sandboxes | { readonly message: string } => {
    const requiresNamespaces = asked.requiresNamespaces();
    if (made !== null && !(requiresNamespaces && made.backend.kind === "supervised")) return made;
    const detected = detectSandbox({ native: nativeProgram(program), install: asked.install, requiresNamespaces });
    if (!detected.ok) return { message: detected.refused.message };
    const places = groupFolders();
    made = new LinuxSandboxes({
      environment: detected.environment,
      groups: places.length === 0 ? null : new ControlGroups(places),
      drafts: new DraftFolders(state),
      broker: null,
    });
    return made;
  };
  const pool = new HostPool({ state, program: join(program, "dist", "tool-host.cjs"), sandboxes });
  const sources = new ForeignSources({ ...asked, pool });
  const owned = new WeakMap<LoadedTool, DaemonTool>();
  return {
    sources,
    of: async (session) => {
      const { tools } = await sources.of(session.facts.name.workspace);
      return tools.map((tool) => {
        const known = owned.get(tool) ?? ownerTool(tool, pool, asked);
        owned.set(tool, known);
        return known;
      });
    },
    listed: async (workspace) => {
      const { tools, refused } = await sources.of(workspace);
      const waiting = await sources.waiting(workspace);
      const described = [...waiting.tools.map((one) => one.source.name), ...waiting.refused.map((one) => one.source)];
      const isElsewhere = ({ source }: ToolRefusal): boolean => !described.includes(source);
      return {
        refused: [...refused.filter(isElsewhere), ...waiting.refused],
        tools: [
          ...tools.map((tool) => foreignView(tool, false)),
          ...waiting.tools.map((tool) => foreignView(tool, true)),
        ],
      };
    },
    definition: async (workspace, tool) => {
      const { tools } = await sources.of(workspace);
      return tools.find(({ registered: { name } }) => name === tool)?.source.digest ?? null;
    },
    close: () => pool.close(),
  };
}

function foreignView({ registered, source, input, ...flags }: LoadedTool, isWaiting: boolean): ForeignToolView {
  const { name, risk, needs, declared, tool } = registered;
  return {
    ...{ name, risk, needs, declared, isWaiting, isUntrusted: flags.isUntrusted, isAvailable: flags.isAvailable },
    source: source.name,
    capabilities: tool.capabilities ?? {},
    description: tool.description,
    input,
  };
}

function ownerTool(loaded: LoadedTool, pool: HostPool, asked: DaemonHostsOptions): DaemonTool {
  const { registered, input, isDeriving } = loaded;
  const { name, requirement, declared } = registered;
  if (requirement === null) throw new Error("a third-party tool needs a requirement");
  const missing = (): Missing | null => {
    if (!loaded.isAvailable) return { message: SAYS_UNAVAILABLE, fix: null };
    const availability = availabilityOf(registered.needs, asked.contexts().backends(name));
    return availability.ok ? null : { message: missingText(availability), fix: null };
  };
  return {
    name,
    description: registered.tool.description,
    input,
    verbs: [],
    isThere: () => missing() === null,
    missing,
    foreign: { requirement, declared },
    requests: () => done([]),
    ...(isDeriving ? { derive: deriving(loaded, pool) } : {}),
    execute: (call) => execute(loaded, pool, asked, call),
  };
}

function deriving({ registered: { name }, source }: LoadedTool, pool: HostPool): NonNullable<DaemonTool["derive"]> {
  return async (given, session, reading) => {
    const host = pool.host(session, source);
    if (!(host instanceof ToolHost)) return refuse("bad_value", host.message);
    const derived = await host.derive(name, given);
    if (!derived.ok) return derived;
    const requests: Request[] = [];
    for (const one of derived.value) {
      if (!isJsonObject(one)) return refuse("bad_value", "a request needs a verb and a target");
      const { toAscii } = reading;
      const request = requestOf(one as unknown as ToolRequest, {
        pathSettings: workingPathSettings(reading),
        toAscii,
        tool: name,
      });
      if (!request.ok) return request;
      requests.push(request.value);
    }
    return done(requests);
  };
}

async function execute(
  { registered, source }: LoadedTool,
  pool: HostPool,
  asked: DaemonHostsOptions,
  { input, session, signal, context: open }: ToolExecution,
): Promise<ExecutionResult> {
  const { name, requirement, needs, store } = registered;
  const contexts = asked.contexts();
  const availability = availabilityOf(needs, contexts.backends(name));
  if (!availability.ok) return { ok: false, code: "not_available", message: missingText(availability) };
  const host = pool.host(session, source);
  if (!(host instanceof ToolHost) || requirement === null)
    return { ok: false, code: "not_available", message: host instanceof ToolHost ? "" : host.message };
  const work = session.begin(signal);
  if (work === null) return { ok: false, ...session.startRefusal };
  const context = open({ requirement, store, isForeign: true });
  const before = performance.now();
  try {
    onAbort(work.signal, () => context.end());
    const milliseconds = Math.min(asked.milliseconds(), registered.tool.milliseconds ?? Number.POSITIVE_INFINITY);
    const outcome = await host.execute(name, input, (use) => context.serve(use), work.signal, milliseconds);
    const wallMicroseconds = Math.round((performance.now() - before) * 1000);
    const enforcement = [...enforcementOf(host), ...context.enforcement()];
    const met = { ended: "done", denials: context.denials(), enforcement, wallMicroseconds };
    if (!outcome.ok) return { ok: false, code: outcome.code, message: outcome.message, met };
    return { ok: true, value: outcome.value, isUntrusted: true, met };
  } finally {
    context.end();
    work.end();
  }
}

/** The sandbox enforces and reports what the tool's own code can reach; uses of its context are decided here. */
function enforcementOf({ enforcement }: ToolHost): Outcome["enforcement"] {
  return [{ axis: "tool", strength: "checked" }, ...enforcement.map(({ axis, strength }) => ({ axis, strength }))];
}
