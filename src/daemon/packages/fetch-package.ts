// Fetches a package for an MCP server: npm or pip resolves and unpacks it, without running its code, in a sandbox that has an empty
// folder and reaches the registry alone. Install scripts, where a person wants them, run afterwards in a sandbox without any network.

import { destinationText } from "../../core/authority/axes/destination.ts";
import { parseUrl } from "../../core/authority/axes/url.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import { compile } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { judge } from "../../core/authority/judge.ts";
import { ALWAYS, type Link } from "../../core/authority/link.ts";
import { errorMessage } from "../../core/base/error-message.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { readCompact } from "../../core/notation/compact/compact.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { grantOf } from "../../core/notation/grants.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { PackageKind, PackageRequest } from "../../core/notation/servers/package-request.ts";
import { type PinnedPackage, packageText } from "../../core/notation/servers/server-package.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { FetchedPackage } from "../../core/ports/daemon/server-messages.ts";
import type { RunResult } from "../../core/ports/process.ts";
import { sha256 } from "../../platform/digest.ts";
import { whyEnded } from "../../sandbox/plan/run-outcome.ts";
import type { ProgramContext, Programs } from "../parts.ts";
import { NPM } from "./npm-manager.ts";
import type { PackageManager, PackageStage, StageRun } from "./package-manager.ts";
import type { PackageStore } from "./package-store.ts";
import { PYPI } from "./pip-manager.ts";

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

export interface PackageOptions {
  readonly cwd: string;
  readonly workspace: string | null;
  readonly package: PackageRequest;
  readonly registry: string;
  /** Other hosts that the registry has its files at, as a person allowed them. */
  readonly hosts: readonly string[];
  readonly runScripts: boolean;
  /** Nothing else is stored; null: what the registry has. */
  readonly expected: Pick<PinnedPackage, "integrity" | "lock"> | null;
  readonly by: JsonObject;
}

const fetchesMax = 4;
const fetchMilliseconds = 300_000;
const outputCharactersMax = 8_192;

const MANAGERS: Readonly<Record<PackageKind, PackageManager>> = { npm: NPM, pypi: PYPI };

export class PackageFetcher {
  readonly #options: PackageFetcherOptions;
  #running = 0;

  constructor(options: PackageFetcherOptions) {
    this.#options = options;
  }

