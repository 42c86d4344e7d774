// The changes of a program for a model: empty if everything landed, else what did not and why.
import type { JsonObject } from "../core/base/json.ts";
import type { ChangesReport } from "../core/ports/drafts.ts";

const keptShownMax = 32;

export function changesAnswer(...reports: readonly (ChangesReport | null)[]): JsonObject {
  const kept = reports.flatMap((report) => report?.kept ?? []);
  if (kept.length === 0) return {};
  const more =
    reports.reduce((sum, report) => sum + (report?.keptMore ?? 0), 0) + Math.max(0, kept.length - keptShownMax);
  return {
    notApplied: {
      message:
        "These changes were not applied to the project; they are kept as a draft. Tell the user, who can run `ambit changes list`.",
      changes: kept.slice(0, keptShownMax).map(({ path, kind, code, reason }) => ({ path, kind, code, reason })),
      more,
      drafts: reports.flatMap((report) => (report?.draft == null || report.kept.length === 0 ? [] : [report.draft])),
    },
  };
}
