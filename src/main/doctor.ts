// Collects the facts of this machine that doctor checks.

import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import { treeOf } from "../agents/disk/agent-text.ts";
import type { Agents } from "../agents/disk/agents.ts";
import { configDiagnostics, type OpenedProject } from "../agents/disk/loaded-agent.ts";
import { readOrgFile } from "../agents/disk/org-file.ts";
import { isFolder, readUser, userNames } from "../agents/disk/user-files.ts";
import { AGENTS, isAgentFile } from "../agents/disk/workspace.ts";
import type { Agent } from "../agents/project/agent.ts";
import type { Terminal } from "../cli/agents/ports.ts";
import type { ControlPorts } from "../cli/control-ports.ts";
import type { DoctorPorts, ProbeResult } from "../cli/doctor/doctor.ts";
import type { Paint } from "../cli/terminal/paint.ts";
import type { AdmitPorts } from "../cli/trust/admit.ts";
import { parseTool } from "../core/authority/axes/name.ts";
import type { Moment } from "../core/authority/compiled.ts";
import type { Grant } from "../core/authority/grant.ts";
import { isJsonObject, member } from "../core/base/json.ts";
import type { Reading } from "../core/notation/reading.ts";
import type { Source } from "../core/notation/source.ts";
import { readDeclarationValue } from "../core/notation/tools/declaration-value.ts";
import type { ToolDetails } from "../core/ports/daemon/daemon-control.ts";
import type { Step } from "../core/ports/progress.ts";
import type { BrokenFile, Probe, ProbeAgent, ProbeTool, ProbeUser, Trust } from "../doctor/probe.ts";
import { editFile } from "../platform/edit-file.ts";
import { segmentsOf } from "../platform/folders.ts";
import { listFolder } from "../platform/listing.ts";
import { machineFacts } from "../sandbox/linux/machine.ts";
import { sourceCharactersMax } from "../text/read.ts";

export interface DoctorLocation {
  readonly cwd: string;
  readonly workspace: string | null;
  readonly state: string | null;
  readonly now: number;
  /** The path that a displayed name stands for. */
  resolve(name: string): string;
}

interface DoctorDeps {
  readonly agents: Agents;
  readonly place: DoctorLocation;
  readonly paint: Paint;
  readonly terminal: Terminal;
  /** The path of our native program. */
  readonly native: string;
  readonly hooks: NonNullable<DoctorPorts["hooks"]>;
  /** On the caller's search path. */
  toolchains(): NonNullable<Probe["toolchains"]>;
  readonly shadow: NonNullable<DoctorPorts["shadow"]>;
  readonly admit: AdmitPorts["admit"];
  readonly running: ControlPorts["running"];
  readonly serving: NonNullable<ControlPorts["serving"]>;
  readonly home: string | null;
  /** The user's configuration folder. */
  readonly config: string | null;
  readonly moment: Moment;
  read(source: Source, id: string): Agent;
  reading(): Reading;
  print(text: string): void;
  printError(text: string): void;
}

