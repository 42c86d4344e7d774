// Trust that a person gave to a project's files, stored outside the project.

import type { Failure } from "../base/result.ts";
/** One project file that carries authority; its path is relative to the workspace, with slashes. */
export interface AuthorityFile {
  readonly path: string;
  readonly text: string;
}

/** Roots as written, and their resolved targets at the time of trust: a retargeted symlink counts as a change. */
export type Roots = readonly (readonly [written: string, real: string | null])[];

/** A trusted file, with everything its meaning depended on. */
export interface TrustedFile extends AuthorityFile {
  readonly roots: Roots;
  /** Digest of its text, stored so that comparing needs no hashing. */
  readonly digest: string;
  /** Digest of the project configuration that was trusted with it; null for none. */
  readonly config: string | null;
  /**
   * What an agent's record granted when it was trusted, as canonical specs: the user's own levels may have hidden a part of
   * it then. Absent for other files, and for trust from before this was stored.
   */
  readonly shown?: readonly string[];
}

export interface TrustReader {
  /** Whether anything is trusted here, and not revoked. */
  readonly exists: boolean;
  /** Digest of everything trusted together; null if nothing is. */
  readonly digest: string | null;
  /** By the path inside the workspace; null for an untrusted file. */
  file(path: string): TrustedFile | null;
}

export type TrustResult = { readonly ok: true } | Failure;

export interface TrustStore extends TrustReader {
  /** Every trusted file, including deleted ones. */
  paths(): readonly string[];
  /** Replaces the trusted files, written in this order: configuration first, so that a partial write trusts nothing. */
  trust(files: readonly TrustedFile[], digest: string): TrustResult;
  /** One file that a person changed through ambit; other trust stays. */
  trustFile(file: TrustedFile): TrustResult;
  revoke(): TrustResult;
}
