// Protected paths that a grant opens by naming them, and grants whose time is over.

import { type PathSettings, pathText } from "../core/authority/axes/path.ts";
import type { Grant } from "../core/authority/grant.ts";
import type { Sequence } from "../core/authority/patterns/sequence.ts";
import { instantText } from "../core/notation/instant.ts";
import { isExpired, reachOf } from "./breadth.ts";
import { type Finding, type FindingSubject, newFinding } from "./finding.ts";

/** The protected paths, ready to be asked many times. */
export class ProtectedPaths {
  readonly #texts: ReadonlySet<string>;

  constructor({ protectedPaths }: PathSettings) {
    this.#texts = new Set(protectedPaths.map(pathText));
  }

  /** The outermost protected path that the pattern names segment by segment. */
  namedBy(pattern: Sequence): string | null {
    let text = "";
    for (const segment of pattern) {
      if (segment.kind !== "literal") return null;
      text += `/${segment.text}`;
      if (this.#texts.has(text)) return text;
    }
    return null;
  }
}

export function protectedPathGrants(grant: Grant, paths: ProtectedPaths, about: FindingSubject): Finding | null {
  for (const pattern of reachOf(grant)) {
    const path = paths.namedBy(pattern);
    if (path === null) continue;
    return newFinding("protected_opened", about, {
      message: `\`${grant.verb.verb}\` covers ${path}, a protected path that wildcards do not match`,
      meaning:
        "Keys, credentials or machine controls are stored there; this grant names the path literally, so it covers it.",
      fix: "name the one file that is needed, and nothing above it",
      grants: [grant],
    });
  }
  return null;
}

export function expiredGrant(grant: Grant, about: FindingSubject, now: number): Finding | null {
  const { expires } = grant.conditions;
  if (expires === null || !isExpired(grant, now)) return null;
  return newFinding("expired_grant", about, {
    message: `\`${grant.verb.verb}\` expired at ${instantText(expires) ?? `${expires} ms`}`,
    meaning: "It covers nothing any more.",
    fix: "delete it, or write a new `expires`",
    grants: [grant],
  });
}
