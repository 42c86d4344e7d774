// Programs run for agents: joins the gate, the plan, the sandboxes, the broker and the audit file of this machine.
import { join } from "node:path";
import type { Authority } from "../authority/chain.ts";
import { type Moment, WHOLE_LINK } from "../authority/compiled.ts";
import { judge } from "../authority/judge.ts";
import { pathText } from "../authority/path.ts";
import type { Request } from "../authority/request.ts";
import { BrokerClient } from "../broker/client.ts";
import type { ExecAsked, ExecResult, ExecStreams } from "../cli/exec-world.ts";
import { auditFile } from "../node/audit-file.ts";
import { barePrograms } from "../node/bare-programs.ts";
import { ControlGroups } from "../node/sandbox/control-groups.ts";
import { detectSandbox } from "../node/sandbox/detect-sandbox.ts";
import { groupPlaces } from "../node/sandbox/group-places.ts";
import { LinuxSandboxes } from "../node/sandbox/linux-sandboxes.ts";
import type { NetworkBroker } from "../node/sandbox/network.ts";
import type { Judge } from "../ports/judge.ts";
import type { RunRefused } from "../ports/process.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import { type ProgramInput, type ProgramToolName, programTools } from "../tools/program-tools.ts";
import { runProgram } from "../tools/run-program.ts";
import { credentialsOf } from "./credentials.ts";
import { planFor, type RunGround } from "./plan-facts.ts";

/** Where our native program lies in our package. */
export function nativeProgram(program: string): string {
  return join(program, "dist", "native", "ambit-native");
}

export interface ProgramsAsked {
  /** Read when a program is run, not before. */
  ground(): RunGround;
  readonly cwd: string;
  now(): number;
  /** The command that installs bubblewrap here. */
  install(): string;
}

export function programsOf(asked: ProgramsAsked): {
  run(program: ExecAsked, streams: ExecStreams): Promise<ExecResult>;
} {
  return {
    run: async (program, streams) => {
      const ground = asked.ground();
      const broker = new BrokerClient(join(ground.program, "dist", "broker.cjs"));
      const judging: { now: Judge | null } = { now: null };
      const made = sandboxesOf(asked, ground, networkOf(broker, ground, judging));
      if (!made.ok) return { ok: false, request: null, refused: made.refused };
      try {
        return await runIn(made.sandboxes, program, streams, asked, ground, judging);
      } finally {
        await made.sandboxes.end(null);
        await broker.stop();
      }
    },
  };
}

type Made = { readonly ok: true; readonly sandboxes: Sandboxes } | { readonly ok: false; readonly refused: RunRefused };

function sandboxesOf({ install }: ProgramsAsked, { program, folders, user }: RunGround, broker: NetworkBroker): Made {
  const detected = detectSandbox({ native: nativeProgram(program), install });
  if (folders.state === null) return { ok: false, refused: STATELESS };
  if (!detected.ok) return user?.bare === true ? { ok: true, sandboxes: barePrograms() } : detected;
  const places = groupPlaces();
  const groups = places.length === 0 ? null : new ControlGroups(places);
  const quarantine = join(folders.state, "quarantine");
  return { ok: true, sandboxes: new LinuxSandboxes({ ground: detected.ground, groups, broker, quarantine }) };
}

const STATELESS: RunRefused = {
  code: "audit_unavailable",
  message: "there is no state folder to write decisions to: no home, and no absolute XDG_STATE_HOME",
  fix: null,
};

/** The broker as sandboxes need it: who resolves names, and where credentials are, is the user's to say. */
function networkOf(broker: BrokerClient, ground: RunGround, judging: { readonly now: Judge | null }): NetworkBroker {
  const resolvers = ground.user?.resolvers ?? [];
  const credential = credentialsOf(ground.user?.secrets ?? [], ground.environment, ground.home, () => judging.now);
  return {
    open: (wish) =>
      broker.open({ ...wish, resolver: resolvers.length === 0 ? null : { servers: resolvers }, credential }),
  };
}

