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
import type { RunRefused } from "../ports/process.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import { type ProgramInput, type ProgramToolName, programTools } from "../tools/program-tools.ts";
import { runProgram } from "../tools/run-program.ts";
import { credentialsOf, type UseOfSecret } from "./credentials.ts";
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
      const judging: { now: UseOfSecret | null } = { now: null };
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
function networkOf(
  broker: BrokerClient,
  ground: RunGround,
  judging: { readonly now: UseOfSecret | null },
): NetworkBroker {
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
  judging: { now: UseOfSecret | null },
): Promise<ExecResult> {
  const { agent } = program;
  const { authority } = agent;
  // There are no accounts yet, and a limit that nobody counts is not a limit: what is counted is spent.
  const spent = countedIn(authority);
  const exhausted = (link: string, grant: number): boolean => spent.has(`${link} ${grant}`);
  const moment = (): Moment => ({ now: now(), clean: true, generation: 0, revoked: null, exhausted });
  const { commit, settle } = auditFile(ground.folders.state, now);
  // A secret is handed over only once that is written down.
  judging.now = async (request) => {
    const decision = judge(authority, request, { ...moment(), clean: false });
    const covered = decision.outcome === "allow";
    const code = decision.outcome === "deny" ? decision.code : covered ? null : "approval_required";
    const basis = decision.outcome === "deny" ? [] : [decision.by];
    const entry = { agent: agent.id, tool: "git", requests: [request], basis, charges: [], code } as const;
    const written = await commit({ ...entry, outcome: covered ? "allow" : "deny" });
    return covered && written.ok;
  };
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
  const message = result.ok || result.refused.message !== "" ? undefined : MESSAGES.get(result.refused.code);
  return result.ok || message === undefined ? result : { ...result, refused: { ...result.refused, message } };
}

const MESSAGES: ReadonlyMap<string, string> = new Map([
  ["budget_exhausted", "its grant is counted, and there is no account to charge yet"],
  ["audit_unavailable", "what is decided could not be written to audit.jsonl in the state folder"],
]);

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
