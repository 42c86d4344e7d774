// Drafts in the daemon: landing rules from grants, trigger paths and the project, and their lifecycle.

import { arch } from "node:os";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { registeredWorkspaces } from "../../agents/disk/registered-workspaces.ts";
import { guardPath, pathText } from "../../core/authority/axes/path.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { countedIsSpent } from "../../core/authority/counted.ts";
import type { Decision } from "../../core/authority/decision.ts";
import type { Level } from "../../core/authority/grant.ts";
import { judge } from "../../core/authority/judge.ts";
import { segmentsOf, type UserFolders } from "../../platform/folders.ts";
import { nativeProgram } from "../../platform/native-program.ts";
import { realRoot } from "../../platform/real-path.ts";
import { DraftFolders } from "../../sandbox/drafts/draft-folders.ts";
import { DraftLifecycle } from "../../sandbox/drafts/draft-lifecycle.ts";
import { type DraftRecord, DraftRecords } from "../../sandbox/drafts/draft-records.ts";
import { draftSize } from "../../sandbox/drafts/draft-size.ts";
import { GitLandings } from "../../sandbox/drafts/git-landing.ts";
import { GitUndos } from "../../sandbox/drafts/git-undo.ts";
import type { LandRestrictions } from "../../sandbox/drafts/lander/land-setup.ts";
import { LandWorkers } from "../../sandbox/drafts/lander/land-workers.ts";
import type { LandingContext } from "../../sandbox/drafts/landing.ts";
import type { RootLock } from "../../sandbox/drafts/root-lock.ts";
import { DiskTree } from "../../sandbox/drafts/triggers/disk-tree.ts";
import { FolderSurvey } from "../../sandbox/drafts/triggers/folder-survey.ts";
import { kernelFacts } from "../../sandbox/linux/detect-sandbox.ts";
import { isProgram } from "../../sandbox/linux/programs.ts";
import { COPY_FOLDER } from "../../sandbox/live/live-root.ts";
import { recoverCopies } from "../../sandbox/live/recover-copies.ts";
import type { Change } from "../../sandbox/plan/drafts/change.ts";
import type { NameClass } from "../../sandbox/plan/drafts/landing.ts";
import type { PlanPath } from "../../sandbox/plan/plan.ts";
import type { Sandboxes } from "../../sandbox/plan/sandboxes.ts";
import { type Classification, Classifier } from "../../sandbox/plan/triggers/classify.ts";
import { TriggerFacts } from "../../sandbox/plan/triggers/trigger-facts.ts";
import type { TriggerTable } from "../../sandbox/plan/triggers/trigger-table.ts";
import type { ProgramContext, Records } from "../parts.ts";
import type { RunEnvironment } from "./run-plan.ts";

export interface DaemonDraftsOptions {
  readonly state: string;
  readonly program: string;
  readonly folders: UserFolders;
  readonly home: string | null;
  readonly records: Records;
  readonly lock: RootLock;
  triggers(cwd: string): TriggerTable;
  /** The user's own configuration says `bare`. */
  isBareAllowed(): boolean;
  now(): number;
  note(line: string): void;
}

export interface DaemonDrafts {
  readonly folders: DraftFolders;
  readonly lifecycle: DraftLifecycle;
  /** The landing rules for the changes of a program. */
  contextFor(program: ProgramContext, run: RunEnvironment, root: PlanPath): LandingContext;
  /** Before anything runs: finishes landings that a crash interrupted. */
  recover(): Promise<void>;
  /** Sandboxes for importing git changes; null if this machine has none. */
  useSandboxes(sandboxes: () => Sandboxes | null): void;
  note(line: string): void;
  close(): Promise<void>;
}

/** What is not removed by then is removed at the next start. */
const settleMillisecondsMax = 5_000;

