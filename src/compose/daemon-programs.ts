// Programs as the daemon runs them: one broker and one set of sandboxes for as long as it lives, warm between the calls.
import { join } from "node:path";
import type { Redacting } from "../audit/redaction/redactor.ts";
import { BrokerClient } from "../broker/client.ts";
import type { ProgramAsked, ProgramGround, Programs } from "../daemon/parts.ts";
import { barePrograms } from "../node/bare-programs.ts";
import type { UserFolders } from "../node/folders.ts";
import { ControlGroups } from "../node/sandbox/control-groups.ts";
import { detectSandbox } from "../node/sandbox/detect-sandbox.ts";
import { groupPlaces } from "../node/sandbox/group-places.ts";
import { LinuxSandboxes } from "../node/sandbox/linux-sandboxes.ts";
import type { RunRefused, RunResult, Sinks } from "../ports/process.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import { argvOfInput, isProgramTool } from "../tools/program-tools.ts";
import { runProgram } from "../tools/run-program.ts";
import { type AskSecret, credentialsOf } from "./credentials.ts";
import { nativeProgram } from "./native-program.ts";
import { planFor, type RunGround } from "./plan-facts.ts";

export interface DaemonProgramsAsked {
  readonly program: string;
  readonly folders: UserFolders;
  /** Configuration, trusted project and ground as they are now, for whoever stands in a folder. */
  ground(cwd: string, environment: ProgramGround["environment"]): RunGround;
  /** The command that installs bubblewrap here. */
  install(): string;
  /** Secrets that are kept here, besides those the user's configuration refers to. */
  readonly secret: AskSecret;
  /** Takes secrets out of output as it comes; null where there is nothing to take out. */
  stream(): Redacting | null;
}

/** What the sandboxes of a session may ask for while they are there. */
interface SessionRun {
  readonly run: ProgramGround;
  readonly ground: RunGround;
}

export interface DaemonPrograms extends Programs {
  /** For tools that reach the network without a program. */
  readonly fetch: BrokerClient["fetch"];
  close(): Promise<void>;
}

export function daemonPrograms(asked: DaemonProgramsAsked): DaemonPrograms {
  const { program, folders } = asked;
  const broker = new BrokerClient(join(program, "dist", "broker.cjs"));
  const runs = new Map<string, SessionRun>();
  let made: LinuxSandboxes | null = null;

  /** Made when the first program is run, and asked again where the machine had no sandbox before. */
  const sandboxes = ({ user }: RunGround): Sandboxes | RunRefused => {
    if (made !== null) return made;
    const detected = detectSandbox({ native: nativeProgram(program), install: asked.install });
    if (folders.state === null) return STATELESS;
    if (!detected.ok) return user?.bare === true ? barePrograms() : detected.refused;
    const places = groupPlaces();
    made = new LinuxSandboxes({
      ground: detected.ground,
      groups: places.length === 0 ? null : new ControlGroups(places),
      quarantine: join(folders.state, "quarantine"),
      broker: {
        open: (wish) => {
          const session = runs.get(wish.owner.session);
          const resolvers = session?.ground.user?.resolvers ?? [];
          const credential = credentialsOf(() => runs.get(wish.owner.session) ?? null, asked.secret);
          return broker.open({ ...wish, resolver: resolvers.length === 0 ? null : { servers: resolvers }, credential });
        },
      },
    });
    return made;
  };

  const run = async (wanted: ProgramGround, program: ProgramAsked): Promise<RunResult> => {
    const ground = asked.ground(wanted.cwd, wanted.environment);
    const where = sandboxes(ground);
    if (!("run" in where)) return { ok: false, refused: where };
    runs.set(wanted.session, { run: wanted, ground });
    const { session, generation, moment, holds, authority } = wanted;
    const [output, errors] = [program.sinks.output, program.sinks.errors].map((sink) => redacted(asked.stream(), sink));
    const result = await runProgram(
      {
        holds,
        owner: { agent: wanted.owner, session, generation },
        moment,
        plan: (request, by) =>
          // This call has paid already: that nothing is left for another must not end it.
          planFor({ authority, request, by, level: 0 }, ground, program.milliseconds, { ...moment(), exhausted: null }),
        sandboxes: where,
      },
      program,
      program,
      { output: (bytes) => output?.write(bytes), errors: (bytes) => errors?.write(bytes) },
      program.stop,
    );
    output?.end();
    errors?.end();
    return result;
  };

  const end = async (agent: string | null): Promise<number> => {
    const before = made?.count ?? 0;
    await made?.end(agent);
    return before - (made?.count ?? 0);
  };
  return {
    isProgram: isProgramTool,
    argvOf: argvOfInput,
    run,
    end,
    fetch: (wish) => broker.fetch(wish),
    get count() {
      return made?.count ?? 0;
    },
    close: async () => {
      await end(null);
      await broker.stop();
    },
  };
}

/** What is held back in case a secret goes on in the next piece is sent at the end. */
function redacted(stream: Redacting | null, sink: Sinks["output"]): { write: Sinks["output"]; end(): void } {
  const send: Sinks["output"] = (bytes) => (bytes.length > 0 ? sink(bytes) : undefined);
  return {
    write: (bytes) => send(stream === null ? bytes : stream.write(bytes)),
    end: () => {
      if (stream !== null) void send(stream.end());
    },
  };
}

const STATELESS: RunRefused = {
  code: "audit_unavailable",
  message: "there is no state folder to write decisions to: no home, and no absolute XDG_STATE_HOME",
  fix: null,
};
