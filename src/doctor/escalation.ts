// Grants an agent could use to give itself, or others, more than its record says.

import {
  guardPath,
  type PathSettings,
  parsePathPatterns,
  pathText,
  proposedRoot,
  tree,
} from "../core/authority/axes/path.ts";
import type { Grant } from "../core/authority/grant.ts";
import { intersectSequences } from "../core/authority/patterns/intersect.ts";
import type { Sequence } from "../core/authority/patterns/sequence.ts";
import { compactText } from "../core/notation/printer.ts";
import { entryOf } from "../core/notation/tree.ts";
import { isBroad, isExpired, isHomeOrAbove, isLive, patternsOf } from "./breadth.ts";
import { type Finding, type FindingSubject, newFinding } from "./finding.ts";
import type { Probe } from "./probe.ts";
import type { WrittenScope, WrittenScopes } from "./written.ts";

type EscalationFacts = Pick<Probe, "workspace" | "pathSettings" | "now">;

export function escalations(
  grants: readonly Grant[],
  written: WrittenScopes,
  about: FindingSubject,
  probe: EscalationFacts,
): readonly Finding[] {
  const live = grants.filter((grant) => !isExpired(grant, probe.now));
  return [
    ...live.flatMap((grant) => ofGrant(grant, written.of(grant), about, probe)),
    ...passingOn(live, about, probe),
    ...filesEverywhere(live, about, probe),
    ...everySecret(live, about, probe),
  ];
}

/** One finding for all file verbs: the root is one decision. */
function filesEverywhere(
  grants: readonly Grant[],
  about: FindingSubject,
  { pathSettings, now }: EscalationFacts,
): Finding[] {
  const wide = grants.filter(
    (grant) =>
      grant.verb.verb.startsWith("fs.") &&
      isLive(grant, now) &&
      patternsOf(grant, "path").some((pattern) => isHomeOrAbove(pattern, pathSettings.home)),
  );
  const [first] = wide;
  if (first === undefined) return [];
  const verbs = [...new Set(wide.map(({ verb }) => `\`${verb.verb}\``))];
  return [
    newFinding("files_everywhere", about, {
      message: `${verbs.join(", ")} ${verbs.length === 1 ? "reaches" : "reach"} everything in ${pathText(first.root ?? [])}`,
      meaning: "That is your whole home folder or more; only protected paths are left out.",
      fix: `${first.verb.verb}{in=${proposedRoot(pathSettings)}}`,
      grants: wide,
    }),
  ];
}

function everySecret(
  grants: readonly Grant[],
  about: FindingSubject,
  { pathSettings, now }: EscalationFacts,
): Finding[] {
  const wide = grants.filter(
    (grant) => grant.verb.verb === "secret.use" && isLive(grant, now) && isBroad(grant, pathSettings.home),
  );
  if (wide.length === 0) return [];
  return [
    newFinding("every_secret", about, {
      message: "`secret.use` covers every secret, including those stored later",
      meaning: "The agent can use every secret with any tool and host that the secret is bound to.",
      fix: "secret.use{names=[github-token]}",
      grants: wide,
    }),
  ];
}

function ofGrant(
  grant: Grant,
  written: WrittenScope,
  about: FindingSubject,
  probe: EscalationFacts,
): readonly Finding[] {
  switch (grant.verb.verb) {
    case "fs.write":
    case "fs.delete":
      return overFolders(grant, written, about, probe);
    case "proc.exec":
    case "proc.eval":
      return everywhere(grant, about, probe) ?? unscoped(grant, written, about);
    default:
      return [];
  }
}

function overFolders(
  grant: Grant,
  written: WrittenScope,
  about: FindingSubject,
  { workspace, pathSettings }: EscalationFacts,
): Finding[] {
  const folder = workspace?.folders.find((one) => reaches(grant, written, one, pathSettings));
  if (folder === undefined) return [];
  const does = grant.verb.verb === "fs.write" ? "change" : "delete";
  return [
    newFinding("records_writable", about, {
      message: `\`${grant.verb.verb}\` covers ${pathText(folder)}`,
      meaning: `The agent can ${does} records there with plain file tools, including records that grant authority to agents.`,
      fix: `keep its \`paths\` or its root outside ${pathText(folder)}`,
      grants: [grant],
    }),
  ];
}

