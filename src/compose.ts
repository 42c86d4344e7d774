// The only place that joins ports to implementations; its parts are in `compose/`.
import { extname, resolve } from "node:path";
import type { Terminal } from "./cli/agents-world.ts";
import type { CanWorld } from "./cli/can.ts";
import { COLOURS, PLAIN } from "./cli/paint.ts";
import type { ProgramWorld } from "./cli/program.ts";
import { VERSION } from "./cli/version.ts";
import { agentOf } from "./compose/agent-text.ts";
import { askingAt } from "./compose/asking.ts";
import { doctorWorld } from "./compose/doctor.ts";
import { initParts } from "./compose/first-steps.ts";
import { once } from "./compose/once.ts";
import { nativeProgram, programsOf } from "./compose/programs.ts";
import { recordsDesk, skillMachine } from "./compose/records.ts";
import { trustingFiles } from "./compose/trusting-files.ts";
import { installCommand } from "./doctor/backend.ts";
import { AgentFiles } from "./node/agent-files.ts";
import { userName } from "./node/ground.ts";
import { machineFacts } from "./node/machine.ts";
import { agentIds } from "./node/workspace.ts";
import { readFrontmatter } from "./text/frontmatter.ts";
import { sourceCharactersMax } from "./text/read.ts";

export { agentOf };

export interface Machine {
  readonly cwd: string;
  readonly now: number;
  readonly colour: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  /** The folder of our own package. */
  readonly program: string;
  print(text: string): void;
  printError(text: string): void;
}

/** What is enough to answer a question. */
export type AskingMachine = Omit<Machine, "terminal" | "program">;

/** The part of the world that `can` looks at; the program that is started for it holds no more. */
export function composeCan({ print, printError, ...machine }: AskingMachine): CanWorld {
  const { agents, reading, moment } = askingAt(machine);
  return {
    get reading() {
      return reading();
    },
    moment,
    paint: machine.colour ? COLOURS : PLAIN,
    loadAgent: agents.loadAgent,
    print,
    printError,
  };
}

/** The world of the command line, over plain files. */
export function composeWorld(machine: Machine): ProgramWorld {
  const { cwd, now, terminal, print, printError } = machine;
  const { workspace, home, folders, moment, agents, readingAt, reading, reopen } = askingAt(machine);
  const first = initParts({ cwd, workspace, home, reopen });
  const { nameOf, loadAgent, loadSet, openProject } = agents;
  const records = once(() => (workspace === null ? null : recordsDesk(workspace, folders.state, now, nameOf)));
  const skills = once(() => skillMachine({ home, config: folders.config, workspace, records: records(), now, nameOf }));
  const paint = machine.colour ? COLOURS : PLAIN;
  return {
    version: VERSION,
    get reading() {
      return reading();
    },
    get protectedPaths() {
      return reading().ground.protectedPaths;
    },
    moment,
    paint,
    terminal,
    openProject,
    loadAgent,
    loadSet,
    agentIds: () => agentIds(workspace),
    get records() {
      return records();
    },
    skills: {
      get reading() {
        return readingAt(workspace ?? cwd);
      },
      get machine() {
        return skills();
      },
    },
    files: trustingFiles(
      new AgentFiles({ cwd, workspace, state: folders.state, charactersMax: sourceCharactersMax }),
      agents,
      cwd,
      workspace,
    ),
    editGround: (name) => ({
      reading: { ...agents.opened().project.readingOf(name), name },
      moment,
      read: (source) => readFrontmatter(source).read,
    }),
    ...first,
    isTerminal: terminal.isInteractive,
    programs: programsOf({
      cwd,
      now: () => Date.now(),
      install: () => installCommand(machineFacts().distribution),
      ground: () => {
        const { project } = agents.opened();
        return {
          home,
          workspace,
          folders,
          program: machine.program,
          ground: reading().ground,
          environment: machine.environment,
          user: agents.user()?.config ?? null,
          project: project.isConfigAsTrusted ? (project.config?.config ?? null) : null,
          userName: userName(),
        };
      },
    }),
    doctor: doctorWorld({
      agents,
      place: { cwd, workspace, state: folders.state, now, resolve: (name) => resolve(cwd, name) },
      read: (source, id) => agentOf(source, id, extname(source.name), readingAt(workspace ?? cwd), moment),
      reading,
      paint,
      terminal,
      native: nativeProgram(machine.program),
      print,
      printError,
    }),
    print,
    printError,
  };
}
