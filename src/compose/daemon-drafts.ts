// Drafts as the daemon keeps them: the rules of one landing from grants, names and the project, and their lifecycle.
import { arch } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { verbEntry } from "../authority/catalog.ts";
import type { Authority } from "../authority/chain.ts";
import type { Moment } from "../authority/compiled.ts";
import { countedIsSpent } from "../authority/counted.ts";
import type { Decision } from "../authority/decision.ts";
import type { Level } from "../authority/grant.ts";
import { judge } from "../authority/judge.ts";
import { guardPath, pathText } from "../authority/path.ts";
import type { ProgramGround, Records } from "../daemon/parts.ts";
import { DraftFolders } from "../node/draft/draft-folders.ts";
import { DraftLifecycle } from "../node/draft/draft-lifecycle.ts";
import { type DraftRecord, DraftRecords } from "../node/draft/draft-records.ts";
import { draftSize } from "../node/draft/draft-size.ts";
import { GitLandings } from "../node/draft/git-landing.ts";
import type { LandRestrictions } from "../node/draft/land-setup.ts";
import { LandWorkers } from "../node/draft/land-workers.ts";
import type { LandingContext } from "../node/draft/landing.ts";
import type { RootLock } from "../node/draft/root-lock.ts";
import { segmentsOf, type UserFolders } from "../node/folders.ts";
import { COPY_FOLDER } from "../node/live/live-root.ts";
import { recoverCopies } from "../node/live/recover-copies.ts";
import { realRoot } from "../node/real-path.ts";
import { registeredWorkspaces } from "../node/registered-workspaces.ts";
import { kernelFacts } from "../node/sandbox/detect-sandbox.ts";
import { isProgram } from "../node/sandbox/programs.ts";
import { DiskTree } from "../node/triggers/disk-tree.ts";
import type { Change } from "../sandbox/draft/change.ts";
import type { NameClass } from "../sandbox/draft/landing.ts";
import type { PlanPath } from "../sandbox/plan.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import { type Classification, Classifier } from "../sandbox/triggers/classify.ts";
import { TriggerFacts } from "../sandbox/triggers/trigger-facts.ts";
import type { TriggerTable } from "../sandbox/triggers/trigger-table.ts";
import { nativeProgram } from "./native-program.ts";
import type { RunGround } from "./plan-facts.ts";

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
  /** What decides about the changes of a program that ran for this ground. */
  contextFor(ground: ProgramGround, run: RunGround, root: PlanPath): LandingContext;
  /** Before anything runs: what a crash interrupted is brought to an end. */
  recover(): Promise<void>;
  /** Git changes are imported in these; null where this machine has none. */
  useSandboxes(sandboxes: () => Sandboxes | null): void;
  note(line: string): void;
  close(): void;
}

export function daemonDrafts(options: DaemonDraftsOptions): DaemonDrafts {
  const { state, program, records, now, note } = options;
  const native = nativeProgram(program);
  const folders = new DraftFolders(state);
  let sandboxes: () => Sandboxes | null = () => null;
  // The kernel stays the same while we run; a native program that was not built yet is looked for again.
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
    const { protectedPaths } = records.readingAt(cwd).ground;
    // Budgets are charged when a call starts: grants with a count never cover what a program writes.
    const at = { ...moment, exhausted: countedIsSpent(authority) };
    return (verb, path) => judgePath(authority, at, verb, guardPath([...root, ...path], protectedPaths));
  };
  const context = (of: { readonly judge: LandingContext["judge"]; readonly root: PlanPath; readonly cwd: string }) => ({
    judge: of.judge,
    classifier: classifierFor(options, of.root, of.cwd),
  });
  const lifecycle = new DraftLifecycle({
    records: draftRecords,
    workers,
    git: new GitLandings({
      workFolder: join(state, "git-import"),
      upper: (draft) => folders.upper(draft),
      sandboxes: () => sandboxes(),
    }),
    lock: options.lock,
    remove: async (id) => {
      await folders.remove(id);
      draftRecords.forget(id);
    },
    // The copy of a live root that could not become a draft takes space as well.
    measure: (id) => draftSize(folders.upper(id), join(folders.path(id), COPY_FOLDER)),
    agreedContext: (record, agreed) => agreedContext(record, agreed),
    classifier: ({ root, workspace }) => classifierFor(options, segmentsOf(root), workspace ?? root),
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
    contextFor: (ground, run, root) => {
      const { clean } = ground.moment();
      const cwd = run.workspace ?? ground.cwd;
      let judgeNow: LandingContext["judge"] | null = null;
      const judgingNow = (held: Authority): LandingContext["judge"] =>
        held.length === 0
          ? () => ({ outcome: "deny", code: "revoked", at: null })
          : judging(held, { ...ground.moment(), clean }, root, cwd);
      return {
        ...context({
          // What the session holds by the end of the command; whether it was clean counts as of its start.
          judge: (verb, path) => {
            judgeNow ??= judgingNow(ground.holds());
            return judgeNow(verb, path);
          },
          root,
          cwd,
        }),
        agreed: 0,
      };
    },
    recover: async () => {
      await recoverCopies({ folders, records: draftRecords, program: native, note });
      await lifecycle.recover();
    },
    useSandboxes: (one) => {
      sandboxes = one;
    },
    note,
    close: () => workers.close(),
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

/** The project is looked at anew for every landing: what was landed or made by others since counts. */
function classifierFor(
  { home, folders, program, state, triggers }: DaemonDraftsOptions,
  root: PlanPath,
  cwd: string,
): LandingContext["classifier"] {
  return async (changes) => {
    const known = registeredWorkspaces(state);
    if (known === null) return () => ({ class: "never", why: "the trusted workspaces cannot be listed" });
    const homePath = home === null ? null : segmentsOf(home);
    const facts = new TriggerFacts(new DiskTree(), {
      root,
      home: homePath === null ? null : (realRoot(homePath) ?? homePath),
      workspaces: [...known, cwd].flatMap(bothNames),
      ours: [folders.state, folders.config].flatMap((one) => (one === null ? [] : [segmentsOf(one)])),
      program: segmentsOf(program),
      table: triggers(cwd),
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
