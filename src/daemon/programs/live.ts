// Sandboxes whose root is a copy: creates it before a program runs, keeps it in sync while it runs where the root is live, and
// afterwards stores changes that did not land. Without namespaces, every root that is written or has hidden names is such a copy.
import { setTimeout } from "node:timers/promises";
import { pathText } from "../../core/authority/axes/path.ts";
import type { Enforcement } from "../../core/ports/enforcement.ts";
import type { RunResult, Sinks } from "../../core/ports/process.ts";
import { segmentsOf } from "../../platform/folders.ts";
import type { DraftRecord } from "../../sandbox/drafts/draft-records.ts";
import { linkedGitOf } from "../../sandbox/drafts/git/linked-git.ts";
import type { LandingContext } from "../../sandbox/drafts/landing.ts";
import { LiveRoot } from "../../sandbox/live/live-root.ts";
import { COPY_LIMITS, type CopyLimits } from "../../sandbox/live/make-copy.ts";
import { keptDenials } from "../../sandbox/plan/drafts/kept-denials.ts";
import type { Plan, PlanPath, PlanRoot } from "../../sandbox/plan/plan.ts";
import { isWithin } from "../../sandbox/plan/plan-path.ts";
import { AUTHORITY } from "../../sandbox/plan/root-rules.ts";
import type { DoorSource, OpenDraft, Sandboxes } from "../../sandbox/plan/sandboxes.ts";
import type { DaemonDrafts } from "./drafts.ts";

export interface LiveSandboxesParts {
  readonly drafts: DaemonDrafts;
  /** Path of the native program. */
  readonly native: string;
  /** False: programs run without a sandbox, and a live root is impossible. */
  readonly isConfined: boolean;
  /** Without namespaces: how large a folder may be that is copied for a program. Null: only live roots are copies. */
  readonly copies: CopyLimits | null;
  /** Patterns of hidden names. */
  readonly protectedPaths: readonly PlanPath[];
  context(root: PlanPath): LandingContext;
  record(begun: OpenDraft): DraftRecord;
  note(line: string): void;
}

type Run = Parameters<Sandboxes["run"]>;

export function liveSandboxes(inner: Sandboxes, parts: LiveSandboxesParts): Sandboxes {
  return {
    run: async (owner, plan, command, sinks, judge, signal) => {
      const run: Run = [owner, plan, command, sinks, judge, signal];
      const { root } = plan;
      if (root === null || !needsCopy(plan, root, parts)) return inner.run(...run);
      if (!parts.isConfined) return refuse("a live root needs a sandbox, and none is available here", "ambit doctor");
      const opened = await openLive(plan, root.path, parts);
      if (opened.ok) return runInCopy(inner, run, root, opened.live);
      if (root.mode === "draft" && plan.masked.length === 0) return runReadOnly(inner, run, root);
      return refuse(opened.reason, FIXES[root.mode === "live" && parts.copies === null ? "live" : "copy"]);
    },
    end: (agent) => inner.end(agent),
  };
}

const stepMillisecondsMax = 2_000;

/**
 * Tools that a client calls through the door read and write the project; the client reads and writes its copy. A call sees what
 * the client wrote before it, and the client sees what the call wrote, where that is in step within two seconds.
 */
function doorInStep(door: DoorSource, live: LiveRoot): DoorSource {
  const inStep = (): Promise<void> =>
    Promise.race([live.synchronize(), setTimeout(stepMillisecondsMax, undefined, { ref: false })]);
  return async (call) => {
    const isCall = call.route === "mcp" && call.body.includes("tools/call");
    if (isCall) await inStep();
    const answer = await door(call);
    if (isCall) await inStep();
    return answer;
  };
}

const FIXES = {
  live: "--root rw, or a narrower folder",
  copy: "a narrower folder, or a larger `limits: { copy_mib: ... }` in your own config.yml",
} as const;

function needsCopy({ masked }: Plan, { mode }: PlanRoot, { copies }: LiveSandboxesParts): boolean {
  if (mode === "live") return true;
  return copies !== null && (mode === "draft" || (mode === "ro" && masked.length > 0));
}

