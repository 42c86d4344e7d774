// Programs as the daemon runs them: in a sandbox over a draft of the project, until their changes have landed in it.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { PlanDecision } from "../../src/core/gate/programs/program-root.ts";
import type { ChangesReport } from "../../src/core/ports/drafts.ts";
import type { ProgramContext, Records } from "../../src/daemon/parts.ts";
import { daemonDrafts } from "../../src/daemon/programs/drafts.ts";
import { daemonPrograms } from "../../src/daemon/programs/programs.ts";
import { RootLock } from "../../src/sandbox/drafts/root-lock.ts";
import { TriggerTable } from "../../src/sandbox/plan/triggers/trigger-table.ts";
import { rootFolder } from "../place.ts";
import { type BenchFixture, decidedIn, moment } from "./fixture.ts";

export type Argv = readonly [string, ...string[]];

export interface DraftProgram {
  readonly argv: Argv;
  readonly project: string;
  /** `ro`: the same program with a read-only root, and no draft. */
  readonly root: "ro" | "rw";
  /** The first command of a session finds no prepared sandbox. */
  readonly session: string;
}

export interface DraftRun {
  readonly output: string;
  readonly changes: ChangesReport | null;
}

export class DraftPrograms {
  readonly #fixture: BenchFixture;
  readonly #drafts;
  readonly #programs;
  readonly #known = new Map<string, PlanDecision>();
  #calls = 0;

  constructor(fixture: BenchFixture) {
    this.#fixture = fixture;
    const { run, reading } = decidedIn(fixture, "ro", []);
    const state = join(fixture.home, ".local", "state", "ambit");
    const table = new TriggerTable();
    const options = { program: rootFolder, folders: run.folders, now: Date.now };
    const records: Pick<Records, "readingAt"> = { readingAt: () => reading };
    mkdirSync(state, { recursive: true });
    this.#drafts = daemonDrafts({
      lock: new RootLock(),
      ...{ ...options, state, home: fixture.home, isBareAllowed: () => false, triggers: () => table },
      // Landing a command's own changes needs nothing else of records.
      records: records as Records,
      note: (line) => process.stderr.write(`bench: ${line}\n`),
    });
    this.#programs = daemonPrograms({
      stores: async () => [],
      ...{
        ...options,
        drafts: this.#drafts,
        secret: () => null,
        secretHosts: () => [],
        secretForUrl: () => null,
        stream: () => null,
      },
      install: () => "install bubblewrap",
      requiresNamespaces: () => false,
      environmentOf: (cwd) => ({ ...run, workspace: cwd }),
    });
  }

  /** Throws for anything but status 0, and if any change did not land. */
  async run({ argv, project, root, session }: DraftProgram): Promise<DraftRun> {
    const decided = this.#decided(project, root);
    const said = { output: "", errors: "" };
    const ground: ProgramContext = {
      authority: decided.authority,
      owner: "bench",
      holds: () => decided.authority,
      needsReview: () => false,
      agent: { workspace: project, agent: "bench" },
      call: `call-${++this.#calls}`,
      ...{ session, generation: 0, cwd: project, folderNames: [], environment: {} },
      moment,
      useModel: async () => ({ ok: false, id: "none", code: "not_available", reason: null }),
      modelUsed: () => undefined,
      door: null,
      useSecret: async () => ({ ok: false, id: "", code: "capability_absent", reason: null }),
      refused: () => "",
    };
    const result = await this.#programs.run(ground, {
      ...{ argv, request: decided.request, by: decided.by, input: null, milliseconds: null, signal: null },
      sinks: {
        output: (bytes) => {
          said.output += Buffer.from(bytes).toString("latin1");
        },
        errors: (bytes) => {
          said.errors += Buffer.from(bytes).toString("latin1");
        },
      },
    });
    const name = argv.join(" ").slice(0, 80);
    if (!result.ok) throw new Error(`${name}: ${result.refused.message}`);
    const { ending, changes = null } = result.ran;
    if (ending.kind !== "exited" || ending.status !== 0)
      throw new Error(`${name}: ${JSON.stringify(ending)} ${said.errors}`);
    const [kept] = changes?.kept ?? [];
    if (kept !== undefined) throw new Error(`${name}: ${kept.path} did not land: ${kept.reason}`);
    return { output: said.output, changes };
  }

  /** Once for each project: the decision of a call is measured elsewhere. */
  #decided(project: string, root: DraftProgram["root"]): PlanDecision {
    const key = `${root} ${project}`;
    const decided = this.#known.get(key) ?? decidedIn({ ...this.#fixture, project }, root, []).decided;
    this.#known.set(key, decided);
    return decided;
  }

  /** Its data for undo would be removed during a later turn otherwise. */
  async forget({ changes }: DraftRun): Promise<void> {
    if (changes?.draft != null) await this.#drafts.lifecycle.discard(changes.draft);
  }

  /** Ends every sandbox, including prepared ones. */
  async end(): Promise<void> {
    await this.#programs.end(null, "the benchmark");
  }

  async close(): Promise<void> {
    await this.#programs.close();
    this.#drafts.close();
  }
}
