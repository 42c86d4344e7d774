// A project on the real disk, an agent that may run programs in it, and the plans the product itself would make.
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Authority } from "../../src/core/authority/chain.ts";
import { compile, type Moment } from "../../src/core/authority/compiled.ts";
import { judge } from "../../src/core/authority/judge.ts";
import { ALWAYS } from "../../src/core/authority/link.ts";
import type { PlanDecision } from "../../src/core/gate/programs/program-root.ts";
import { readCompact } from "../../src/core/notation/compact/compact.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import { readRequest } from "../../src/core/notation/request/request.ts";
import type { Judge } from "../../src/core/ports/judge.ts";
import { planFor, type RunEnvironment } from "../../src/daemon/programs/run-plan.ts";
import { machinePathSettings, userName } from "../../src/platform/path-settings.ts";
import { toAscii } from "../../src/sandbox/network/names/ascii.ts";
import type { Plan } from "../../src/sandbox/plan/plan.ts";
import { planDecision } from "../../src/sandbox/plan/plan-root.ts";
import { rootFolder } from "../place.ts";

export interface BenchFixture {
  /** All files of the run are in here. */
  readonly folder: string;
  readonly project: string;
  readonly home: string;
}

export function makeFixture(): BenchFixture {
  const folder = realpathSync.native(mkdtempSync(join(tmpdir(), "ambit-bench-")));
  const project = join(folder, "project");
  const home = join(folder, "home");
  for (const path of [".git/hooks", ".ambit/agents", "src"]) mkdirSync(join(project, path), { recursive: true });
  mkdirSync(join(home, ".local", "state", "ambit"), { recursive: true });
  mkdirSync(join(home, ".config", "ambit"), { recursive: true });
  writeFileSync(join(project, ".git", "config"), "[core]\n\tbare = false\n");
  writeFileSync(join(project, "package.json"), "{}\n");
  return { folder, project, home };
}

/** What an agent may do, and the plan for a program of it in the project. */
export interface Planned {
  readonly plan: Plan;
  readonly judge: Judge;
}

/** For a program that only reads the project: its sandbox stays for the next one. `more`: grants, as compact specs. */
export function planWith(fixture: BenchFixture, more: readonly string[]): Planned {
  const { decided, run } = decidedIn(fixture, "ro", more);
  const planned = planFor(decided, run, { milliseconds: null, hasTerminal: false, isClient: false }, moment());
  if (!planned.ok) throw new Error(planned.refused.message);
  return { plan: planned.plan, judge: (asked) => judge(decided.authority, asked, moment()) };
}

export interface DecidedRun {
  readonly decided: PlanDecision;
  readonly reading: Reading;
  readonly run: RunEnvironment;
}

/** A program in the project that grants have decided: `rw` works on a draft of it. */
export function decidedIn(
  { folder, project, home }: BenchFixture,
  root: "ro" | "rw",
  more: readonly string[],
): DecidedRun {
  const folders = { config: join(home, ".config", "ambit"), state: join(home, ".local", "state", "ambit") };
  const pathSettings = machinePathSettings({ home, folders, workspace: project })(project);
  const reading: Reading = { pathSettings, toAscii, ceiling: null };
  const grants = [`proc.exec{in=${project}}`, `fs.write{in=${project}}`, `fs.delete{in=${project}}`];
  const authority = authorityOf([...grants, ...more], reading);
  const words = ["proc.exec", `in=${project}`, ...(root === "rw" ? ["root=rw"] : []), "--", "true"];
  const request = readRequest(words, reading);
  if (!request.ok) throw new Error(request.message);
  const decided = planDecision(authority, request.value, judge(authority, request.value, moment()), 0);
  if (decided === null) throw new Error("the program may not be run");
  const run: RunEnvironment = {
    home,
    workspace: project,
    folders,
    program: rootFolder,
    pathSettings,
    environment: { TMPDIR: folder },
    user: null,
    project: null,
    userName: userName(),
  };
  return { decided, reading, run };
}

export function authorityOf(specs: readonly string[], reading: Reading): Authority {
  const diagnostics = new Diagnostics();
  const span = { source: "bench", start: 0, end: 0 };
  const grants = specs.map((text) => {
    const grant = readCompact(text, { reading, diagnostics, span, root: null });
    if (grant === null || diagnostics.list.length > 0) throw new Error(`${text}: ${diagnostics.list[0]?.message}`);
    return grant;
  });
  return [
    [compile({ id: "own", role: "own", issuer: "person", holder: "agent", grants, validity: ALWAYS, calls: null })],
  ];
}

export function moment(): Moment {
  return { now: Date.now(), clean: true, generation: 0, revoked: null, exhausted: null };
}
