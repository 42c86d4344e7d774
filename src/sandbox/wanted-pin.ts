// Pins by their whole path, before they are put in order: the strictest word about a name counts, and what must not be
// replaced keeps the folders above it in their places.
import { isWithin } from "./places.ts";
import type { Pin, PinAction, PlanPath, PlanRoot } from "./plan.ts";

export interface WantedPin extends Omit<Pin, "path"> {
  /** From the top of the machine. */
  readonly path: PlanPath;
  /** How many names of the path are the project or home folder it belongs to: they are never made. */
  readonly base: number;
}

const STRICTNESS: Readonly<Record<PinAction, number>> = { held: 0, readonly: 1, masked: 2 };

/** Strictly below the root, folders before what lies in them, each name once, nothing below what is masked anyway. */
export function orderedPins({ path: root, mode }: PlanRoot, wanted: readonly WantedPin[]): readonly Pin[] {
  const below = wanted.filter(({ path }) => path.length > root.length && isWithin(path, root));
  const byPath = new Map<string, WantedPin>();
  // Nothing is renamed in a root that is only read.
  const above = mode === "ro" ? [] : below.flatMap((one) => foldersAbove(root, one));
  for (const pin of [...below, ...above]) {
    const key = pin.path.join("/");
    const other = byPath.get(key);
    byPath.set(key, other === undefined ? pin : stricter(other, pin));
  }
  const pins = [...byPath.values()].sort(byDepth);
  return pins
    .filter((pin) => !pins.some((other) => other !== pin && isIdle(pin, other)))
    .map(({ path, action, absent }) => ({ path: path.slice(root.length), action, absent }));
}

function stricter(left: WantedPin, right: WantedPin): WantedPin {
  const action = STRICTNESS[left.action] >= STRICTNESS[right.action] ? left.action : right.action;
  return { ...left, action, absent: left.absent === "leave" ? right.absent : left.absent };
}

/**
 * A folder that is renamed takes what is pinned in it along, and another can be put in its place: one with forged files
 * of ours, say, where those were masked.
 */
function foldersAbove(root: PlanPath, { path, absent, base }: WantedPin): WantedPin[] {
  const folders: WantedPin[] = [];
  for (let length = root.length + 1; length < path.length; length++) {
    const isMade = absent !== "leave" && length > base;
    folders.push({ path: path.slice(0, length), action: "held", absent: isMade ? "folder" : "leave", base });
  }
  return folders;
}

/** Says nothing that the other, around it, does not say already. */
function isIdle(pin: WantedPin, around: WantedPin): boolean {
  if (pin.path.length <= around.path.length || !isWithin(pin.path, around.path)) return false;
  return around.action === "masked" || (around.action === "readonly" && pin.action !== "masked");
}

function byDepth(left: WantedPin, right: WantedPin): number {
  const [first, second] = [left.path.join("/"), right.path.join("/")];
  return left.path.length - right.path.length || (first < second ? -1 : first > second ? 1 : 0);
}
