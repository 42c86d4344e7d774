// What enforced each axis of a run: the kernel, our broker, or only the decision before it.
import type { AxisName } from "../../core/authority/catalog.ts";
import type { Enforcement, Strength } from "../../core/ports/enforcement.ts";
import type { Plan } from "./plan.ts";
import type { Ready } from "./start/answers.ts";

/** bare: without a sandbox, allowed by the user's own configuration. */
export type Confinement =
  | { readonly kind: "sandbox"; readonly ready: Ready }
  /** Without namespaces: Landlock, a filter, and a supervisor that answers calls. */
  | { readonly kind: "supervised" }
  | { readonly kind: "bare" };

export function enforcementOf(plan: Plan, confinement: Confinement): readonly Enforcement[] {
  if (confinement.kind === "bare") return [...FILES, "argv" as const, ...NETWORK].map((axis) => bare(axis));
  if (confinement.kind === "supervised") return supervised(plan);
  const { ready } = confinement;
  return [
    ...FILES.map((axis) => line(axis, "kernel", filesNote(plan, ready))),
    line("argv", "checked", "a program may start others inside the sandbox"),
    ...NETWORK.map((axis) => networkLine(axis, plan, ready)),
  ];
}

/** INVARIANT: what a sandbox with namespaces holds and this one does not is said on the axis it is about. */
function supervised(plan: Plan): readonly Enforcement[] {
  const { root, network, visible } = plan;
  const files = [
    ...(visible === undefined ? [] : [visible]),
    ...(root?.copy === undefined ? [] : ["the program works in a copy of the folder, at another path"]),
    ...(root?.mode === "draft" ? ["changes are a draft until they land"] : []),
    ...(root?.mode === "live" ? ["changes land while the program runs"] : []),
    "without namespaces: names, sizes, times and link targets of other files can be seen, their content cannot",
  ].join("; ");
  const calls = "without namespaces: the supervisor answers every call that names an address; no program can listen";
  return [
    ...FILES.map((axis) => line(axis, "kernel", files)),
    line(
      "argv",
      "checked",
      "a program may start others inside the sandbox; without namespaces: it can see which processes exist, but cannot reach those outside",
    ),
    ...NETWORK.map((axis) =>
      network === null ? line(axis, "kernel", "there are no sockets in the sandbox") : line(axis, "broker", calls),
    ),
  ];
}

const FILES = ["root", "mode"] as const satisfies readonly AxisName[];
const NETWORK = ["host", "port", "raw"] as const satisfies readonly AxisName[];

function line(axis: AxisName, strength: Strength, note: string | null): Enforcement {
  return { axis, strength, note };
}

function bare(axis: AxisName): Enforcement {
  return axis === "argv"
    ? line(axis, "checked", "the program runs without a sandbox")
    : line(axis, "none", "the program runs without a sandbox");
}

function filesNote({ root, visible }: Plan, ready: Ready): string | null {
  const notes = [
    ...(visible === undefined ? [] : [visible]),
    ...(root?.mode === "draft" ? ["changes are a draft until they land"] : []),
    ...(root?.mode === "live" ? ["changes are made to a copy, and land while the program runs"] : []),
    ...(ready.landlock ? [] : ["by mounts alone: this kernel has no Landlock"]),
  ];
  return notes.length === 0 ? null : notes.join("; ");
}

function networkLine(axis: AxisName, { network }: Plan, ready: Ready): Enforcement {
  if (network === null || ready.network === "none") return line(axis, "kernel", "there is no network in the sandbox");
  return line(
    axis,
    "broker",
    ready.network === "ports"
      ? "the kernel refuses connections to ports without a grant, and they are not reported"
      : null,
  );
}
