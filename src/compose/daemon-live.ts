// Sandboxes with live roots: before a program runs its copy is made, while it runs the copy is kept in step, and afterwards
// what did not land is kept.
import { pathText } from "../authority/path.ts";
import type { DraftRecord } from "../node/draft/draft-records.ts";
import type { LandingContext } from "../node/draft/landing.ts";
import { segmentsOf } from "../node/folders.ts";
import { LiveRoot } from "../node/live/live-root.ts";
import { COPY_LIMITS } from "../node/live/make-copy.ts";
import type { RunResult } from "../ports/process.ts";
import { keptDenials } from "../sandbox/draft/kept-denials.ts";
import { isWithin } from "../sandbox/places.ts";
import type { Plan, PlanPath } from "../sandbox/plan.ts";
import { AUTHORITY } from "../sandbox/plan-places.ts";
import type { BegunDraft, Sandboxes } from "../sandbox/sandboxes.ts";
import type { DaemonDrafts } from "./daemon-drafts.ts";

export interface LiveSandboxesParts {
  readonly drafts: DaemonDrafts;
  /** Path of the native program. */
  readonly native: string;
  /** False: programs run without a sandbox, and a live root cannot be had. */
  readonly isConfined: boolean;
  /** Patterns of names that programs do not see. */
  readonly protectedPaths: readonly PlanPath[];
  context(root: PlanPath): LandingContext;
  record(begun: BegunDraft): DraftRecord;
  note(line: string): void;
}

export function liveSandboxes(inner: Sandboxes, parts: LiveSandboxesParts): Sandboxes {
  return {
    run: async (owner, plan, command, sinks, judge, stop) => {
      const { root } = plan;
      if (root?.mode !== "live") return inner.run(owner, plan, command, sinks, judge, stop);
      if (!parts.isConfined) return refuse("a live root needs a sandbox, and there is none here", "ambit doctor");
      const opened = await openLive(plan, root.path, parts);
      if (!opened.ok) return refuse(opened.reason, "--root rw, or a narrower folder");
      const { live } = opened;
      const copy = { draft: live.id, path: segmentsOf(live.copyPath) };
      let result: RunResult;
      try {
        live.start();
        // The copy does not have the names that are masked.
        result = await inner.run(owner, { ...plan, masked: [], root: { ...root, copy } }, command, sinks, judge, stop);
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
