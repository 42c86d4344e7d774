// Fetches a package for an MCP server: npm resolves and unpacks it, without install scripts, in a sandbox that has an empty folder
// and reaches the registry alone. Scripts, where a person wants them, run afterwards in a sandbox without any network.
import { lstatSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { destinationText, type ToAscii } from "../../core/authority/axes/destination.ts";
import { parseUrl } from "../../core/authority/axes/url.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import { compile } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { judge } from "../../core/authority/judge.ts";
import { ALWAYS, type Link } from "../../core/authority/link.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { readCompact } from "../../core/notation/compact/compact.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { grantOf } from "../../core/notation/grants.ts";
import { parseJson } from "../../core/notation/json-reader.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { PackageRequest } from "../../core/notation/servers/package-command.ts";
import { type PinnedPackage, packageText } from "../../core/notation/servers/server-package.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { FetchedPackage } from "../../core/ports/daemon/server-messages.ts";
import type { RunResult } from "../../core/ports/process.ts";
import { type ResolvedPackage, readNpmLock } from "../../gateway/npm-lock.ts";
import { sha256 } from "../../platform/digest.ts";
import { whyEnded } from "../../sandbox/plan/run-outcome.ts";
import type { ProgramContext, Programs } from "../parts.ts";
import { PACKAGE, type PackageStore } from "./package-store.ts";

export interface PackageFetcherOptions {
  readonly store: PackageStore;
  readonly programs: Pick<Programs, "run" | "end">;
  /** What no server exceeds; null for no limit. */
  ceiling(): readonly Grant[] | null;
  isFrozen(): boolean;
  readingAt(folder: string): Reading;
  now(): number;
  id(): string;
  /** Logs a connection that was refused to the fetch. */
  denied(facts: JsonObject): void;
}

export interface PackageWish {
  readonly cwd: string;
  readonly workspace: string | null;
  readonly package: PackageRequest;
  readonly registry: string;
  readonly runScripts: boolean;
  /** Nothing else is stored; null: what the registry has. */
  readonly expected: Pick<PinnedPackage, "integrity" | "lock"> | null;
  readonly by: JsonObject;
}

const fetchesMax = 4;
const fetchMilliseconds = 300_000;
const lockBytesMax = 16_777_216;
const outputCharactersMax = 8_192;
/** Of the kept home: where a stage is, inside. */
const HOME = "/run/ambit/home";
const AT = `${HOME}/${PACKAGE}`;

export class PackageFetcher {
  readonly #options: PackageFetcherOptions;
  #running = 0;

  constructor(options: PackageFetcherOptions) {
    this.#options = options;
  }

  /** INVARIANT: whatever happens, a package is stored as a whole or not at all. */
  async fetch(wish: PackageWish, signal: AbortSignal): Promise<Answer<FetchedPackage>> {
    const { store } = this.#options;
    if (this.#options.isFrozen()) return refusal("frozen", "all agents are frozen", "ambit thaw");
    if (this.#running >= fetchesMax) return refusal("not_available", "too many packages are fetched at once");
    const stage = store.stage();
    if (stage === null) return refusal("not_available", "there is no state folder to store packages in");
    this.#running++;
    const owner = `package ${this.#options.id()}`;
    try {
      return await this.#staged(stage, owner, wish, signal);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return refusal("not_available", `the package cannot be stored: ${why}`);
    } finally {
      this.#running--;
      // A sandbox that is kept warm has the stage as its home.
      await this.#options.programs.end(owner, "ambit mcp fetch").catch(() => undefined);
      await store.discard(stage);
    }
  }

  async #staged(stage: string, owner: string, wish: PackageWish, signal: AbortSignal): Promise<Answer<FetchedPackage>> {
    const { name, range } = wish.package;
    const host = registryGrant(wish.registry, this.#options.readingAt(wish.cwd));
    if (!host.ok) return host;
    writeFileSync(join(stage, PACKAGE, "package.json"), '{ "private": true }\n');
    const installed = await this.#npm(
      stage,
      owner,
      wish,
      [...INSTALL, `--registry=${wish.registry}`, `${name}@${range}`],
      {
        grants: [host.value],
        signal,
      },
    );
    if (!installed.ok) return installed;
    const resolved = resolvedIn(stage, name, wish.registry);
    if (!resolved.ok) return resolved;
    const pin: PinnedPackage = {
      ...{ name, version: resolved.value.version, integrity: resolved.value.integrity },
      lock: `sha256-${sha256(resolved.value.lines)}`,
      hasScripts: wish.runScripts && resolved.value.scripts.length > 0,
    };
    const { expected } = wish;
    if (expected !== null && (expected.lock !== pin.lock || expected.integrity !== pin.integrity))
      return refusal(
        "pin_changed",
        `the registry's response for ${packageText(pin)} differs from when it was pinned: ${changeText(expected, pin)}`,
        "ambit mcp update NAME",
      );
    if (pin.hasScripts) {
      const ran = await this.#npm(stage, owner, wish, REBUILD, { grants: [], signal });
      if (!ran.ok) return ran;
    }
    // Nothing of it runs any more: what is measured now is what is stored.
    await this.#options.programs.end(owner, "ambit mcp fetch");
    const { lines: _lines, version: _version, integrity: _integrity, ...facts } = resolved.value;
    const { files, bytes } = await this.#options.store.adopt(stage, pin, {
      ...{ package: packageText(pin), integrity: pin.integrity, lock: pin.lock, registry: wish.registry },
      ...{ packages: facts.packages, scripts: pin.hasScripts, ...wish.by },
    });
    return { ok: true, value: { ...pin, ...facts, files, bytes } };
  }

  /** One run of npm; its sandbox reaches what the grants say. */
  async #npm(
    stage: string,
    owner: string,
    { cwd, workspace }: PackageWish,
    words: readonly string[],
    { grants, signal }: { readonly grants: readonly Grant[]; readonly signal: AbortSignal },
  ): Promise<Answer<object>> {
    const { programs, ceiling, now, isFrozen } = this.#options;
    const run = grantOf("sandbox.exec", {}, { span: null, implied: "server" });
    const limit = ceiling();
    const link = (role: Link["role"], id: string, held: readonly Grant[]): Link => ({
      ...{ id, role, issuer: "user", holder: owner, grants: [...held, run] },
      validity: ALWAYS,
      calls: null,
    });
    const authority: ProgramContext["authority"] = [
      [
        compile(link("own", owner, grants)),
        ...(limit === null ? [] : [compile(link("limit", "ceiling of servers", limit))]),
      ],
    ];
    const moment: ProgramContext["moment"] = () => ({
      ...{ now: now(), clean: false, generation: 0, revoked: null, exhausted: null },
    });
    const verb = verbEntry("sandbox.exec");
    if (verb === null) return refusal("not_available", "there is no sandbox");
    const request = { verb, values: [] };
    const decision = judge(authority, request, moment());
    if (decision.outcome === "deny") return refusal("scope_violation", "your ceiling does not allow it");
    let said = "";
    const hear = (bytes: Uint8Array): void => {
      said = (said + Buffer.from(bytes).toString("utf8")).slice(-outputCharactersMax);
    };
    const result = await programs.run(
      {
        ...{ authority, owner, moment, cwd, generation: 0, door: null, environment: {}, folderNames: [] },
        ...{ agent: { agent: "person", workspace }, call: owner, session: owner },
        holds: () => (isFrozen() ? [] : authority),
        needsReview: () => true,
        useSecret: async () => ({ ok: false, id: "", code: "capability_absent", reason: null }),
        useModel: async () => ({ ok: false, id: "", code: "capability_absent", reason: null }),
        modelUsed: () => undefined,
        refused: () => "",
      },
      {
        ...{ argv: ["npm", ...words], request, by: decision.by, input: null, signal },
        sinks: { output: hear, errors: hear },
        milliseconds: fetchMilliseconds,
        server: { environment: [["npm_config_update_notifier", "false"]], runtime: [], home: stage },
      },
    );
    return this.#toldOf(result, said);
  }

  #toldOf(result: RunResult, said: string): Answer<object> {
    if (!result.ok) return refusal(result.refused.code, result.refused.message, result.refused.fix);
    const { ending, denials } = result.ran;
    for (const { code, request, times } of denials) this.#options.denied({ code, request, times });
    if (ending.kind === "exited" && ending.status === 0) return { ok: true, value: {} };
    if (ending.kind === "unstarted" && ending.isMissing === true)
      return refusal("not_available", "npm is not installed next to the daemon's Node", "install npm, and try again");
    const [denial] = denials;
    const lines = said.split("\n").flatMap((line) => {
      const text = line.replace(/^npm (?:error|ERR!)/, "").trim();
      return text === "" || /^npm warn|A complete log of this run|^at /i.test(text) ? [] : [text];
    });
    const why = lines.length > 0 ? lines.slice(0, npmLinesMax).join("; ") : whyEnded(result);
    const hint = denial === undefined ? "" : `; its sandbox reaches only the registry; refused: ${denial.request}`;
    return refusal("not_available", `npm could not fetch it: ${why}${hint}`);
  }
}

