// Ordinary work in a writable root, from the call until everything has landed, beside the same work bare.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { segmentsOf } from "../../src/platform/folders.ts";
import type { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import type { Row } from "../row.ts";
import { newOwner, OURS, runInside } from "./ambit.ts";
import { BARE, runBare } from "./bare.ts";
import { DraftPrograms } from "./draft-programs.ts";
import { type BenchFixture, planWith } from "./fixture.ts";
import { UNMOUNTED } from "./starts.ts";
import { byTurns, type Contender, timeRounds } from "./turns.ts";
import { NOTHING, SMALL_WORKS, WORKS, type Work } from "./work-projects.ts";

export const COLD_DRAFT: string = `${OURS}, first command`;
export const READ_ONLY: string = `${OURS}, read-only root`;

/** Until a sandbox for the next command has been prepared: a person or a model thinks longer than that. */
const preparingMilliseconds = 150;

/** `supervised`: our sandboxes without namespaces. */
export async function measureWork(fixture: BenchFixture, supervised: LinuxSandboxes): Promise<readonly Row[]> {
  const programs = new DraftPrograms(fixture);
  const home = memoryHome(fixture);
  const rows: Row[] = [];
  try {
    for (const work of [...SMALL_WORKS, ...WORKS]) {
      process.stderr.write(`bench: ${work.name}\n`);
      rows.push(...(await byTurns(work.name, work.turnsCount, contenders(work, fixture, programs, home, supervised))));
      await programs.end();
    }
  } finally {
    await programs.close();
    rmSync(home, { recursive: true, force: true });
  }
  return rows;
}

function contenders(
  work: Work,
  fixture: BenchFixture,
  programs: DraftPrograms,
  home: string,
  supervised: LinuxSandboxes,
): readonly Contender[] {
  let turns = 0;
  const [bare, ours, unmounted] = ["bare", "ours", "unmounted"].map((name) => {
    const project = join(fixture.folder, "work", `${work.name.replaceAll(/[^a-z0-9]+/gi, "-")}-${name}`);
    mkdirSync(project, { recursive: true });
    work.make(project);
    return project;
  }) as [string, string, string];
  const before = (project: string): void => {
    work.reset(project, ++turns);
    // The reset's writes must not be flushed during a measured turn.
    execFileSync("sync", ["-f", project]);
  };
  const inDraft = (subject: string, root: "ro" | "rw", session: () => string): Contender => ({
    subject,
    turn: async () => {
      before(ours);
      await pause(preparingMilliseconds);
      let run: Awaited<ReturnType<DraftPrograms["run"]>> | null = null;
      const took = await timeRounds(async () => {
        run = await programs.run({ argv: work.argv, project: ours, root, session: session() });
      });
      if (root === "rw") work.check(ours);
      if (run !== null) await programs.forget(run);
      // The preparation of sandboxes is not charged to other subjects.
      await pause(preparingMilliseconds);
      return took;
    },
  });
  // As in a copy of the folder: making the copy and landing from it are not part of the time.
  const direct = (): Contender => {
    const { plan, judge } = planWith({ ...fixture, project: unmounted }, []);
    const root = { path: segmentsOf(unmounted), mode: "direct" } as const;
    const planned = { plan: { ...plan, root, masked: [] }, judge };
    const owner = newOwner();
    return {
      subject: UNMOUNTED,
      turn: async () => {
        before(unmounted);
        await pause(preparingMilliseconds);
        const took = await timeRounds(() => runInside(supervised, owner, planned, work.argv));
        work.check(unmounted);
        return took;
      },
    };
  };
  const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, LANG: "C.UTF-8", TERM: "dumb" };
  const [program, ...words] = work.argv;
  return [
    {
      subject: BARE,
      turn: async () => {
        before(bare);
        rmSync(home, { recursive: true, force: true });
        mkdirSync(home);
        await pause(preparingMilliseconds);
        const took = await timeRounds(() => runBare(program, words, { cwd: bare, env: environment }));
        work.check(bare);
        return took;
      },
    },
    inDraft(OURS, "rw", () => "session"),
    inDraft(COLD_DRAFT, "rw", () => `session-${turns}`),
    ...(isBuild(work) ? [direct()] : []),
    ...(work.name === NOTHING ? [inDraft(READ_ONLY, "ro", () => "session")] : []),
  ];
}

/** Work that opens many files. */
export function isBuild({ name }: Pick<Work, "name">): boolean {
  return /^(tsc|C build),/.test(name);
}

/** A sandbox's own home is in memory, so a bare one's is, too, if possible. */
function memoryHome({ folder }: BenchFixture): string {
  const tmpfs = 0x01021994;
  try {
    if (statfsSync("/dev/shm").type === tmpfs) return mkdtempSync("/dev/shm/ambit-bench-");
  } catch {
    // No such folder, or not writable for us.
  }
  return mkdtempSync(join(folder, "bare-home-"));
}
