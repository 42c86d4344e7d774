// An edit of an agent's authority: from the text of its record to the text with the grant added or revoked, proved to
// change nothing else before it is written.
import type { Moment } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import type { Request } from "../../core/authority/request.ts";
import { type Diagnostic, Diagnostics } from "../../core/notation/diagnostic.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { type AgentRecord, readRecord } from "../../core/notation/record/record.ts";
import type { Source } from "../../core/notation/source.ts";
import type { TreeNode } from "../../core/notation/tree.ts";
import { agentFromRecord } from "../project/agent.ts";
import { type AuthorityEdit, checkEdit, more } from "./edit-check.ts";
import { closePlan } from "./edit-close.ts";
import { type Plan, planGrant, planRevoke, viewOf } from "./edit-plan.ts";
import { readGrantSpec, readRevokeSpec, type SpecLimits } from "./edit-spec.ts";
import { writePlan } from "./edit-write.ts";

export type RecordEdit =
  | { readonly kind: "grant"; readonly spec: string; readonly limits: SpecLimits }
  | { readonly kind: "revoke"; readonly spec: string };

/** What an edit needs besides the text. */
export interface EditContext {
  readonly reading: Reading;
  readonly moment: Moment;
  /** The frontmatter of a record; null, with diagnostics, if it cannot be read. */
  read(source: Source): { readonly tree: TreeNode | null; readonly diagnostics: readonly Diagnostic[] };
}

export type EditResult =
  | {
      readonly kind: "edited";
      readonly text: string;
      readonly edit: AuthorityEdit;
      readonly before: readonly Grant[];
      readonly after: readonly Grant[];
      /** Shorthands that this edit wrote out, by name. */
      readonly dissolved: readonly string[];
    }
  | { readonly kind: "unchanged"; readonly edit: AuthorityEdit; readonly held: readonly Grant[] }
  | {
      readonly kind: "refused";
      /** `spec`: what the user typed. `record`: the text of the file. `edit`: it cannot be done, or not be proved. */
      readonly about: "spec" | "record" | "edit";
      readonly message: string;
      readonly diagnostics: readonly Diagnostic[];
      /** The text that the diagnostics point into. */
      readonly source: Source;
      readonly example: Request | null;
    };

type EditRefusal = Extract<EditResult, { kind: "refused" }>;

export function editRecord(source: Source, wanted: RecordEdit, context: EditContext): EditResult {
  const found = context.read(source);
  if (found.tree?.kind !== "map")
    return refused("record", "the record cannot be parsed, so it cannot be edited", source, found.diagnostics);
  const { reading } = context;
  const record = readRecord(found.tree, reading);
  const view = viewOf(found.tree, record, reading);
  let edit: AuthorityEdit;
  let plan: Plan;
  if (wanted.kind === "grant") {
    const spec = readGrantSpec(wanted.spec, wanted.limits, view.context);
    if (!spec.ok) return refused("spec", spec.message, spec.source, spec.diagnostics);
    edit = { kind: "grant", grant: spec.value.grant };
    if (more(record.grants, [spec.value.grant], reading.pathSettings.protectedPaths).length === 0)
      return { kind: "unchanged", edit, held: record.grants };
    plan = planGrant(view, spec.value);
    closePlan(view, plan, null);
  } else {
    const spec = readRevokeSpec(wanted.spec, view.context, record.grants);
    if (!spec.ok) return refused("spec", spec.message, spec.source, spec.diagnostics);
    edit = spec.value;
    const planned = planRevoke(view, spec.value);
    if (planned.kind === "same") return { kind: "unchanged", edit, held: record.grants };
    if (planned.kind === "refused") return refused("edit", planned.message, source);
    plan = planned.plan;
    closePlan(view, plan, spec.value.verb.verb);
  }
  const written = writePlan(source, view, plan);
  if (!written.ok) {
    const diagnostics = new Diagnostics();
    diagnostics.error("not_understood", { source: source.name, ...written.at }, written.message);
    return refused("edit", `${written.message}: edit the file by hand`, source, diagnostics.list);
  }
  const next: Source = { name: source.name, text: written.text };
  return proved(next, record, edit, [...plan.dissolved], context);
}

/** INVARIANT: the authority parsed from the returned text is the old one with exactly the edit. */
function proved(
  next: Source,
  record: AgentRecord,
  edit: AuthorityEdit,
  dissolved: readonly string[],
  context: EditContext,
): EditResult {
  const { reading, moment } = context;
  const again = context.read(next);
  if (again.tree?.kind !== "map")
    return refused("edit", "the edited text would not be a record: edit the file by hand", next, again.diagnostics);
  const after = readRecord(again.tree, reading);
  const problem = checkEdit(record.grants, after.grants, edit, reading.pathSettings.protectedPaths);
  if (problem !== null)
    return { ...refused("edit", `${problem.message}: edit the file by hand`, next), example: problem.example };
  const before = agentFromRecord(record, reading.name ?? "", reading, moment);
  const failed = agentFromRecord(after, reading.name ?? "", reading, moment).tests.find(({ passed }) => !passed);
  if (failed !== undefined && before.tests.every(({ passed }) => passed))
    return refused(
      "edit",
      `the record's own test \`${failed.test.outcome} ${failed.test.request}\` would fail, and a record whose tests fail grants nothing: change the test first`,
      next,
    );
  return { kind: "edited", text: next.text, edit, before: record.grants, after: after.grants, dissolved };
}

function refused(
  about: EditRefusal["about"],
  message: string,
  source: Source,
  diagnostics: readonly Diagnostic[] = [],
): EditRefusal {
  return { kind: "refused", about, message, source, diagnostics, example: null };
}