export function daemonDrafts(options: DaemonDraftsOptions): DaemonDrafts {
  const { state, program, records, now, note } = options;
  const native = nativeProgram(program);
  const survey = new FolderSurvey();
  const folders = new DraftFolders(state);
  let sandboxes: () => Sandboxes | null = () => null;
  // The kernel stays the same while the daemon runs; a native program that was not built yet is probed again.
  let restrictions: LandRestrictions | null = null;
  const workers = new LandWorkers({
    program: native,
    drafts: folders.folder,
    restrictions: () => {
      restrictions ??= restrictionsOf(native);
      return restrictions;
    },
    isBareAllowed: options.isBareAllowed,
  });
  const draftRecords = new DraftRecords(folders.folder);
  const judging = (authority: Authority, moment: Moment, root: PlanPath, cwd: string): LandingContext["judge"] => {
    const { protectedPaths } = records.readingAt(cwd).pathSettings;
    // Budgets are charged when a call starts: grants with a count never cover a program's file changes.
    const at = { ...moment, exhausted: countedIsSpent(authority) };
    return (verb, path) => judgePath(authority, at, verb, guardPath([...root, ...path], protectedPaths));
  };
  const context = (of: { readonly judge: LandingContext["judge"]; readonly root: PlanPath; readonly cwd: string }) => ({
    judge: of.judge,
    classifier: classifierFor(options, survey, of.root, of.cwd),
  });
  const gitParts = {
    workFolder: join(state, "git-import"),
    upper: (draft: string) => folders.upper(draft),
    sandboxes: () => sandboxes(),
  };
  const lifecycle = new DraftLifecycle({
    records: draftRecords,
    workers,
    git: new GitLandings(gitParts),
    gitUndos: new GitUndos(gitParts),
    lock: options.lock,
    remove: async (id) => {
      await folders.remove(id);
      draftRecords.forget(id);
    },
    // The copy of a live root that could not become a draft takes space as well.
    measure: (id) => draftSize(folders.upper(id), join(folders.path(id), COPY_FOLDER)),
    agreedContext: (record, agreed) => agreedContext(record, agreed),
    classifier: ({ root, workspace }) => classifierFor(options, survey, segmentsOf(root), workspace ?? root),
    note,
  });
  const agreedContext = (record: DraftRecord, agreed: Level): LandingContext | null => {
    const cwd = record.workspace ?? record.root;
    const found = records.record(cwd, record.agent);
    if (!found.ok) return null;
    const moment: Moment = { now: now(), clean: true, generation: 0, revoked: null, exhausted: null };
    const root = segmentsOf(record.root);
    return { ...context({ judge: judging(found.value.authority, moment, root, cwd), root, cwd }), agreed };
  };
  return {
    folders,
    lifecycle,
    contextFor: (program, run, root) => {
      const { clean } = program.moment();
      const cwd = run.workspace ?? program.cwd;
      let judgeNow: LandingContext["judge"] | null = null;
      const judgingNow = (held: Authority): LandingContext["judge"] =>
        held.length === 0
          ? () => ({ outcome: "deny", code: "revoked", at: null })
          : judging(held, { ...program.moment(), clean }, root, cwd);
      return {
        ...context({
          // Grants as of the end of the command; whether the session was clean as of its start.
          judge: (verb, path) => {
            judgeNow ??= judgingNow(program.holds());
            return judgeNow(verb, path);
          },
          root,
          cwd,
        }),
        agreed: 0,
      };
    },
    recover: async () => {
      folders.clearDiscarded();
      await recoverCopies({ folders, records: draftRecords, program: native, note });
      await lifecycle.recover();
    },
    useSandboxes: (one) => {
      sandboxes = one;
    },
    note,
    close: async () => {
      workers.close();
      await Promise.race([folders.settled(), setTimeout(settleMillisecondsMax, undefined, { ref: false })]);
    },
  };
}

function judgePath(
  authority: Authority,
  moment: Moment,
  verb: "fs.write" | "fs.delete",
  path: ReturnType<typeof guardPath>,
): Decision {
  const entry = verbEntry(verb);
  if (entry === null) return { outcome: "deny", code: "capability_absent", at: null };
  return judge(authority, { verb: entry, values: [path] }, moment);
}

/** The project is read again for every landing: changes by others since then count. */
function classifierFor(
  { home, folders, program, state, triggers }: DaemonDraftsOptions,
  survey: FolderSurvey,
  root: PlanPath,
  cwd: string,
): LandingContext["classifier"] {
  return async (changes) => {
    const known = registeredWorkspaces(state);
    if (known === null) return () => ({ class: "never", why: "the trusted workspaces cannot be listed" });
    const homePath = home === null ? null : segmentsOf(home);
    const table = triggers(cwd);
    const facts = new TriggerFacts(new DiskTree(), {
      root,
      home: homePath === null ? null : (realRoot(homePath) ?? homePath),
      workspaces: [...known, cwd].flatMap(bothNames),
      ours: [folders.state, folders.config].flatMap((one) => (one === null ? [] : [segmentsOf(one)])),
      program: segmentsOf(program),
      table,
      inner: survey.recent(root, table),
    });
    const classifier = await Classifier.inTurns(facts, changes, () => setImmediate());
    return (change: Change) => nameClass(classifier.classify(change), root);
  };
}

function bothNames(path: string): readonly PlanPath[] {
  const named = segmentsOf(path);
  const real = realRoot(named);
  return real === null || pathText(real) === pathText(named) ? [named] : [named, real];
}

function nameClass(found: Classification, root: PlanPath): NameClass {
  switch (found.class) {
    case "free":
      return { class: "free" };
    case "ask":
    case "never":
      return { class: found.class, why: found.why };
    case "git":
      return root.every((name, at) => name === found.repository[at])
        ? { class: "git", repository: found.repository.slice(root.length) }
        : { class: "never", why: found.why };
    default:
      return found satisfies never;
  }
}

function restrictionsOf(native: string): LandRestrictions | null {
  const landlock = isProgram(native) ? kernelFacts(native)?.["landlockAbi"] : undefined;
  if (typeof landlock !== "number") return null;
  return { landlock, architecture: arch() === "x64" ? "x86-64" : arch() === "arm64" ? "arm64" : null };
}