function reaches(grant: Grant, written: WrittenScope, folder: readonly string[], pathSettings: PathSettings): boolean {
  // Judged as written although it is inert: with a root added later, it would reach the folder.
  const patterns = grant.root === null ? rootless(written, folder, pathSettings) : patternsOf(grant, "path");
  const guarded = guardPath(folder, pathSettings.protectedPaths).guarded?.lastIndexOf(true) ?? -1;
  return patterns.some((pattern) => {
    const common = intersectSequences(pattern, tree(folder), true);
    // Null is more than can be told apart, which is counted as reaching it.
    return common?.some((one) => one.slice(0, guarded + 1).every((segment) => segment.kind === "literal")) ?? true;
  });
}

/** What `paths` would mean: as they stand where absolute, else under any folder above the one in question. */
function rootless(written: WrittenScope, folder: readonly string[], pathSettings: PathSettings): readonly Sequence[] {
  const paths = written === null || written === undefined ? undefined : entryOf(written, "paths")?.value;
  const items = paths?.kind === "list" ? paths.items : paths === undefined ? [] : [paths];
  return items.flatMap((item) => {
    if (item.kind !== "scalar" || typeof item.value !== "string") return [];
    const text = item.value;
    const roots = /^[/~]/.test(text) ? [[]] : folder.map((_, depth) => folder.slice(0, depth));
    return roots.flatMap((root) => {
      const read = parsePathPatterns(text, root, pathSettings);
      return read.ok ? read.value : [];
    });
  });
}

function everywhere(grant: Grant, about: FindingSubject, { pathSettings }: EscalationFacts): Finding[] | null {
  const root = patternsOf(grant, "root").find((pattern) => isHomeOrAbove(pattern, pathSettings.home));
  if (root === undefined) return null;
  return [
    newFinding("exec_everywhere", about, {
      message: `\`${grant.verb.verb}\` runs with ${pathText(grant.root ?? [])} as its root`,
      meaning: "Every program it runs sees all of your other files on this machine.",
      fix: `${grant.verb.verb}{in=${proposedRoot(pathSettings)}}`,
      grants: [grant],
    }),
  ];
}

const LIMITS = ["in", "cmds", "patterns"];

function unscoped(grant: Grant, written: WrittenScope, about: FindingSubject): Finding[] {
  if (grant.verb.verb !== "proc.exec" || written === undefined) return [];
  if (written?.entries.some(({ key }) => LIMITS.includes(key)) === true) return [];
  return [
    newFinding("unscoped_exec", about, {
      message: "`proc.exec` names no folder, no command and no pattern",
      meaning: "It runs any program in whatever root it inherits, now or later.",
      fix: "proc.exec{cmds=[git]}",
      grants: [grant],
    }),
  ];
}

/** `agent.grant` beside grants so broad that an agent that receives them could do nearly anything. */
function passingOn(grants: readonly Grant[], about: FindingSubject, { pathSettings, now }: EscalationFacts): Finding[] {
  const granting = grants.find(
    (grant) => grant.verb.verb === "agent.grant" && grant.conditions.pass !== "pass" && isLive(grant, now),
  );
  if (granting === undefined) return [];
  const broad = grants.filter(
    (grant) => grant.conditions.pass !== "use" && isLive(grant, now) && isBroad(grant, pathSettings.home),
  );
  const [first] = broad;
  if (first === undefined) return [];
  const more = broad.length === 1 ? "" : ` and ${broad.length - 1} more`;
  return [
    newFinding("grants_widely", about, {
      message: `\`agent.grant\` beside ${compactText(first)}${more}`,
      meaning: "It can delegate that to any agent that its `agent.grant` covers, without approval.",
      fix: "write `pass: use` on the broad grant, or `ask: true` on `agent.grant`",
      span: granting.span,
      grants: [granting, ...broad],
    }),
  ];
}
