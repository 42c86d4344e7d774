// What a notation needs to know besides the text: where on the machine its words are read, and the outer root.
import type { ToAscii } from "../authority/axes/destination.ts";
import type { PathSettings } from "../authority/axes/path.ts";
import type { OuterPolicies } from "./policy/outer-policies.ts";

/** Where a root lies once links are followed; null where that cannot be told, and so nothing may count on it. */
export type RealRoot = (root: readonly string[]) => readonly string[] | null;

export interface Reading {
  /** `base` is the working directory or workspace that relative roots are read by. */
  readonly pathSettings: PathSettings;
  readonly toAscii: ToAscii;
  /** Where a process runs when the request does not say; null is `pathSettings.base`. */
  readonly workingRoot?: readonly string[] | null;
  /** The root no agent may leave, from outer configuration; null where nothing is configured. */
  readonly ceiling: readonly string[] | null;
  /** Applied to every root before it is compared. Without it a root is used as written, and no disk is read. */
  readonly realRoot?: RealRoot;
  /** What outer configuration says about capabilities; without it only a record's own table counts. */
  readonly policies?: OuterPolicies;
  /** The id of a record that names none. */
  readonly name?: string;
  /** The id of an agent of a workspace, by its file: another id in the text has no effect. */
  readonly fileId?: string;
}

/** Relative paths of a call start in the session's folder if it lies in the agent's root, else in that root. */
export function workingPathSettings({
  pathSettings,
  workingRoot = null,
}: Pick<Reading, "pathSettings" | "workingRoot">): PathSettings {
  const { base } = pathSettings;
  if (workingRoot === null || (base !== null && workingRoot.every((name, at) => name === base[at])))
    return pathSettings;
  return { ...pathSettings, base: workingRoot };
}