  /** INVARIANT: whatever happens, a package is stored as a whole or not at all. */
  async fetch(wish: PackageOptions, signal: AbortSignal): Promise<Answer<FetchedPackage>> {
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
      const why = errorMessage(error);
      return refusal("not_available", `the package cannot be stored: ${why}`);
    } finally {
      this.#running--;
      // A sandbox that is kept warm has the stage as its home.
      await this.#options.programs.end(owner, "ambit mcp fetch").catch(() => undefined);
      await store.discard(stage);
    }
  }

  async #staged(
    folder: string,
    owner: string,
    wish: PackageOptions,
    signal: AbortSignal,
  ): Promise<Answer<FetchedPackage>> {
    const { package: request, registry } = wish;
    const reading = this.#options.readingAt(wish.cwd);
    const grants: Grant[] = [];
    for (const host of [registryGrant(registry, reading), ...wish.hosts.map((one) => hostGrant(one, reading))]) {
      if (!host.ok) return host;
      grants.push(host.value);
    }
    const manager = MANAGERS[request.kind];
    const stage: PackageStage = {
      ...{ folder, package: request, registry },
      run: (run) => this.#run(stage, run, { owner, wish, manager, grants, signal }),
    };
    const resolved = await manager.resolve(stage);
    if (!resolved.ok) return resolved;
    const { kind, name } = request;
    const pin: PinnedPackage = {
      ...{ kind, name, version: resolved.value.version, integrity: resolved.value.integrity },
      lock: `sha256-${sha256(resolved.value.lines)}`,
      hasScripts: wish.runScripts && resolved.value.scripts.length > 0,
    };
    const { expected } = wish;
    if (expected !== null && (expected.lock !== pin.lock || expected.integrity !== pin.integrity))
      return refusal(
        "pin_changed",
        `the registry's response for ${packageText(pin)} differs from when it was pinned: ${
          expected.integrity === pin.integrity ? manager.others : "the package itself has a different integrity"
        }`,
        "ambit mcp update NAME",
      );
    if (pin.hasScripts && manager.runScripts !== null) {
      const ran = await manager.runScripts(stage);
      if (!ran.ok) return ran;
    }
    // Nothing of it runs any more: what is measured now is what is stored.
    await this.#options.programs.end(owner, "ambit mcp fetch");
    const { lines: _lines, version: _version, integrity: _integrity, ...facts } = resolved.value;
    const { files, bytes } = await this.#options.store.adopt(folder, pin, {
      ...{ package: packageText(pin), integrity: pin.integrity, lock: pin.lock, registry: wish.registry },
      ...{ packages: facts.packages, scripts: pin.hasScripts, ...wish.by },
    });
    return { ok: true, value: { ...pin, ...facts, files, bytes } };
  }

  /** One run of a package manager; its sandbox reaches what the grants say, or nothing. */
  async #run(
    { folder }: PackageStage,
    { argv, reachesRegistry, environment }: StageRun,
    {
      owner,
      wish: { cwd, workspace },
      manager,
      grants,
      signal,
    }: {
      readonly owner: string;
      readonly wish: PackageOptions;
      readonly manager: PackageManager;
      readonly grants: readonly Grant[];
      readonly signal: AbortSignal;
    },
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
        compile(link("own", owner, reachesRegistry ? grants : [])),
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
        ...{ argv, request, by: decision.by, input: null, signal },
        sinks: { output: hear, errors: hear },
        milliseconds: fetchMilliseconds,
        server: { environment, runtime: [], home: folder },
      },
    );
    return this.#toldOf(result, said, manager);
  }

  #toldOf(result: RunResult, said: string, manager: PackageManager): Answer<object> {
    if (!result.ok) return refusal(result.refused.code, result.refused.message, result.refused.fix);
    const { ending, denials } = result.ran;
    for (const { code, request, times } of denials) this.#options.denied({ code, request, times });
    if (ending.kind === "exited" && ending.status === 0) return { ok: true, value: {} };
    if (ending.kind === "unstarted" && ending.isMissing === true)
      return refusal("not_available", manager.missing.message, manager.missing.fix);
    const why = manager.problem(said) ?? { message: `it could not be fetched: ${whyEnded(result)}`, fix: null };
    const [denial] = denials;
    if (denial === undefined) return refusal("not_available", why.message, why.fix);
    // The host is granted: its name is not known, nothing answers there, or it leads to a special address.
    if (denial.code === "not_available" || denial.code === "address_refused")
      return refusal("not_available", `${why.message}; failed: ${denial.request} (${denial.code})`);
    const host = /^net\.connect (\S+)$/.exec(denial.request)?.[1];
    const fix = host === undefined ? null : `if the registry has its files there: --host ${host}`;
    return refusal(
      "not_available",
      `${why.message}; its sandbox reaches only the registry; refused: ${denial.request}`,
      fix,
    );
  }
}

/** The registry's host and port, and no other. Without TLS only this machine: elsewhere the answer could be changed on the way. */
function registryGrant(registry: string, reading: Reading): Answer<Grant> {
  const url = parseUrl(registry, reading.toAscii);
  if (!url.ok) return refusal("invalid_input", `the registry's address: ${url.message}`, "--registry https://…");
  const { scheme, host, port } = url.value;
  const name = destinationText(host);
  if (scheme === "http" && !/^(?:localhost|127\.0\.0\.1|\[?::1\]?)$/.test(name))
    return refusal("invalid_input", "a registry without TLS must be on this machine", "--registry https://…");
  return connectGrant(name, port, reading);
}

/** `example.com`, `example.com:8443`. */
function hostGrant(written: string, reading: Reading): Answer<Grant> {
  const url = /[/?#@\s]/.test(written) ? null : parseUrl(`https://${written}/`, reading.toAscii);
  if (url?.ok !== true)
    return refusal("invalid_input", `${JSON.stringify(written)} is not a host`, "--host files.example.com");
  return connectGrant(destinationText(url.value.host), url.value.port, reading);
}

function connectGrant(name: string, port: number, reading: Reading): Answer<Grant> {
  const text = `net.connect{hosts=[${JSON.stringify(name)}],ports=[${port}]}`;
  const span = { source: name, start: 0, end: 0 };
  const grant = readCompact(text, { reading, diagnostics: new Diagnostics(), span, root: null });
  return grant === null
    ? refusal("invalid_input", `${name} is not a host that can be granted`)
    : { ok: true, value: grant };
}
