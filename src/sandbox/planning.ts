// A decided request and the facts of the machine become a plan. INVARIANT: the plan is never wider than the deciding
// grants, and nothing in it lets a program change what decides about it.
import { guardPath, pathText } from "../authority/path.ts";
import { coveredUntil } from "../authority/until.ts";
import { environmentOf, isPassedOn } from "./environment.ts";
import { directoryRefusal, hiddenNames, visibleNote } from "./hidden-names.ts";
import { maskedNames, recordFolders } from "./masked-names.ts";
import { isSame, isWithin, temporaryFolder } from "./places.ts";
import type { Limits, Plan, PlanPath, PlanRoot } from "./plan.ts";
import type { FoundName, PlanFacts } from "./plan-facts.ts";
import { networkOf } from "./plan-network.ts";
import { rootRefused, runtimeTrees } from "./plan-places.ts";
import { type Planned, type PlanRefused, planned, refusePlan } from "./plan-refusal.ts";
import { type Decided, type RootAsked, rootAsked } from "./plan-root.ts";
import { isGitOrOurs } from "./triggers/classify.ts";
import { TriggerTable } from "./triggers/trigger-table.ts";
import { seesRecords, type VisibleFiles, visibleFiles, visibleUntil } from "./visible-files.ts";

export type PlanResult =
  /** `notes`: what is less than was written, for a person. */
  { readonly ok: true; readonly plan: Plan; readonly notes: readonly string[] } | PlanRefused;

export function planOf(decided: Decided, facts: PlanFacts): PlanResult {
  const fault = limitFault(facts.limits);
  if (fault !== null) return fault;
  const place = placeOf(decided, facts);
  if (!place.ok) return place;
  const runtime = runtimeTrees(facts);
  if (!runtime.ok) return runtime;
  const asked = place.value;
  const root = asked?.root ?? null;
  const protection = root === null ? null : protectedRootFault(root, facts);
  if (protection !== null) return protection;
  const view = asked === null ? planned({ visible: null, shown: null, masked: [] }) : viewOf(decided, asked, facts);
  if (!view.ok) return view;
  const { visible, shown, masked } = view.value;
  const walls = { root, runtime: runtime.value, network: networkOf(decided.authority, facts.moment) };
  const plan: Plan = {
    ...walls,
    masked,
    ...(visible === null ? {} : { visible }),
    ...(shown === null || root?.mode !== "live" ? {} : { shown }),
    directory: asked?.directory ?? temporaryFolder(walls),
    environment: environmentOf(walls, facts.host, facts.found),
    limits: endingInTime(decided, root, facts),
  };
  return { ok: true, plan, notes: [...rootNotes(asked), ...variableNotes(plan, facts)] };
}

interface View {
  /** Of the enforcement report; null where all of the root is shown. */
  readonly visible: string | null;
  readonly shown: VisibleFiles;
  readonly masked: readonly PlanPath[];
}

/** What of the root the program sees: what `fs.read` covers, without protected names and records it may not read. */
function viewOf(decided: Decided, { root, directory }: RootAsked, facts: PlanFacts): Planned<View> {
  const visible = visibleFiles(decided, root.path, facts);
  if (!visible.ok) return visible;
  const refusal = directoryRefusal(visible.value, root.path, directory);
  if (refusal !== null) return refusal;
  const hidden = hiddenNames(visible.value, root.path, facts.listed);
  if (!hidden.ok) return hidden;
  const records = recordFolders(facts).filter(
    (folder) => (root.mode === "live" || isFound(folder, facts.found)) && !seesRecords(decided, folder, facts),
  );
  const masked = maskedNames(root, facts, [
    ...hidden.value,
    ...records.filter((folder) => isWithin(folder, root.path)),
  ]);
  if (!masked.ok) return masked;
  const note = visibleNote(visible.value, root.path);
  return planned({ visible: note, shown: visible.value, masked: masked.value });
}

/** Itself, or a link on the way to it. */
function isFound(folder: PlanPath, found: readonly FoundName[]): boolean {
  return found.some(({ path, kind }) => isSame(path, folder) || (kind === "link" && isWithin(folder, path)));
}

/** INVARIANT: a program ends when the grants that let it run do, leave to read and to write its root among them. */
function endingInTime(decided: Decided, root: PlanRoot | null, facts: PlanFacts): Limits {
  const { authority, request } = decided;
  const { limits, moment, protectedPaths } = facts;
  const values = request.values.map((value, at) =>
    root !== null && request.verb.axes[at]?.name === "root" ? guardPath(root.path, protectedPaths) : value,
  );
  const ends = [
    coveredUntil(authority, { ...request, values }, moment),
    root === null ? null : visibleUntil(decided, root.path, facts),
  ].filter((one) => one !== null);
  if (ends.length === 0) return limits;
  const end = Math.min(...ends);
  return { ...limits, wallMilliseconds: Math.max(1, Math.min(limits.wallMilliseconds, end - moment.now)) };
}

/** The root a decided request would get; what `namesToFind` is asked about before the plan is made. */
export function placeOf(
  decided: Decided,
  facts: Pick<PlanFacts, "ours" | "program" | "moment" | "protectedPaths">,
): Planned<RootAsked | null> {
  const asked = rootAsked(decided, facts);
  if (!asked.ok || asked.value === null) return asked;
  return rootRefused(asked.value.root, facts) ?? asked;
}

/** The names in such a root say nothing about what they are for, so nothing could be told apart when a draft of it lands. */
function protectedRootFault({ path, mode }: PlanRoot, { home, workspaces }: PlanFacts): PlanRefused | null {
  if (mode === "ro") return null;
  const isTrigger = new TriggerTable().find(path, { root: [], home, workspaces })?.class === "never";
  if (!isTrigger && !isGitOrOurs(path)) return null;
  return refusePlan("self_modification", `${pathText(path)} is protected: no program changes it`, "root=ro");
}

/** Nought would mean "no limit" to more than one of those who are told; only time may be without one, by saying so. */
function limitFault(limits: Limits): PlanRefused | null {
  const { wallMilliseconds, memoryBytes, ...rest } = limits;
  const counts = [...Object.values(rest), ...(memoryBytes === null ? [] : [memoryBytes])];
  const isFine = [wallMilliseconds + 1, ...counts].every((one) => Number.isSafeInteger(one) && one > 0);
  return isFine
    ? null
    : refusePlan("sandbox_unavailable", "a limit of the configuration is not a whole number above 0");
}

function rootNotes(asked: RootAsked | null): readonly string[] {
  if (asked === null || isSame(asked.root.path, asked.directory)) return [];
  return [`runs in ${pathText(asked.directory)} and sees ${pathText(asked.root.path)}`];
}

function variableNotes(plan: Plan, { host }: PlanFacts): readonly string[] {
  const names = new Set(plan.environment.map(([name]) => name));
  return host.allowed
    .filter(([name, value]) => !isPassedOn(name, value) || !names.has(name))
    .map(([name]) => `${name} is not passed on: programs can be run or redirected by it`);
}
