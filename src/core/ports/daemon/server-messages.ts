// Messages of the `control` socket about MCP servers of others: their entries, packages and sign-ins.
import type { JsonObject } from "../../base/json.ts";
import type { WithPresence } from "./daemon-control.ts";

/** A package that was fetched, as a person is shown it before an entry names it. */
export interface FetchedPackage {
  readonly kind: "npm" | "pypi";
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  readonly lock: string;
  /** Its install scripts have run. */
  readonly hasScripts: boolean;
  readonly packages: number;
  /** Packages with install scripts. */
  readonly scripts: readonly string[];
  readonly programs: readonly string[];
  readonly files: number;
  readonly bytes: number;
}

/** A sign-in at a server; without its tokens. */
export interface SignInView {
  readonly state: "signed in" | "expired";
  readonly issuer: string;
  readonly scope: string | null;
  /** When the current access token ends; null where that is not known. */
  readonly expires: number | null;
  /** Hosts besides the server's own that a person allowed for it. */
  readonly hosts: readonly string[];
}

/** An MCP server as shown to a person. */
export interface ServerView {
  readonly name: string;
  readonly level: "user" | "project";
  /** Null for a server at an address. */
  readonly command: readonly string[] | null;
  /** The package that its program is from, and whether it was fetched; null: a program of this machine. */
  readonly package: { readonly text: string; readonly isStored: boolean } | null;
  /** Null for a program. */
  readonly url: string | null;
  /** Stored secrets that it names: where each goes, and whether its program gets the value. */
  readonly secrets: readonly { readonly name: string; readonly at: string; readonly isRevealed: boolean }[];
  /** Compact specs of what it reaches. */
  readonly requires: readonly string[];
  readonly risk: string;
  readonly runtime: readonly string[];
  /** Names of its own variables. */
  readonly environment: readonly string[];
  readonly isEnabled: boolean;
  readonly isClean: boolean;
  /** Why it is not in effect; null where it is. */
  readonly waits: string | null;
  /** Pinned tools; null before its first use. */
  readonly pinned: number | null;
  /** Tools that wait for a person, as far as the server was started. */
  readonly held: number;
  /** Pinned tools whose text names tools of other servers, or of ambit. */
  readonly shadowing: readonly { readonly tool: string; readonly others: readonly string[] }[];
  /** Why it could not be started last; null where it could, or was not started. */
  readonly failure: string | null;
  /** Null where no person signed in. */
  readonly signIn: SignInView | null;
}

export interface ServerToolView {
  /** As a client calls it. */
  readonly name: string;
  readonly tool: string;
  readonly title: string | null;
  readonly description: string;
  readonly input: JsonObject;
  /** Hints of the server: they grant nothing. */
  readonly annotations: JsonObject | null;
  /** What its arguments mean, as it is written in a file; null where nothing is known. */
  readonly map: string | null;
  readonly mapSource: "file" | "shipped" | null;
  /** Pinned, and said exactly so by the server. */
  readonly isPinned: boolean;
  /** Its text has characters that a person does not see. */
  readonly hasHiddenText: boolean;
  /** Tools of other servers, or of ambit, that its text names. */
  readonly namesOthers: readonly string[];
}

export interface ServerDetails {
  readonly server: ServerView;
  readonly version: string;
  readonly instructions: string;
  readonly tools: readonly ServerToolView[];
  readonly refused: readonly { readonly tool: string; readonly why: string }[];
  readonly changes: readonly {
    readonly tool: string | null;
    readonly part: string;
    readonly before: string | null;
    readonly now: string | null;
  }[];
  /** Of everything above that can be pinned. */
  readonly digest: string;
}

export interface ServerMessages {
  /** The MCP servers of a folder's workspace, without starting any. */
  readonly "servers.list": {
    readonly asks: { readonly cwd: string };
    readonly answers: { readonly servers: readonly ServerView[] };
  };
  /** Starts one in its sandbox, and shows what it says about itself beside what is pinned. */
  readonly "servers.show": {
    readonly asks: { readonly cwd: string; readonly name: string };
    readonly answers: ServerDetails;
  };
  /** Pins what `servers.show` answered with, by its digest. */
  readonly "servers.pin": {
    readonly asks: WithPresence & { readonly cwd: string; readonly name: string; readonly digest: string };
    readonly answers: { readonly tools: number };
  };
  /** Resolves and fetches a package in a sandbox of its own, and stores it; nothing names it yet. */
  readonly "packages.fetch": {
    readonly asks: {
      readonly cwd: string;
      readonly kind: "npm" | "pypi";
      readonly name: string;
      readonly range: string;
      readonly registry: string;
      /** Other hosts that the registry has its files at. */
      readonly hosts: readonly string[];
      readonly runScripts: boolean;
      /** Only if it is the same as this one. */
      readonly expected: { readonly integrity: string; readonly lock: string } | null;
    };
    readonly answers: FetchedPackage;
  };
  /** Whether a package is stored as it was fetched. */
  readonly "packages.check": {
    readonly asks: { readonly lock: string; readonly hasScripts: boolean };
    readonly answers: { readonly state: "stored" | "missing" | "changed" };
  };
  /** Removes a stored package that no entry names. */
  readonly "packages.release": {
    readonly asks: { readonly cwd: string; readonly lock: string; readonly hasScripts: boolean };
    readonly answers: { readonly isRemoved: boolean };
  };
  /**
   * Begins a sign-in at a server at an address: the page that a person opens, or a host that they have to allow first. `redirect`: where
   * the page leads back to; `hosts`: those that the person allowed.
   */
  readonly "servers.login": {
    readonly asks: WithPresence & {
      readonly cwd: string;
      readonly name: string;
      readonly redirect: string;
      readonly hosts: readonly string[];
      readonly clientId: string | null;
      readonly clientSecret: string | null;
    };
    readonly answers: {
      readonly page: string | null;
      readonly issuer: string | null;
      readonly scope: string | null;
      readonly host: string | null;
    };
  };
  /** Ends it with what the page led back with. */
  readonly "servers.signin": {
    readonly asks: { readonly state: string; readonly code: string; readonly iss: string | null };
    readonly answers: { readonly name: string; readonly signIn: SignInView };
  };
  /** Deletes the tokens of a sign-in, and revokes them where its authorization server can. */
  readonly "servers.logout": {
    readonly asks: { readonly cwd: string; readonly name: string };
    readonly answers: {
      readonly wasSignedIn: boolean;
      readonly issuer: string | null;
      /** What became of the tokens at the authorization server. */
      readonly revocation: "revoked" | "refresh token revoked" | "not offered" | "failed" | "nothing to revoke";
    };
  };
  /** Forgets what was pinned for a server that its file does not have any more. */
  readonly "servers.forget": {
    readonly asks: WithPresence & { readonly cwd: string; readonly name: string; readonly level: "user" | "project" };
    readonly answers: Readonly<Record<string, never>>;
  };
}
