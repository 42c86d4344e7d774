// Where a link of a draft leads, over the real tree and the draft together: a link out of the root or to a trigger
// never lands.
import type { Classification } from "./classify.ts";
import type { DraftNames } from "./draft-names.ts";
import type { TriggerFacts } from "./trigger-facts.ts";

type Path = readonly string[];

interface Walk {
  readonly at: Path;
  readonly rest: readonly string[];
  readonly links: number;
}

const linksMax = 40;
const stepsMax = 2_048;
const targetCharactersMax = 4_096;

/**
 * `classify`: classifies one path on the way. A name that is a link in one of the two trees is both followed and kept.
 */
export function linkFault(
  path: Path,
  target: string,
  { tree, options: { root } }: TriggerFacts,
  draft: DraftNames,
  classify: (path: Path) => Classification,
): Classification {
  if (target === "" || target.includes("\0") || target.length > targetCharactersMax)
    return never("it is not a valid link target");
  let found: Classification = isUnsteady(target) ? UNSTEADY : { class: "free", why: null };
  const waiting: Walk[] = [follow(path.slice(0, -1), target, [], 0)];
  const seen = new Set<string>();
  for (let steps = 0; waiting.length > 0; steps++) {
    if (steps > stepsMax) return never("it leads through too many links");
    const { at, rest, links } = waiting.pop() as Walk;
    if (links > linksMax) return never("it leads through too many links");
    const key = `${at.join("/")}\0${rest.join("/")}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const [name, ...others] = rest;
    if (name === undefined) {
      if (at.length < root.length) return never("it leads out of the root");
      continue;
    }
    if (name === "..") {
      if (at.length <= root.length) return never("it leads out of the root");
      waiting.push({ at: at.slice(0, -1), rest: others, links });
      continue;
    }
    const next = [...at, name];
    if (next.length <= root.length) {
      // Above the root is only its own path, which has no links.
      if (name !== root[at.length]) return never("it leads out of the root");
    } else {
      const met = classify(next);
      if (met.class === "never" || met.class === "git") return never(`it leads to a protected path: ${met.why}`);
      if (met.class === "ask") found = met;
    }
    waiting.push({ at: next, rest: others, links });
    const real = tree.at(next);
    const targets = [draft.target(next), real?.kind === "link" ? real.target : null];
    if (real?.kind === "link" && real.target === null) return never("it leads through a link that cannot be read");
    for (const one of targets) if (one !== null) waiting.push(follow(at, one, others, links + 1));
  }
  return found;
}

/** `y/../x` leads elsewhere once `y` is a link, which a later draft can make it. */
function isUnsteady(target: string): boolean {
  const names = target.split("/").filter((name) => name !== "" && name !== ".");
  const first = names.findIndex((name) => name !== "..");
  return first >= 0 && names.indexOf("..", first) >= 0;
}

const UNSTEADY: Classification = {
  ...{ class: "ask" },
  why: "it has `..` after a name, so its target depends on other links",
};

function follow(folder: Path, target: string, rest: readonly string[], links: number): Walk {
  const names = target.split("/").filter((name) => name !== "" && name !== ".");
  return { at: target.startsWith("/") ? [] : folder, rest: [...names, ...rest], links };
}

function never(why: string): Classification {
  return { class: "never", why };
}
