// Programs as the daemon runs them: one broker and one set of sandboxes for as long as it lives, warm between the calls.
import { join } from "node:path";
import type { Redacting } from "../audit/redaction/redactor.ts";
import { BrokerClient } from "../broker/client.ts";
import type { ProgramResult, ProgramRun, Programs } from "../daemon/parts.ts";
import type { Exchange } from "../daemon/serving.ts";
import { barePrograms } from "../node/bare-programs.ts";
import type { UserFolders } from "../node/folders.ts";
import { ControlGroups } from "../node/sandbox/control-groups.ts";
import { detectSandbox } from "../node/sandbox/detect-sandbox.ts";
import { groupPlaces } from "../node/sandbox/group-places.ts";
import { LinuxSandboxes } from "../node/sandbox/linux-sandboxes.ts";
import type { RunRefused } from "../ports/process.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import {
  argvOfInput,
  isProgramTool,
  type ProgramInput,
  type ProgramToolName,
  programTools,
} from "../tools/program-tools.ts";
import { runProgram } from "../tools/run-program.ts";
import { type AskSecret, credentialsOf } from "./credentials.ts";
import { nativeProgram } from "./native-program.ts";
import { planFor, type RunGround } from "./plan-facts.ts";

export interface DaemonProgramsAsked {
  readonly program: string;
  readonly folders: UserFolders;
  /** Configuration, trusted project and ground as they are now, for whoever stands in a folder. */
  ground(cwd: string, environment: ProgramRun["environment"]): RunGround;
  /** The command that installs bubblewrap here. */
  install(): string;
  /** Secrets that are kept here, besides those the user's configuration refers to. */
  readonly secret: AskSecret;
  /** Takes secrets out of output as it comes; null where there is nothing to take out. */
  stream(): Redacting | null;
}

/** What the sandboxes of a session may ask for while they are there. */
interface SessionRun {
  readonly run: ProgramRun;
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

  const run = async (wanted: ProgramRun, exchange: Exchange): Promise<ProgramResult> => {
    const ground = asked.ground(wanted.cwd, wanted.environment);
    const where = sandboxes(ground);
    if (!("run" in where)) return { ok: false, refused: where, request: null, denial: null };
    const input = inputOf(wanted);
    if (input === null) return { ok: false, refused: NOT_UNDERSTOOD, request: null, denial: null };
    runs.set(wanted.session, { run: wanted, ground });
    const [output, errors] = [redacted(asked.stream(), exchange, 1), redacted(asked.stream(), exchange, 2)];
    const { caller, session, generation, moment, holds, approvals, commit, settle, milliseconds } = wanted;
    const result = await runProgram(
      {
        caller,
        holds,
        owner: { agent: wanted.owner, session, generation },
        ground: wanted.ground,
        moment,
        approvals,
        commit,
        settle,
        plan: (request, by) =>
          // This call has paid already: that nothing is left for another must not end it.
          planFor({ authority: caller.authority, request, by, level: 0 }, ground, milliseconds, {
            ...moment(),
            exhausted: null,
          }),
        sandboxes: where,
      },
      wanted.tool as ProgramToolName,
      input,
      {
        input: exchange.value["hasInput"] === true ? exchange.input : null,
        sinks: { output: output.write, errors: errors.write },
        stop: {
          get stopped() {
            return exchange.isStopped;
          },
          onStop: (ring) => exchange.onStop(ring),
        },
      },
    );
    output.end();
    errors.end();
    return result;
  };

  const end = async (agent: string | null): Promise<number> => {
    const before = made?.count ?? 0;
    await made?.end(agent);
    return before - (made?.count ?? 0);
  };
  return {
    isProgram: isProgramTool,
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
function redacted(
  stream: Redacting | null,
  exchange: Exchange,
  channel: number,
): { write(bytes: Uint8Array): void; end(): void } {
  const send = (bytes: Uint8Array): void => {
    if (bytes.length > 0) void exchange.send(channel, bytes);
  };
  return {
    write: (bytes) => send(stream === null ? bytes : stream.write(bytes)),
    end: () => {
      if (stream !== null) send(stream.end());
    },
  };
}

const STATELESS: RunRefused = {
  code: "audit_unavailable",
  message: "there is no state folder to write decisions to: no home, and no absolute XDG_STATE_HOME",
  fix: null,
};

const NOT_UNDERSTOOD: RunRefused = {
  code: "invalid_input",
  message: "a program is run with `argv`, or `line`, and `in` and `root`",
  fix: null,
};

/** What the tool itself takes; anything else has no arguments to run. */
function inputOf({ tool, input, ground }: ProgramRun): ProgramInput | null {
  const known = programTools(ground)(tool);
  if (known === null || !known.requests(input).ok) return null;
  const given = input as unknown as ProgramInput;
  return argvOfInput(given) === null ? null : given;
}
