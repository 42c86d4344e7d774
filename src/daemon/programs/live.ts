// Sandboxes with live roots: creates the copy before a program runs, keeps it in sync while it runs, and afterwards stores
// changes that did not land.
import { setTimeout } from "node:timers/promises";
import { pathText } from "../../core/authority/axes/path.ts";
import type { RunResult } from "../../core/ports/process.ts";
import { segmentsOf } from "../../platform/folders.ts";
import type { DraftRecord } from "../../sandbox/drafts/draft-records.ts";
import type { LandingContext } from "../../sandbox/drafts/landing.ts";
import { LiveRoot } from "../../sandbox/live/live-root.ts";
import { COPY_LIMITS } from "../../sandbox/live/make-copy.ts";
import { keptDenials } from "../../sandbox/plan/drafts/kept-denials.ts";
import type { Plan, PlanPath } from "../../sandbox/plan/plan.ts";
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
  /** Patterns of hidden names. */
  readonly protectedPaths: readonly PlanPath[];
  context(root: PlanPath): LandingContext;
  record(begun: OpenDraft): DraftRecord;
  note(line: string): void;
}

export function liveSandboxes(inner: Sandboxes, parts: LiveSandboxesParts): Sandboxes {
  return {
    run: async (owner, plan, command, sinks, judge, signal) => {
      const { root } = plan;
      if (root?.mode !== "live") return inner.run(owner, plan, command, sinks, judge, signal);
      if (!parts.isConfined) return refuse("a live root needs a sandbox, and none is available here", "ambit doctor");
      const opened = await openLive(plan, root.path, parts);
      if (!opened.ok) return refuse(opened.reason, "--root rw, or a narrower folder");
      const { live } = opened;
      const copy = { draft: live.id, path: segmentsOf(live.copyPath) };
      let result: RunResult;
      try {
        live.start();
        // The copy does not contain masked names.
        result = await inner.run(
          owner,
          { ...plan, masked: [], root: { ...root, copy } },
          { ...command, ...(command.door === undefined ? {} : { door: doorInStep(command.door, live) }) },
          sinks,
          judge,
          signal,
        );
      } catch (error) {
        await live.finish(false);
        throw error;
      }
      if (!result.ok || result.ran.draft === null) {
        await live.discard();
        return result;
      }
      const changes = await live.finish(result.ran.draft.isSealed);
      const denials = [...result.ran.denials, ...keptDenials(changes)];
      const isChange = changes.draft !== null || changes.kept.length > 0;
      return { ok: true, ran: { ...result.ran, draft: null, denials, changes: isChange ? changes : null } };
    },
    end: (agent) => inner.end(agent),
  };
}

const stepMillisecondsMax = 2_000;

/**
 * Tools that a client calls through the door read and write the project; the client reads and writes its copy. A call sees what
 * the client wrote before it, and the client sees what the call wrote.
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

function openLive(plan: Plan, root: PlanPath, parts: LiveSandboxesParts): ReturnType<typeof LiveRoot.open> {
  const { drafts, note, native } = parts;
  const { masked, shown } = plan;
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
  return LiveRoot.open(pathText(root), {
    ...{ folders: drafts.folders, lifecycle: drafts.lifecycle, program: native, limits: COPY_LIMITS, isHidden, note },
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
