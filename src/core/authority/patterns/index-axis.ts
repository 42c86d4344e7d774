// Which axis of a verb to index: the one that limits the most grants and tells them apart best.

import type { Scope } from "../axes/scope.ts";
import type { Axis, AxisKind } from "../catalog.ts";
import type { Grant } from "../grant.ts";
import type { Link } from "../link.ts";
import { sequenceText } from "./sequence.ts";

/** Kinds that can be indexed, those that usually tell grants apart best last. */
const INDEXED: readonly AxisKind[] = ["tool", "name", "path", "destination", "argv"];

/** So many grants are looked at to learn how well an axis tells them apart. */
const sampledGrantsMax = 64;

/** The axis that limits the most grants and tells them apart best; -1 for a verb without one that can be indexed. */
export function indexAxis(link: Link, indexes: readonly number[]): number {
  const axes = (link.grants[indexes[0] as number] as Grant).verb.axes;
  const only = onlyIndexed(axes);
  if (only !== null) return only;
  let best = -1;
  let bestWeight = -1;
  for (const [axis, { kind }] of axes.entries()) {
    const preference = INDEXED.indexOf(kind);
    if (preference < 0) continue;
    let limited = 0;
    for (const index of indexes) if (((link.grants[index] as Grant).scopes[axis] as Scope).kind !== "any") limited++;
    const weight = limited * variety(link, indexes, axis) * INDEXED.length + preference;
    if (weight > bestWeight) {
      best = axis;
      bestWeight = weight;
    }
  }
  return best;
}

/** The one axis that can be indexed; -1 without any, null where there is a choice. */
function onlyIndexed(axes: readonly Axis[]): number | null {
  let only = -1;
  for (let axis = 0; axis < axes.length; axis++) {
    if (!INDEXED.includes((axes[axis] as Axis).kind)) continue;
    if (only >= 0) return null;
    only = axis;
  }
  return only;
}

/** How many different scopes a sample of the grants has on an axis. */
function variety(link: Link, indexes: readonly number[], axis: number): number {
  const seen = new Set<string>();
  const step = Math.max(1, Math.floor(indexes.length / sampledGrantsMax));
  for (let at = 0; at < indexes.length; at += step)
    seen.add(scopeKey((link.grants[indexes[at] as number] as Grant).scopes[axis] as Scope));
  return seen.size;
}

function scopeKey(scope: Scope): string {
  const patterns = scope.kind === "sequences" ? scope.of : scope.kind === "destinations" ? scope.names : [];
  return patterns.map((pattern) => sequenceText(pattern, "\0")).join("\u0001");
}
