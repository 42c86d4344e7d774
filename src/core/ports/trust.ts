// What a person trusted of a project, kept outside of it.

/** One text of a project that carries authority; its path is relative to the workspace, with slashes. */
export interface AuthorityFile {
  readonly path: string;
  readonly text: string;
}

/** Roots as written, and where they lay when it was trusted: a link turned elsewhere is a change like any other. */
export type Roots = readonly (readonly [written: string, real: string | null])[];

/** A text that a person trusted, with all that its meaning depended on. */
export interface TrustedFile extends AuthorityFile {
  readonly roots: Roots;
  /** Of its text. Kept, so that comparing needs no hashing. */
  readonly digest: string;
  /** Digest of the project's configuration that was trusted with it; null for none. */
  readonly config: string | null;
  /**
   * What an agent's text granted when it was trusted, as canonical specs: the user's own levels may have hidden a part of the
   * text then. Absent for other files, and for trust that was given before this was kept.
   */
  readonly shown?: readonly string[];
}

export interface Trusted {
  /** Whether anything was ever trusted here, and not revoked. */
  readonly exists: boolean;
  /** Digest of all that was trusted together; null where nothing was. */
  readonly digest: string | null;
  /** By the path inside the workspace; null for a text that was not there. */
  file(path: string): TrustedFile | null;
}

export type TrustWritten = { readonly ok: true } | { readonly ok: false; readonly message: string };

export interface TrustStore extends Trusted {
  /** Of every trusted text, those that are gone since included. */
  paths(): readonly string[];
  /** Exactly these texts from now on, written in this order: configuration first, so that a half-written trust is none. */
  trust(files: readonly TrustedFile[], digest: string): TrustWritten;
  /** One text a person changed through us; whatever else was trusted stays. */
  trustFile(file: TrustedFile): TrustWritten;
  revoke(): TrustWritten;
}