const npmLinesMax = 8;

/** Of npm's own settings none is the person's or the machine's: the sandbox has no such files. */
const COMMON: readonly string[] = [
  ...[`--prefix=${AT}`, `--cache=${HOME}/cache`, `--userconfig=${HOME}/none`, `--globalconfig=${HOME}/none-either`],
  ...["--no-audit", "--no-fund", "--loglevel=error", "--no-progress", "--color=false"],
];
const INSTALL: readonly string[] = [
  ...["install", ...COMMON, "--ignore-scripts", "--omit=dev", "--save-exact"],
  ...["--install-strategy=hoisted", "--omit-lockfile-registry-resolved", "--package-lock", "--lockfile-version=3"],
  ...["--fetch-retries=1", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000", "--fetch-timeout=60000"],
];
const REBUILD: readonly string[] = ["rebuild", ...COMMON, "--foreground-scripts", "--offline"];

function resolvedIn(stage: string, name: string, registry: string): Answer<ResolvedPackage> {
  const path = join(stage, PACKAGE, "package-lock.json");
  if (statSync(path).size > lockBytesMax) return refusal("too_large", "npm's lock is too large");
  const read = parseJson(readFileSync(path, "utf8"));
  const isThere = (at: string): boolean => lstatSync(join(stage, PACKAGE, at), { throwIfNoEntry: false }) !== undefined;
  const resolved = read.ok ? readNpmLock(read.value, name, registry, isThere) : null;
  if (resolved === null) return refusal("not_available", "the lock file that npm wrote cannot be parsed");
  return resolved.ok ? resolved : refusal("not_available", resolved.message);
}

function changeText(expected: Pick<PinnedPackage, "integrity">, pin: PinnedPackage): string {
  return expected.integrity === pin.integrity
    ? "its dependencies resolve to different versions"
    : "the package itself has a different integrity";
}

/** The registry's host and port, and no other. Without TLS only this machine: elsewhere the answer could be changed on the way. */
function registryGrant(registry: string, reading: Reading): Answer<Grant> {
  const toAscii: ToAscii = reading.toAscii;
  const url = parseUrl(registry, toAscii);
  if (!url.ok)
    return refusal("invalid_input", `the registry's address: ${url.message}`, "--registry https://registry.npmjs.org/");
  const { scheme, host, port } = url.value;
  const name = destinationText(host);
  if (scheme === "http" && !/^(?:localhost|127\.0\.0\.1|\[?::1\]?)$/.test(name))
    return refusal("invalid_input", "a registry without TLS must be on this machine", "--registry https://…");
  const text = `net.connect{hosts=[${JSON.stringify(name)}],ports=[${port}]}`;
  const span = { source: registry, start: 0, end: 0 };
  const grant = readCompact(text, { reading, diagnostics: new Diagnostics(), span, root: null });
  return grant === null
    ? refusal("invalid_input", "the registry's address has no host that can be granted")
    : { ok: true, value: grant };
}