async function runInCopy(inner: Sandboxes, run: Run, root: PlanRoot, live: LiveRoot): Promise<RunResult> {
  const [owner, plan, command, sinks, judge, signal] = run;
  const copy = { draft: live.id, path: segmentsOf(live.copyPath), size: live.size };
  const isWritten = root.mode !== "ro";
  let result: RunResult;
  try {
    if (isWritten) live.start(root.mode === "live");
    const { door } = command;
    const inStep = door === undefined || root.mode !== "live" ? command : { ...command, door: doorInStep(door, live) };
    // The copy does not contain masked names.
    result = await inner.run(owner, { ...plan, masked: [], root: { ...root, copy } }, inStep, sinks, judge, signal);
  } catch (error) {
    await (isWritten ? live.finish(false) : live.discard());
    throw error;
  }
  if (!result.ok) {
    await live.discard();
    return result;
  }
  if (!isWritten || result.ran.draft === null) {
    await live.discard();
    return { ok: true, ran: { ...result.ran, draft: null } };
  }
  const changes = await live.finish(result.ran.draft.isSealed);
  const denials = [...result.ran.denials, ...keptDenials(changes)];
  const isChange = changes.draft !== null || changes.kept.length > 0;
  return { ok: true, ran: { ...result.ran, draft: null, denials, changes: isChange ? changes : null } };
}

/** A folder that is too large to be copied: programs see it and do not change it, and the report says so. */
async function runReadOnly(inner: Sandboxes, run: Run, root: PlanRoot): Promise<RunResult> {
  const [owner, plan, command, sinks, judge, signal] = run;
  const narrowed: Plan = { ...plan, root: { ...root, mode: "ro" } };
  const { held } = sinks;
  const own: Sinks = held === undefined ? sinks : { ...sinks, held: (lines) => held(lines.map(readOnlyLine)) };
  const result = await inner.run(owner, narrowed, command, own, judge, signal);
  if (!result.ok) return result;
  return { ok: true, ran: { ...result.ran, enforcement: result.ran.enforcement.map(readOnlyLine) } };
}

const READ_ONLY =
  "read-only, although a grant allows writing: without namespaces a program writes to a copy, and this folder is larger than `limits: { copy_mib }`";

function readOnlyLine(line: Enforcement): Enforcement {
  if (line.axis !== "mode") return line;
  return { ...line, note: line.note === null ? READ_ONLY : `${READ_ONLY}; ${line.note}` };
}

async function openLive(plan: Plan, root: PlanPath, parts: LiveSandboxesParts): ReturnType<typeof LiveRoot.open> {
  const { drafts, note, native } = parts;
  const { masked, shown } = plan;
  const linked = plan.linkedGit === undefined ? null : linkedGitOf(pathText(root));
  if (linked?.ok === false) return { ok: false, reason: linked.refusal.message };
  const linkedGit = linked?.value ?? null;
  if (plan.linkedGit !== undefined && linkedGit?.common !== pathText(plan.linkedGit.common))
    return { ok: false, reason: "the git folder of this worktree changed while the sandbox started" };
  // Also for names that appear while the program runs.
  const patterns = parts.protectedPaths.filter((pattern) => pattern.at(-1) !== AUTHORITY);
  const isHidden = (below: readonly string[]): boolean => {
    const path = [...root, ...below];
    return (
      masked.some((name) => isWithin(path, name)) ||
      shown?.some((one) => isWithin(one.path, path) || (one.isTree && isWithin(path, one.path))) === false ||
      patterns.some(
        (pattern) => pattern.length <= path.length && pattern.every((name, at) => name === "*" || name === path[at]),
      )
    );
  };
  const limits = parts.copies ?? COPY_LIMITS;
  return LiveRoot.open(pathText(root), {
    ...{ folders: drafts.folders, lifecycle: drafts.lifecycle, program: native, limits, linkedGit, isHidden, note },
    context: () => parts.context(root),
    record: (id, start, rootIdentity) => ({
      ...parts.record({ id, root, masked, rootIdentity }),
      start: String(start),
    }),
  });
}

function refuse(message: string, fix: string): RunResult {
  return { ok: false, refused: { code: "sandbox_unavailable", message, fix } };
}
