// What enforced each axis of a run: the kernel, our broker, or only the decision before it.
import type { AxisName } from "../../core/authority/catalog.ts";
import type { Enforcement, Strength } from "../../core/ports/enforcement.ts";
import type { Plan } from "./plan.ts";
import type { Ready } from "./start/answers.ts";

/** bare: without a sandbox, allowed by the user's own configuration. */
export type Confinement = { readonly kind: "sandbox"; readonly ready: Ready } | { readonly kind: "bare" };

export function enforcementOf(plan: Plan, confinement: Confinement): readonly Enforcement[] {
  if (confinement.kind === "bare") return [...FILES, "argv" as const, ...NETWORK].map((axis) => bare(axis));
  const { ready } = confinement;
  return [
    ...FILES.map((axis) => line(axis, "kernel", filesNote(plan, ready))),
    line("argv", "checked", "a program may start others inside the sandbox"),
    ...NETWORK.map((axis) => networkLine(axis, plan, ready)),
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
    ready.network === "ports" ? "calls to ports without a grant are refused by the kernel and not seen" : null,
  );
}