export function doctorPorts({
  agents,
  place,
  read,
  reading,
  native,
  admit,
  running,
  serving,
  hooks,
  shadow,
  toolchains,
  ...asked
}: DoctorDeps): DoctorPorts {
  const { paint, terminal, print, printError } = asked;
  const { cwd, workspace, state, now } = place;
  const probe = (names: readonly string[], step: Step = () => {}): ProbeResult => {
    const found: ProbeAgent[] = [];
    const broken: BrokenFile[] = [];
    const org = readOrgFile(workspace, agents.nameOf);
    const members = org?.org.agents.map(({ id }) => id) ?? [];
    const listed =
      names.length > 0 || workspace === null ? { ids: names, broken: [] } : listAgents(workspace, members, now);
    broken.push(...listed.broken);
    for (const [at, name] of listed.ids.entries()) {
      step(at, listed.ids.length);
      const loaded = agents.loadAgent(name);
      if (loaded.ok) {
        const { source, trust } = loaded.value;
        // Doctor checks the record as written, trusted or not.
        const isMember = source.name === org?.source.name;
        const tree = isMember ? null : treeOf(source);
        found.push({ ...(trust?.written ?? loaded.value.agent), source, tree, ...(isMember ? { isMember } : {}) });
      } else if (names.length > 0) return loaded;
      else broken.push({ file: `${AGENTS}/${name}`, problem: loaded.message });
    }
    const project = agents.openProject(step);
    const ofOrg = org === null || names.length > 0 ? [] : org.org.diagnostics.map((one) => [one, org.source] as const);
    const configs = [...(project === null ? [] : configDiagnostics(project)), ...ofOrg];
    const sources = [...new Set(configs.map(([, source]) => source))];
    return {
      ok: true,
      value: {
        agents: found,
        broken,
        configs: sources.map((source) => ({
          source,
          diagnostics: configs.filter(([, one]) => one === source).map(([diagnostic]) => diagnostic),
        })),
        workspace:
          workspace === null
            ? null
            : {
                folders: [segmentsOf(join(workspace, ".ambit"))],
                trust: trustOf(project),
                hasUsers: existsSync(join(workspace, ".ambit", "users")),
              },
        machine: {
          ...machineFacts({ native, state }),
          requiresNamespaces: project?.user?.config.namespaces === "required",
        },
        ...(names.length > 0 ? {} : { toolchains: toolchains() }),
        tools: [],
        // What is about all agents is said when all are looked at.
        ...(names.length > 0
          ? {}
          : { policies: project?.levels.policies ?? null, users: probeUsers(asked, reading()) }),
        pathSettings: reading().pathSettings,
        now,
      },
    };
  };
  return {
    paint,
    print,
    printError,
    probe,
    hooks,
    shadow,
    sink: async () => {
      const status = await running();
      return status.ok ? (status.value?.sink ?? null) : null;
    },
    secrets: async () => {
      const status = await running();
      return status.ok ? (status.value?.secrets ?? null) : null;
    },
    tools: async () => {
      const control = await serving();
      if (control === null || workspace === null) return [];
      try {
        const answer = await control.ask("tools.all", { cwd: workspace, agent: null });
        return answer.ok ? answer.value.tools.flatMap((tool) => probeTool(tool, reading())) : [];
      } finally {
        control.close();
      }
    },
    servers: async () => {
      const control = await serving();
      if (control === null) return [];
      try {
        const answer = await control.ask("servers.list", { cwd: workspace ?? cwd });
        return answer.ok ? answer.value.servers.filter(({ isEnabled, waits }) => isEnabled && waits === null) : [];
      } finally {
        control.close();
      }
    },
    mayWiden: async (what) => (await admit({ command: "doctor --fix", what, presence: null })).ok,
    confirm: (question) => (terminal.isInteractive ? terminal.confirm(question) : Promise.resolve(null)),
    readAgent: read,
    replace: (before, text) => {
      if (state === null) return { ok: false, message: "there is no state folder, so the edit could not be undone" };
      const edited = editFile(
        place.resolve(before.name),
        { state, inside: workspace ?? cwd, charactersMax: sourceCharactersMax },
        (current) =>
          current === before.text
            ? { kind: "write", text }
            : { kind: "refuse", refusal: "the file was changed in the meantime" },
      );
      if (edited.kind === "done") return { ok: true };
      return { ok: false, message: edited.kind === "refused" ? edited.refusal : edited.message };
    },
  };
}

function probeTool({ name, origin, input, declared }: ToolDetails, reading: Reading): readonly ProbeTool[] {
  const tool = parseTool(origin === "builtin" ? `builtin:${name}` : name);
  if (!tool.ok) return [];
  const properties = member(input, "properties");
  const requirement = declared === null ? null : readDeclarationValue(declared, reading).requirement;
  const isOwn = (grant: Grant): boolean => requirement?.inherited.every((part) => part !== grant.implied) ?? true;
  const needs = (requirement?.grants ?? []).filter(isOwn);
  return [{ name, tool: tool.value, arguments: isJsonObject(properties) ? Object.keys(properties) : [], needs }];
}

function probeUsers(
  { config, home, moment }: Pick<DoctorDeps, "config" | "home" | "moment">,
  reading: Reading,
): readonly ProbeUser[] {
  return (userNames(config) ?? []).flatMap((name): readonly ProbeUser[] => {
    const record = readUser(config, name, reading, moment);
    if (record === null) return [];
    const { source, diagnostics, facts } = record;
    const workspaces = facts.workspaces?.map((written) => ({ written, exists: isFolder(written, home) })) ?? null;
    return [{ name, source, diagnostics, workspaces }];
  });
}

/** Every file that should hold an agent: readable ones by id, the others with their problems. */
function listAgents(
  workspace: string,
  members: readonly string[],
  now: number,
): { readonly ids: readonly string[]; readonly broken: readonly BrokenFile[] } {
  const { files, problems } = listFolder({
    folder: join(workspace, AGENTS),
    inside: workspace,
    now,
    limits: {
      filesMax: 10_000,
      depthMax: 16,
      entriesMax: 100_000,
      fileBytesMax: sourceCharactersMax,
      bytesMax: 256 * 1024 * 1024,
    },
    isWanted: isAgentFile,
    isEntered: () => true,
  });
  return {
    ids: [...new Set([...files.map(({ path }) => path.slice(0, -extname(path).length)), ...members])],
    broken: problems.map(({ path, message }) => ({ file: `${AGENTS}/${path}`, problem: message })),
  };
}

function trustOf(project: OpenedProject | null): Trust {
  const review = project?.review;
  if (review === undefined) return "unknown";
  if (review.state === "untrusted") return "untrusted";
  const waits = review.agents.some(({ status }) => status.kind !== "own" && status.kind !== "trusted");
  return review.state === "changed" && waits ? "widened" : "trusted";
}
