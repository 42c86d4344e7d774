// `doctor: { accept: [{ code, reason }] }` in a record: findings its author knows of, each with the reason why it stays.
import type { Span } from "../core/authority/grant.ts";
import { nearestName } from "../core/notation/nearest.ts";
import { entryOf, type TreeNode } from "../core/notation/tree.ts";
import { type Finding, type FindingSubject, newFinding } from "./finding.ts";

/** Warnings about configurations that may be intended. Errors cannot be accepted. */
const ACCEPTABLE = [
  "lethal_combination",
  "records_writable",
  "unscoped_exec",
  "exec_everywhere",
  "grants_widely",
  "interpreter_pattern",
  "unasked_script",
  "older_preset",
  "protected_opened",
  "bare_token",
  "wide",
] as const;

export interface Acceptance {
  readonly code: string;
  readonly reason: string;
  readonly span: Span;
}

export interface Acceptances {
  readonly accepted: ReadonlyMap<string, Acceptance>;
  readonly findings: readonly Finding[];
}

const acceptancesMax = 64;
const reasonCharactersMax = 500;
const EXAMPLE = 'doctor: { accept: [{ code: lethal_combination, reason: "only reads our own wiki" }] }';

/** INVARIANT: what is not understood accepts nothing. */
export function readAcceptances(tree: TreeNode | null, about: FindingSubject): Acceptances {
  const entry = tree?.kind === "map" ? entryOf(tree, "doctor") : null;
  if (entry === null) return { accepted: new Map(), findings: [] };
  const findings: Finding[] = [];
  const refuse = (span: Span, message: string, fix = EXAMPLE): void => {
    findings.push(newFinding("bad_acceptance", about, { message, fix, span }));
  };
  const { value } = entry;
  const stray = value.kind === "map" ? value.entries.find(({ key }) => key !== "accept") : undefined;
  const list = value.kind === "map" ? entryOf(value, "accept")?.value : undefined;
  const accepted = new Map<string, Acceptance>();
  if (stray !== undefined) refuse(stray.keySpan, "`doctor` has one key, `accept`");
  else if (list?.kind !== "list" || list.items.length > acceptancesMax)
    refuse(value.span, `\`doctor\` must contain \`accept\`, a list of at most ${acceptancesMax} codes with a reason`);
  else {
    for (const item of list.items) {
      const one = readAcceptance(item, refuse);
      if (one !== null) accepted.set(one.code, one);
    }
  }
  return { accepted, findings };
}

type Refuse = (span: Span, message: string, fix?: string) => void;

function readAcceptance(item: TreeNode, refuse: Refuse): Acceptance | null {
  if (item.kind !== "map" || item.entries.some(({ key }) => key !== "code" && key !== "reason")) {
    refuse(item.span, "an accepted finding has a `code` and a `reason`, and nothing else");
    return null;
  }
  const code = textOf(entryOf(item, "code")?.value);
  const reason = textOf(entryOf(item, "reason")?.value)?.trim() ?? "";
  if (code === null || !(ACCEPTABLE as readonly string[]).includes(code)) {
    const nearest = code === null ? null : nearestName(code, ACCEPTABLE);
    refuse(item.span, "this code cannot be accepted", nearest ?? `one of: ${ACCEPTABLE.join(", ")}`);
    return null;
  }
  if (reason === "" || reason.length > reasonCharactersMax) {
    refuse(item.span, `accepting \`${code}\` needs a \`reason\` of at most ${reasonCharactersMax} characters`);
    return null;
  }
  return { code, reason, span: item.span };
}

function textOf(node: TreeNode | undefined): string | null {
  return node?.kind === "scalar" && typeof node.value === "string" ? node.value : null;
}

/** Splits findings into those that are told and the acceptances that hold the others back. */
export function withAcceptances(
  findings: readonly Finding[],
  { accepted }: Acceptances,
  about: FindingSubject,
): { readonly told: readonly Finding[]; readonly accepted: readonly Acceptance[] } {
  if (accepted.size === 0) return { told: findings, accepted: [] };
  const isHeld = ({ code, severity }: Finding): boolean => severity !== "error" && accepted.has(code);
  const held = new Set(findings.filter(isHeld).map(({ code }) => code as string));
  const idle = [...accepted.values()]
    .filter(({ code }) => !held.has(code))
    .map(({ code, span }) =>
      newFinding("bad_acceptance", about, {
        severity: "info",
        message: `there is no longer a finding \`${code}\` to accept`,
        fix: "delete the line",
        span,
      }),
    );
  return {
    told: [...findings.filter((finding) => !isHeld(finding)), ...idle],
    accepted: [...accepted.values()].filter(({ code }) => held.has(code)),
  };
}
