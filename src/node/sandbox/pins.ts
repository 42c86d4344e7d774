// Pinned names as the host sees them: the kernel holds them inside, and this notices when they changed all the same.
// Compared is which file a name stands for, never what is in it: a person may go on editing.
import type { PinOutcome } from "../../sandbox/answers.ts";
import type { Plan } from "../../sandbox/plan.ts";
import { hostPath } from "./host-path.ts";
import { type Hidden, type Identity, identityAt, isSame } from "./identity.ts";

type Found = Identity | Hidden | null;

export interface ChangedPin {
  /** Where its pin is looked for from. */
  readonly base: string;
  /** The part of the pinned name that changed: itself, or a folder on the way to it. */
  readonly way: readonly string[];
  /** There was nothing before, and nobody of us put it there. */
  readonly appeared: boolean;
  /** What it said where it was a link: those no mount holds, so they are put back. */
  readonly link: string | null;
}

interface Watched {
  readonly base: string;
  readonly way: readonly string[];
  readonly path: string;
  readonly above: Watched | null;
  /** Its place among the pins as they are sent; null for a folder on the way to one. */
  pin: number | null;
  /** It is a name for other names to lie in: that it appears says nothing yet. */
  isWay: boolean;
  before: Found;
}

export class Pins {
  /** A folder always before what is in it. */
  readonly #watched: readonly Watched[];

  constructor({ pinned }: Pick<Plan, "pinned">) {
    const watched = new Map<string, Watched>();
    let count = 0;
    for (const { base, pins } of pinned)
      for (const { path, action } of pins) {
        let above: Watched | null = null;
        for (let depth = 1; depth <= path.length; depth++)
          above = watch(watched, hostPath(base), path.slice(0, depth), above);
        if (above !== null) {
          above.pin = count;
          above.isWay = action === "held";
        }
        count++;
      }
    this.#watched = [...watched.values()];
    for (const one of this.#watched) one.before = found(one, one.above?.before);
  }

  /**
   * What was absent and is held by now is what has to stay there: our program made it, or that of another sandbox which
   * started at the same time.
   */
  settle(outcomes: readonly PinOutcome[]): void {
    for (const pin of this.#watched) {
      const outcome = pin.pin === null ? undefined : outcomes[pin.pin];
      if (outcome !== "made" && outcome !== "held") continue;
      for (let one: Watched | null = pin; one !== null; one = one.above) if (one.before === null) one.before = now(one);
    }
  }

  changes(): readonly ChangedPin[] {
    const seen = new Map<Watched, Found>();
    const changed: ChangedPin[] = [];
    for (const one of this.#watched) {
      const after = found(one, one.above === null ? undefined : seen.get(one.above));
      seen.set(one, after);
      if (isSame(one.before, after) || isOnlyAWay(one, after)) continue;
      const { base, way, before } = one;
      changed.push({
        base,
        way,
        appeared: before === null,
        link: before === null || before === "hidden" ? null : before.link,
      });
    }
    return changed;
  }
}

function watch(watched: Map<string, Watched>, base: string, way: readonly string[], above: Watched | null): Watched {
  const path = `${base === "/" ? "" : base}/${way.join("/")}`;
  const known = watched.get(path);
  if (known !== undefined) return known;
  const one: Watched = { base, way, path, above, pin: null, isWay: true, before: null };
  watched.set(path, one);
  return one;
}

/** Nothing is looked for behind what is no folder: a link on the way would show us somebody else's files. */
function found(one: Watched, above: Found | undefined): Found {
  if (one.above !== null && (above === undefined || above === null || above === "hidden" || above.kind !== "folder"))
    return above === "hidden" ? "hidden" : null;
  return now(one);
}

function now({ path }: Watched): Found {
  return identityAt(path);
}

/** A new folder on the way to a name that is still absent is an ordinary folder. A link would lead past us. */
function isOnlyAWay({ isWay, before }: Watched, after: Found): boolean {
  return isWay && before === null && after !== null && after !== "hidden" && after.kind !== "link";
}