async function runIn(
  sandboxes: Sandboxes,
  program: ExecAsked,
  streams: ExecStreams,
  { now, cwd }: ProgramsAsked,
  ground: RunGround,
  judging: { now: Judge | null },
): Promise<ExecResult> {
  const { agent } = program;
  const { authority } = agent;
  // There are no accounts yet, and a limit that nobody counts is not a limit: what is counted is spent.
  const spent = countedIn(authority);
  const exhausted = (link: string, grant: number): boolean => spent.has(`${link} ${grant}`);
  const moment = (): Moment => ({ now: now(), clean: true, generation: 0, revoked: null, exhausted });
  judging.now = (request) => judge(authority, request, moment());
  const { commit, settle } = auditFile(ground.folders.state, now);
  const { tool, input } = callOf(program, folderOf(program, cwd), ground, moment());
  const stopped = { value: false };
  const rings: (() => void)[] = [];
  streams.onStop(() => {
    stopped.value = true;
    for (const ring of rings) ring();
  });
  const result = await runProgram(
    {
      caller: { agent: agent.id, authority },
      owner: { agent: agent.id, session: `exec-${process.pid}`, generation: 0 },
      ground: ground.ground,
      moment,
      // Nobody can be asked until there is a daemon to keep what waits.
      approvals: () => Promise.reject(new Error("nobody can be asked")),
      commit,
      settle,
      plan: (request, by) => planFor({ authority, request, by, level: 0 }, ground, program.milliseconds, moment()),
      sandboxes,
    },
    tool,
    input,
    {
      input: streams.input,
      sinks: streams,
      stop: {
        get stopped() {
          return stopped.value;
        },
        onStop: (ring) => rings.push(ring),
      },
    },
  );
  if (result.ok || result.refused.code !== "budget_exhausted" || result.refused.message !== "") return result;
  return { ...result, refused: { ...result.refused, message: UNCOUNTED } };
}

const UNCOUNTED = "its grant is counted, and there is no account to charge yet";

/** Every grant and every link that may be used so many times, or so often. */
function countedIn(authority: Authority): ReadonlySet<string> {
  const counted = new Set<string>();
  for (const { link } of authority.flat()) {
    if (link.calls !== null) counted.add(`${link.id} ${WHOLE_LINK}`);
    for (const [index, { conditions }] of link.grants.entries())
      if (conditions.calls !== null || conditions.rate !== null) counted.add(`${link.id} ${index}`);
  }
  return counted;
}

/** Where it runs: as asked, else where we are if that is in the agent's own root, else that root. */
function folderOf({ folder, agent }: ExecAsked, cwd: string): string {
  if (folder !== null) return folder;
  const own = agent.workingRoot === null ? null : pathText(agent.workingRoot);
  return own === null || cwd === own || cwd.startsWith(`${own}/`) ? cwd : own;
}

/** As asked; else writable where that is allowed without asking anybody. */
function callOf(program: ExecAsked, folder: string, { ground }: RunGround, moment: Moment): ProgramCall {
  const call = (root: "ro" | "rw"): ProgramCall => callWith(program, folder, root);
  if (program.root !== null) return call(program.root);
  const { tool, input } = call("rw");
  const requests = programTools(ground)(tool)?.requests({ ...input });
  const isAllowed = (request: Request): boolean => judge(program.agent.authority, request, moment).outcome === "allow";
  return requests?.ok === true && requests.value.every(isAllowed) ? { tool, input } : call("ro");
}

interface ProgramCall {
  readonly tool: ProgramToolName;
  readonly input: ProgramInput;
}

function callWith({ what, isThrowaway }: ExecAsked, folder: string, root: "ro" | "rw"): ProgramCall {
  if ("line" in what) return { tool: "proc_eval", input: { line: what.line, in: folder, root } };
  if (isThrowaway) return { tool: "sandbox_exec", input: { argv: what.argv } };
  return { tool: "proc_exec", input: { argv: what.argv, in: folder, root } };
}
