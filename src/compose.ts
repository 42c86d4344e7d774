// The only place that joins ports to implementations; its parts are in `compose/`.
import { extname, resolve } from "node:path";
import pico from "picocolors";
import type { Moment } from "./authority/compiled.ts";
import type { Terminal } from "./cli/agents-world.ts";
import { type Paint, PLAIN } from "./cli/paint.ts";
import type { ProgramWorld } from "./cli/program.ts";
import { VERSION } from "./cli/version.ts";
import { agentOf } from "./compose/agent-text.ts";
import { openAgents } from "./compose/agents.ts";
import { doctorWorld } from "./compose/doctor.ts";
import { initParts } from "./compose/first-steps.ts";
import { once } from "./compose/once.ts";
import { recordsDesk, skillMachine } from "./compose/records.ts";
import { trustingFiles } from "./compose/trusting-files.ts";
import { AgentFiles } from "./node/agent-files.ts";
import { toAscii } from "./node/ascii.ts";
import { userFolders } from "./node/folders.ts";
import { homeFolder } from "./node/ground.ts";
import { machineGround } from "./node/machine-ground.ts";
import { realRoot } from "./node/real-path.ts";
import { agentIds, findWorkspace } from "./node/workspace.ts";
import type { Reading } from "./notation/reading.ts";
import { readFrontmatter } from "./text/frontmatter.ts";
import { sourceCharactersMax } from "./text/read.ts";

export { agentOf };

export interface Machine {
  readonly cwd: string;
  readonly now: number;
  readonly colour: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  print(text: string): void;
  printError(text: string): void;
}

/** The world of the command line, over plain files. */
export function composeWorld(machine: Machine): ProgramWorld {
  const { cwd, now, environment, terminal, print, printError } = machine;
  const workspace = findWorkspace(cwd);
  const home = homeFolder();
  const folders = userFolders({ environment, home, workspace });
  const moment: Moment = { now, clean: true, generation: 0, revoked: null, exhausted: null };
  const readingAt = (base: string): Reading => ({
    ground: machineGround({ home, base, folders, workspace }),
    toAscii,
    ceiling: null,
    realRoot,
  });
  const reading = once(() => readingAt(cwd));
  const agents = openAgents({ cwd, workspace, home, folders, moment, readingAt });
  const first = initParts({
    cwd,
    workspace,
    home,
    reopen: () => openAgents({ cwd, workspace: findWorkspace(cwd), home, folders, moment, readingAt }),
  });
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
    doctor: doctorWorld({
      agents,
      place: { cwd, workspace, state: folders.state, now, resolve: (name) => resolve(cwd, name) },
      read: (source, id) => agentOf(source, id, extname(source.name), readingAt(workspace ?? cwd), moment),
      reading,
      paint,
      terminal,
      print,
      printError,
    }),
    print,
    printError,
  };
}

const COLOURS: Paint = { good: pico.green, bad: pico.red, warn: pico.yellow, dim: pico.dim, strong: pico.bold };
