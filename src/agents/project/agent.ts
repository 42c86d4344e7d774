// An agent as written on disk: its id, its grants, and whether its text is usable.
import type { Authority } from "../../core/authority/chain.ts";
import { compile, type Moment } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { ALWAYS, type Link, type Validity } from "../../core/authority/link.ts";
import type { CaveatsLink } from "../../core/notation/caveats/caveats.ts";
import type { Approvers } from "../../core/notation/config/approvers.ts";
import { type Diagnostic, Diagnostics } from "../../core/notation/diagnostic.ts";
import type { Manifest } from "../../core/notation/manifest/manifest.ts";
import { limitsFor } from "../../core/notation/policy/outer-policies.ts";
import { limitedBy, type PolicyTable } from "../../core/notation/policy/policy.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { AgentRecord } from "../../core/notation/record/record.ts";
import type { Source } from "../../core/notation/source.ts";
import type { DeclarationReading } from "../../core/notation/tools/declaration.ts";
import type { OwnedBudget } from "../../org/budget.ts";
import { runTests, type TestResult } from "./tests.ts";

export type AgentForm = "record" | "manifest" | "caveats" | "declaration" | "org";

export interface Agent {
  readonly id: string;
  readonly form: AgentForm;
  /** One chain of one link: the grants of the agent's own text. Empty if the text is refused. */
  readonly authority: Authority;
  readonly grants: readonly Grant[];
  readonly tests: readonly TestResult[];
  /** Where its processes run by default. */
  readonly workingRoot: readonly string[] | null;
  /** As written; compared, not interpreted here. */
  readonly mode: string | null;
  /** Who has to approve its requests; null: one person, anyone. */
  readonly approvers: Approvers | null;
  /** What its programs write waits for a review, by its text or by a surrounding configuration: `land: ask`. */
  readonly needsReview: boolean;
  /** What a policy denies it, or asks for, in delegations too; absent for none. */
  readonly policyLimits?: PolicyTable;
  /** What it, its team and its org may spend, by the org file; absent for none. */
  readonly budgets?: readonly OwnedBudget[];
  /** Set by a surrounding configuration: sessions are opened only for users with a record. */
  readonly isUserRequired?: boolean;
  readonly diagnostics: readonly Diagnostic[];
  /** Nothing in the text takes effect: it is invalid, or its own tests fail. */
  readonly refused: boolean;
  /** The configurations it was read in, to show lines of them: its grants may be written there. */
  readonly around?: readonly Source[] | undefined;
}

/** A record whose tests fail grants nothing: it does not say what its author intended. */
export function agentFromRecord(record: AgentRecord, name: string, reading: Reading, moment: Moment): Agent {
  const id = record.id ?? name;
  const held = authorityOf(id, record.grants, ALWAYS, null);
  const diagnostics = new Diagnostics();
  const tests = runTests(
    record.tests,
    { agent: id, authority: held },
    { ...reading, workingRoot: record.sandbox },
    moment,
  );
  for (const { test, passed, got } of tests) {
    if (passed) continue;
    const wanted = test.code === null ? test.outcome : `${test.outcome} (${test.code})`;
    diagnostics.error(
      "failed_test",
      test.span,
      `${test.request || "this test"}: wanted ${wanted}, got ${got}; the record grants nothing until it passes`,
    );
  }
  const failed = tests.some((test) => !test.passed);
  const grants = failed ? [] : record.grants;
  return {
    id,
    form: "record",
    authority: failed ? authorityOf(id, [], ALWAYS, null) : held,
    grants,
    tests,
    workingRoot: record.sandbox,
    mode: record.mode,
    approvers: record.approvers,
    needsReview: record.needsReview,
    policyLimits: record.policyLimits,
    diagnostics: [...record.diagnostics, ...diagnostics.list],
    refused: failed,
  };
}

export function agentFromManifest(manifest: Manifest, name: string, reading: Reading): Agent {
  const id = reading.fileId ?? manifest.id ?? name;
  const { grants, policyLimits, found } = underPolicy(id, manifest.grants, reading);
  const agent = plain(id, "manifest", grants, ALWAYS, null, [...manifest.diagnostics, ...found], manifest.refused);
  return { ...agent, policyLimits };
}

/** A missing or malformed text denies everything: no document of this form means "unconfined". */
export function agentFromCaveats(
  link: CaveatsLink | null,
  diagnostics: readonly Diagnostic[],
  name: string,
  reading: Reading,
): Agent {
  if (link === null) return plain(name, "caveats", [], ALWAYS, 0, diagnostics, true);
  const validity: Validity = { notBefore: null, expires: null, generations: link.generations };
  const { grants, policyLimits, found } = underPolicy(name, link.grants, reading);
  return { ...plain(name, "caveats", grants, validity, link.calls, [...diagnostics, ...found], false), policyLimits };
}

interface GrantsUnderPolicy {
  readonly grants: readonly Grant[];
  readonly policyLimits: PolicyTable;
  readonly found: readonly Diagnostic[];
}

/** What a configuration denies, or asks for by the agent's name, holds for agents of every form. */
function underPolicy(id: string, grants: readonly Grant[], { policies }: Reading): GrantsUnderPolicy {
  const policyLimits = limitsFor(null, policies, id);
  const found = new Diagnostics();
  return { grants: limitedBy(policyLimits, grants, found), policyLimits, found: found.list };
}

/** A tool by itself: the most it may ever need, as if that were granted. */
export function agentFromDeclaration({ requirement, diagnostics }: DeclarationReading, name: string): Agent {
  return plain(name, "declaration", requirement?.grants ?? [], ALWAYS, null, diagnostics, requirement === null);
}

/** An agent of a form that is read elsewhere. */
export function agentFromGrants(
  id: string,
  form: AgentForm,
  grants: readonly Grant[],
  diagnostics: readonly Diagnostic[],
): Agent {
  return plain(id, form, grants, ALWAYS, null, diagnostics, false);
}

/** A text that could not be parsed: an agent without grants. */
export function agentRefused(name: string, form: AgentForm, diagnostics: readonly Diagnostic[]): Agent {
  return plain(name, form, [], ALWAYS, null, diagnostics, true);
}

function plain(
  id: string,
  form: AgentForm,
  grants: readonly Grant[],
  validity: Validity,
  calls: number | null,
  diagnostics: readonly Diagnostic[],
  refused: boolean,
): Agent {
  return {
    id,
    form,
    authority: authorityOf(id, grants, validity, calls),
    grants,
    tests: [],
    workingRoot: null,
    mode: null,
    approvers: null,
    needsReview: false,
    diagnostics,
    refused,
  };
}

function authorityOf(id: string, grants: readonly Grant[], validity: Validity, calls: number | null): Authority {
  const link: Link = { id, role: "own", issuer: "person", holder: id, grants, validity, calls };
  return [[compile(link)]];
}
