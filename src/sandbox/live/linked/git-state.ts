// The state of the private git folder of a live root, and of the person's, as values. One step compares both with the state
// in which they were last in step: what is carried in, what is a conflict, and whether the program has something to land.
import { STASH } from "../../plan/drafts/git/ref-name.ts";

export interface GitState {
  /** The text of HEAD. */
  readonly head: string;
  /** By name: an id, or "ref: " with the name of another ref. */
  readonly refs: ReadonlyMap<string, string>;
  /** A byte string. */
  readonly stashLog: string;
  /** A digest of its entries. */
  readonly index: string;
}

/** When both were in step: the program's state, and the person's. They differ only in what is never carried over. */
export interface GitBase {
  readonly program: GitState;
  readonly person: GitState;
}

/** What is carried in together: with one of these alone, the next commit of the program would take back the person's. */
export interface CheckoutChange {
  readonly head: boolean;
  readonly index: boolean;
  /** The branch of HEAD, where it moved. */
  readonly branch: string | null;
}

export interface GitStepPlan {
  /** With every value that both sides have now. */
  readonly base: GitBase;
  /** Refs that only the person changed, without the branch of the program's HEAD and without the stash. */
  readonly refs: readonly string[];
  readonly isStashCarried: boolean;
  readonly checkout: CheckoutChange | null;
  /** Changed on both sides to different values. */
  readonly conflicts: readonly string[];
}

interface Sides {
  readonly base: GitBase;
  readonly program: GitState;
  readonly person: GitState;
}

/** `isBusy`: an operation such as a rebase is in progress on one side, so HEAD and index stay as they are. */
export function planGitStep(sides: Sides, isBusy: boolean): GitStepPlan {
  const { program, person } = sides;
  const refs: string[] = [];
  const conflicts: string[] = [];
  const branch = targetOf(program.head);
  const names = new Set([...sides.base.person.refs.keys(), ...person.refs.keys()]);
  for (const name of names) {
    if (name === STASH || name === branch) continue;
    const change = changeOf(sides, (state) => state.refs.get(name));
    if (change === "person") refs.push(name);
    else if (change === "both") conflicts.push(name);
  }
  const stash = changeOf(sides, (state) => `${state.refs.get(STASH) ?? ""}\n${state.stashLog}`);
  const items = {
    HEAD: changeOf(sides, ({ head }) => head),
    index: changeOf(sides, ({ index }) => index),
    ...(branch === null ? {} : { [branch]: changeOf(sides, (state) => state.refs.get(branch)) }),
  };
  const found = Object.entries(items);
  const isMoved = (by: "person" | "program"): boolean => found.some(([, change]) => change === by || change === "both");
  const isApart = isMoved("person") && isMoved("program");
  if (isApart) conflicts.push(...found.filter(([, change]) => change !== "none").map(([name]) => name));
  const isCarried = isMoved("person") && !isApart && !isBusy;
  return {
    base: settled(sides, names),
    refs,
    isStashCarried: stash === "person",
    checkout: isCarried
      ? {
          head: items.HEAD === "person",
          index: items.index === "person",
          branch:
            branch !== null && found.some(([name, change]) => name === branch && change === "person") ? branch : null,
        }
      : null,
    conflicts,
  };
}

/** Whether the program changed something that the person's repository does not have. */
export function hasProgramChange({ base, program, person }: Sides): boolean {
  const names = new Set([...base.program.refs.keys(), ...program.refs.keys()]);
  const isChanged = (of: (state: GitState) => string | undefined): boolean =>
    of(program) !== of(base.program) && of(program) !== of(person);
  return (
    isChanged(({ head }) => head) ||
    isChanged(({ index }) => index) ||
    isChanged(({ stashLog }) => stashLog) ||
    [...names].some((name) => isChanged(({ refs }) => refs.get(name)))
  );
}

/** The name of the ref that a text of HEAD names; null where it is an id. */
export function targetOf(head: string): string | null {
  return /^ref: *(refs\/\S+)\n?$/.exec(head)?.[1] ?? null;
}

/** The same state with these refs. */
export function withRefs(state: GitState, changes: ReadonlyMap<string, string | undefined>): GitState {
  const refs = new Map(state.refs);
  for (const [name, ref] of changes)
    if (ref === undefined) refs.delete(name);
    else refs.set(name, ref);
  return { ...state, refs };
}

type Change = "none" | "program" | "person" | "both";

/** Equal values are no change, whatever they were before. */
function changeOf({ base, program, person }: Sides, of: (state: GitState) => string | undefined): Change {
  if (of(program) === of(person)) return "none";
  const [isProgram, isPerson] = [of(program) !== of(base.program), of(person) !== of(base.person)];
  return isProgram ? (isPerson ? "both" : "program") : isPerson ? "person" : "none";
}

/** The base itself where nothing new is equal. */
function settled({ base, program, person }: Sides, names: ReadonlySet<string>): GitBase {
  const equal = new Map<string, string | undefined>();
  for (const name of new Set([...names, ...program.refs.keys(), ...base.program.refs.keys()])) {
    const ref = program.refs.get(name);
    const isKnown = base.program.refs.get(name) === ref && base.person.refs.get(name) === ref;
    if (ref === person.refs.get(name) && !isKnown) equal.set(name, ref);
  }
  const more = {
    ...equalValue("head", base, program, person),
    ...equalValue("index", base, program, person),
    ...equalValue("stashLog", base, program, person),
  };
  if (equal.size === 0 && Object.keys(more).length === 0) return base;
  return {
    program: { ...withRefs(base.program, equal), ...more },
    person: { ...withRefs(base.person, equal), ...more },
  };
}

function equalValue(
  name: "head" | "index" | "stashLog",
  base: GitBase,
  program: GitState,
  person: GitState,
): Partial<GitState> {
  const is = program[name];
  return is === person[name] && !(base.program[name] === is && base.person[name] === is) ? { [name]: is } : {};
}
