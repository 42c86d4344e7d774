// The composition root of the command line: connects ports to implementations.
import { existsSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { AgentFiles } from "../agents/disk/agent-files.ts";
import { agentOf } from "../agents/disk/agent-text.ts";
import { commandContext } from "../agents/disk/command-context.ts";
import { orgTree, readOrgFile } from "../agents/disk/org-file.ts";
import { readWholeOrg, recordMember, writeOrgFiles } from "../agents/disk/org-members.ts";
import { readPersonalityFolder } from "../agents/disk/personality-folder.ts";
import { recordsFolder, skillMachine } from "../agents/disk/records.ts";
import { editableServers } from "../agents/disk/server-files.ts";
import { editOrgFile, trustingFiles } from "../agents/disk/trusting-files.ts";
import { agentIds, findWorkspace } from "../agents/disk/workspace.ts";
import type { Terminal } from "../cli/agents/ports.ts";
import { hookReports } from "../cli/doctor/doctor.ts";
import type { ProgramPorts } from "../cli/program.ts";
import { shadowLines } from "../cli/status/status.ts";
import { COLOURS, PLAIN } from "../cli/terminal/paint.ts";
import { toolFilesAt } from "../cli/tools/files.ts";
import { readUserProfiles } from "../clients/disk/user-profiles.ts";
import { REGISTRY_VARIABLES } from "../clients/package-settings.ts";
import { pathText } from "../core/authority/axes/path.ts";
import { isJsonObject } from "../core/base/json.ts";
import { VERSION } from "../core/base/version.ts";
import { parseJson } from "../core/notation/json-reader.ts";
import { toolchainsOn } from "../daemon/programs/toolchains.ts";
import { changeClassOf } from "../daemon/records/change-class.ts";
import { presenceReason } from "../daemon/records/presence-reason.ts";
import { daemonClient } from "../daemon/rpc/connect.ts";
import { signatureCheck } from "../log/keys/key-text.ts";
import { CERTIFICATE_VARIABLES } from "../platform/certificate-files.ts";
import { programsOnPath } from "../platform/detect.ts";
import { sha256 } from "../platform/digest.ts";
import { readTextFile } from "../platform/files.ts";
import { segmentsOf } from "../platform/folders.ts";
import { lazy } from "../platform/lazy.ts";
import { nativeProgram } from "../platform/native-program.ts";
import { namedFolder, passedEnvironment } from "../platform/passed-environment.ts";
import { realRoot } from "../platform/real-path.ts";
import { stateBackups } from "../store/folder.ts";
import { readFrontmatter } from "../text/frontmatter.ts";
import { sourceCharactersMax } from "../text/read.ts";
import { readYaml } from "../text/yaml.ts";
import { pageProcess } from "../tools/web/page-process.ts";
import { presentWith } from "../tools/web/present-result.ts";
import { clientSettingsPort } from "./client-settings.ts";
import { doctorPorts } from "./doctor.ts";
import { initParts } from "./init.ts";
import { packageSettings } from "./package-settings.ts";
import { programRunner } from "./programs.ts";
import { taskOutputs } from "./task-outputs.ts";
import { listenForHooks } from "./webhooks.ts";

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

const CAVEATS_VARIABLES: readonly string[] = ["AMBIT_CAVEATS", "AGENT_BRIDLE_CAVEATS"];

const HOME_VARIABLES: readonly string[] = [...CERTIFICATE_VARIABLES, ...REGISTRY_VARIABLES];

/** The dependencies of the command line, over plain files. */
export function composePorts(machine: Machine): ProgramPorts {
  const { cwd, now, terminal, print, printError } = machine;
  const { workspace, home, folders, moment, agents, readingAt, reading, reopen } = commandContext(machine);
  const first = initParts({ cwd, workspace, home, path: machine.environment["PATH"] ?? "", reopen });
  const { nameOf, loadAgent, loadSet, openProject } = agents;
  const records = lazy(() => (workspace === null ? null : recordsFolder(workspace, folders.state, now, nameOf)));
  const skills = lazy(() => skillMachine({ home, config: folders.config, workspace, records: records(), now, nameOf }));
  const paint = machine.colour ? COLOURS : PLAIN;
  const isInstalled = basename(dirname(machine.program)) === "node_modules";
  const daemon = daemonClient({
    home,
    folders,
    program: machine.program,
    isPresenceNeeded: () => presenceReason(agents.user()?.config ?? null) !== null,
  });
  const files = new AgentFiles({ cwd, workspace, state: folders.state, charactersMax: sourceCharactersMax });
  const settings = clientSettingsPort({
    ...{ workspace, cwd, home, state: folders.state, program: machine.program, environment: machine.environment },
  });
  return {
    version: VERSION,
    caveatsVariable: CAVEATS_VARIABLES.find((name) => machine.environment[name] !== undefined) ?? null,
    get reading() {
      return reading();
    },
    get protectedPaths() {
      return reading().pathSettings.protectedPaths;
    },
    moment,
    changeClass: changeClassOf({ home, folders, workspace, agents, program: machine.program }),
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
    files: trustingFiles(files, agents, cwd, workspace),
    untrustedFiles: files,
    orgs: {
      whole: () => readWholeOrg(workspace, nameOf),
      read: (path) => {
        const content = readTextFile(resolve(cwd, path), sourceCharactersMax);
        if (content.ok) return { ok: true, value: { name: path, text: content.text } };
        return { ok: false, message: `${path} ${content.message}` };
      },
      parse: orgTree,
      parseRecord: recordMember,
      write: (files) => writeOrgFiles(workspace ?? cwd, files),
      file: () => {
        const found = readOrgFile(workspace, nameOf);
        return found === null || found.problem !== null ? null : found;
      },
      edit: ({ path, source }, text) =>
        workspace === null || folders.state === null
          ? { ok: false, message: "there is no state folder, so the edit could not be undone" }
          : editOrgFile(agents, { workspace, state: folders.state }, path, source, text),
    },
    taskOutputs: folders.state === null ? null : taskOutputs(folders.state),
    webhooks: listenForHooks,
    fresh: () => composePorts(machine),
    personality: (path) => readPersonalityFolder(resolve(cwd, path), readingAt(workspace ?? cwd)),
    editContext: (name) => ({
      reading: { ...agents.opened().project.readingOf(name), name },
      moment,
      read: (source) => readFrontmatter(source).read,
    }),
    ...first,
    clientSettings: settings,
    redirects: async () => (await import("../platform/redirect-listener.ts")).RedirectListener.open(),
    installation: {
      package: machine.program,
      isInstalled,
      builtAt: () =>
        isInstalled
          ? null
          : (statSync(join(machine.program, "dist", "daemon.cjs"), { throwIfNoEntry: false })?.mtimeMs ?? null),
      folders: () => ({ state: existing(folders.state), config: existing(folders.config) }),
      backups: () => stateBackups(folders.state),
    },
    isTerminal: terminal.isInteractive,
    ...daemon,
    cwd,
    namedFolder: namedFolder(machine.environment),
    workspaceAt: (folder = ".") => {
      const path = resolve(cwd, folder);
      const real = realRoot(segmentsOf(path));
      return findWorkspace(real === null ? path : pathText(real));
    },
    verifying: { digest: sha256, check: signatureCheck() },
    verifyStored: async (head, key) => {
      if (folders.state === null) return { ok: false, code: "audit_unavailable", message: "there is no state folder" };
      // Loaded on demand: other commands do not need the database driver.
      const { verifyStoredLog } = await import("../daemon/log/stored-log.ts");
      return verifyStoredLog({ state: folders.state, program: machine.program }, head, key);
    },
    readJsonObject: (text) => {
      const read = parseJson(text);
      return read.ok && isJsonObject(read.value) ? read.value : null;
    },
    present: presentWith(pageProcess(join(machine.program, "dist", "page.cjs"))),
    toolFiles: toolFilesAt(cwd),
    servers: {
      ...editableServers({ cwd, workspace, folders, readingAt, opened: () => agents.opened() }),
      tree: (source) => readYaml(source).tree,
    },
    ...packageSettings(home, machine.environment),
    now: () => Date.now(),
    programsFound: (names) => programsOnPath(names, machine.environment["PATH"] ?? ""),
    userProfiles: () => {
      const { protectedPaths } = reading().pathSettings;
      return readUserProfiles({ config: folders.config, home, protectedPaths });
    },
    terminalPasses: () => agents.user()?.config.terminal ?? [],
    programs: programRunner({
      cwd,
      moment,
      pathSettings: () => reading().pathSettings,
      call: daemon.call,
      environment: () => passedEnvironment(machine.environment, agents.user()?.config ?? null, HOME_VARIABLES),
    }),
    doctor: doctorPorts({
      hooks: (isInClients) => hookReports({ cwd, clientSettings: settings }, isInClients),
      toolchains: () => {
        const ours = [folders.state, folders.config].flatMap((one) => (one === null ? [] : [segmentsOf(one)]));
        const real = home === null ? null : realRoot(segmentsOf(home));
        const { protectedPaths } = reading().pathSettings;
        const path = machine.environment["PATH"] ?? "";
        return toolchainsOn(path, { home: real, ours, protectedPaths }, agents.user()?.config.programs);
      },
      shadow: () => shadowLines({ user: agents.user() }, Date.now()),
      agents,
      place: { cwd, workspace, state: folders.state, now, resolve: (name) => resolve(cwd, name) },
      read: (source, id) => agentOf(source, id, extname(source.name), readingAt(workspace ?? cwd), moment),
      reading,
      paint,
      terminal,
      native: nativeProgram(machine.program),
      admit: daemon.admit,
      running: daemon.running,
      serving: daemon.serving,
      home,
      config: folders.config,
      moment,
      print,
      printError,
    }),
    print,
    printError,
  };
}

function existing(folder: string | null): string | null {
  return folder !== null && existsSync(folder) ? folder : null;
}
