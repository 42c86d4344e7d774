// Turns a decided request and the facts of the machine into a plan. INVARIANT: the plan is never wider than the
// deciding grants, and nothing in it lets a program change its own authority.
import { guardPath, pathText } from "../../core/authority/axes/path.ts";
import { coveredUntil } from "../../core/authority/until.ts";
import { type PlanningResult, type PlanRefusal, planValue, refusePlan } from "../../core/gate/programs/plan-refusal.ts";
import { chooseRoot, type PlanDecision, type RootChoice } from "../../core/gate/programs/program-root.ts";
import { seesRecords, type VisibleFiles, visibleFrom, visibleUntil } from "../../core/gate/programs/visible-files.ts";
import { hiddenNames, visibleNote } from "./hidden-names.ts";
import { maskedNames, recordFolders } from "./masked-names.ts";
import type { Limits, Plan, PlanPath, PlanRoot } from "./plan.ts";
import type { ExistingName, PlanFacts } from "./plan-facts.ts";
import { networkOf } from "./plan-network.ts";
import { isSame, isWithin, temporaryFolder } from "./plan-path.ts";
import { rootRefused, runtimeTrees } from "./root-rules.ts";
import { environmentOf, isPassedOn } from "./start/environment.ts";
import { isGitOrOurs } from "./triggers/classify.ts";
import { TriggerTable } from "./triggers/trigger-table.ts";

export type PlanResult =
  /** `notes`: where the plan is narrower than the configuration, for a person. */
  { readonly ok: true; readonly plan: Plan; readonly notes: readonly string[] } | PlanRefusal;

export function planOf(decided: PlanDecision, facts: PlanFacts): PlanResult {
  const fault = limitFault(facts.limits);
  if (fault !== null) return fault;
  const chosen = rootOf(decided, facts);
  if (!chosen.ok) return chosen;
  const runtime = runtimeTrees(facts);
  if (!runtime.ok) return runtime;
  const choice = chosen.value;
  const root = choice?.root ?? null;
  const protection = root === null ? null : protectedRootFault(root, facts);
  if (protection !== null) return protection;
  const view = choice === null ? planValue({ visible: null, shown: null, masked: [] }) : viewOf(decided, choice, facts);
  if (!view.ok) return view;
  const { visible, shown, masked } = view.value;
  const base = { root, runtime: runtime.value, network: networkOf(decided.authority, facts.moment) };
  const plan: Plan = {
    ...base,
    masked,
    ...(visible === null ? {} : { visible }),
    ...(shown === null || root?.mode !== "live" ? {} : { shown }),
    directory: choice?.directory ?? temporaryFolder(base),
    environment: environmentOf(base, facts.host, facts.found),
    ...(facts.hasTerminals === true ? { hasTerminals: true } : {}),
    limits: endingInTime(decided, root, facts),
  };
  return { ok: true, plan, notes: [...rootNotes(choice), ...variableNotes(plan, facts)] };
}

interface View {
  /** For the enforcement report; null where the whole root is shown. */
  readonly visible: string | null;
  readonly shown: VisibleFiles;
  readonly masked: readonly PlanPath[];
}

/** The visible part of the root: what `fs.read` covers, without protected names and records the agent may not read. */
function viewOf(decided: PlanDecision, { root, directory }: RootChoice, facts: PlanFacts): PlanningResult<View> {
  const visible = visibleFrom(decided, { root, directory }, facts);
  if (!visible.ok) return visible;
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
  return planValue({ visible: note, shown: visible.value, masked: masked.value });
}

/** The path itself, or a link on the path to it. */
function isFound(folder: PlanPath, found: readonly ExistingName[]): boolean {
  return found.some(({ path, kind }) => isSame(path, folder) || (kind === "link" && isWithin(folder, path)));
}

/** INVARIANT: a program ends when the grants that let it run expire, including those to read and to write its root. */
function endingInTime(decided: PlanDecision, root: PlanRoot | null, facts: PlanFacts): Limits {
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
  const left = Math.max(1, Math.min(...ends) - moment.now);
  const { wallMilliseconds: wall } = limits;
  return { ...limits, wallMilliseconds: wall === 0 ? left : Math.min(wall, left) };
}

/** The root of a decided request; `namesToFind` is looked up for it before the plan is made. */
export function rootOf(
  decided: PlanDecision,
  facts: Pick<PlanFacts, "ours" | "program" | "moment" | "protectedPaths">,
): PlanningResult<RootChoice | null> {
  const choice = chooseRoot(decided, facts);
  if (!choice.ok || choice.value === null) return choice;
  return rootRefused(choice.value.root, facts) ?? choice;
}

/** Every name in such a root is protected, so nothing could be distinguished when a draft of it lands. */
function protectedRootFault({ path, mode }: PlanRoot, { home, workspaces }: PlanFacts): PlanRefusal | null {
  if (mode === "ro") return null;
  const isTrigger = new TriggerTable().find(path, { root: [], home, workspaces })?.class === "never";
  if (!isTrigger && !isGitOrOurs(path)) return null;
  return refusePlan("self_modification", `${pathText(path)} is protected: programs cannot change it`, "root=ro");
}

/** Zero means "no limit" to several mechanisms, so it is refused; only time may be unlimited, explicitly. */
function limitFault(limits: Limits): PlanRefusal | null {
  const { wallMilliseconds, memoryBytes, ...rest } = limits;
  const counts = [...Object.values(rest), ...(memoryBytes === null ? [] : [memoryBytes])];
  const isFine = [wallMilliseconds + 1, ...counts].every((one) => Number.isSafeInteger(one) && one > 0);
  return isFine
    ? null
    : refusePlan("sandbox_unavailable", "a limit of the configuration is not a whole number above 0");
}

function rootNotes(asked: RootChoice | null): readonly string[] {
  if (asked === null || isSame(asked.root.path, asked.directory)) return [];
  return [`runs in ${pathText(asked.directory)} and sees ${pathText(asked.root.path)}`];
}

function variableNotes(plan: Plan, { host }: PlanFacts): readonly string[] {
  const names = new Set(plan.environment.map(([name]) => name));
  return host.allowed
    .filter(([name, value]) => !isPassedOn(name, value) || !names.has(name))
    .map(([name]) => `${name} is not passed to programs: it can make them run or load other code`);
}
