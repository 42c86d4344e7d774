// Sessions with real tools that run programs: real sandboxes, a real file worker and the real gate over a folder of its own. The
// test sets the session's grants.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Authority } from "../../src/core/authority/chain.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import type { Request } from "../../src/core/authority/request.ts";
import type { JsonObject } from "../../src/core/base/json.ts";
import { authorize } from "../../src/core/gate/call.ts";
import { decideCall } from "../../src/core/gate/call-decision.ts";
import { readCompact } from "../../src/core/notation/compact/compact.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import { Contexts } from "../../src/daemon/contexts/contexts.ts";
import { type DaemonFiles, daemonFiles } from "../../src/daemon/contexts/files.ts";
import { contextPrograms } from "../../src/daemon/contexts/programs.ts";
import { type ScriptPowersOptions, scriptPowers } from "../../src/daemon/contexts/scripts.ts";
import type { ProgramContext } from "../../src/daemon/parts.ts";
import { daemonDrafts } from "../../src/daemon/programs/drafts.ts";
import { type DaemonPrograms, daemonPrograms } from "../../src/daemon/programs/programs.ts";
import type { Session } from "../../src/daemon/session.ts";
import { builtinToolWith, type DaemonTool, type ExecutionResult } from "../../src/daemon/tools/daemon-tool.ts";
import { DaemonTools } from "../../src/daemon/tools/daemon-tools.ts";
import { RootLock } from "../../src/sandbox/drafts/root-lock.ts";
import { TriggerTable } from "../../src/sandbox/plan/triggers/trigger-table.ts";
import { shellTool } from "../../src/tools/shell/shell-tool.ts";
import { root as ourPackage } from "../e2e/ambit.ts";
import { path } from "../files/fixture.ts";
import { chain, link, moment } from "../forge/authority.ts";
import { newSession } from "./files-fixture.ts";

export interface ProgramsFixture {
  /** The project; its parent is outside of it. */
  readonly folder: string;
  readonly outside: string;
  readonly session: Session;
  readonly programs: DaemonPrograms;
  /** From the next call on. */
  grants: readonly string[];
  /** As the daemon does: requests derived, decided, logged, and only then carried out. */
  call(tool: string, input: JsonObject, signal?: AbortSignal): Promise<Said>;
  /** The requests of the last call, in order. */
  readonly asked: readonly Request[];
  close(): Promise<void>;
}

export type Said =
  | { readonly denied: string; readonly reason: string | null; readonly need: Request | null }
  | { readonly failed: string; readonly message: string }
  | { readonly value: JsonObject };

/** Never aborted. */
export const NEVER: AbortSignal = new AbortController().signal;

export interface Made {
  readonly programs: DaemonPrograms;
  readonly files: DaemonFiles;
}

export function programsFixture(
  tools: (made: Made) => readonly DaemonTool[],
  ...grants: readonly string[]
): ProgramsFixture {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), "ambit-programs-")));
  const folder = join(outside, "project");
  const state = join(outside, "state");
  mkdirSync(folder);
  mkdirSync(state);
  const protectedPaths = [path(join(folder, "closed"))];
  const pathSettings = { home: null, base: path(folder), protectedPaths };
  const reading: Reading = { pathSettings, toAscii: (name) => name, ceiling: null, workingRoot: path(folder) };
  const session = newSession(folder);
  const authority = (): Authority => [chain(link("record", grantsOf(fixture.grants, reading)))];
  const held = () =>
    session.isClosed
      ? null
      : {
          holding: {
            authority: authority(),
            reading,
            links: [[]],
            approvers: { need: 1, of: null },
            needsReview: false,
            notes: [],
            record: null,
          },
          moment: moment(),
        };
  const folders = { state, config: null };
  const table = new TriggerTable();
  const locks = new RootLock();
  const files = daemonFiles({
    lock: locks,
    ...{ program: ourPackage, folders, home: null, isBareAllowed: () => false, triggers: () => table },
    held: held as never,
  });
  const drafts = daemonDrafts({
    lock: locks,
    ...{
      state,
      program: ourPackage,
      folders,
      home: null,
      now: Date.now,
      isBareAllowed: () => false,
      triggers: () => table,
    },
    records: { readingAt: () => reading } as never,
    note: () => undefined,
  });
  const programs = daemonPrograms({
    stores: async () => [],
    ...{ drafts, now: Date.now },
    program: ourPackage,
    folders,
    install: () => "",
    requiresNamespaces: () => false,
    secret: () => null,
    secretHosts: () => [],
    secretForUrl: () => null,
    stream: () => null,
    environmentOf: (_, environment) => ({
      home: null,
      workspace: folder,
      folders,
      program: ourPackage,
      pathSettings,
      environment,
      user: null,
      project: null,
      userName: "tester",
    }),
  });
  const contexts = new Contexts({
    held: held as never,
    stores: {} as ConstructorParameters<typeof Contexts>[0]["stores"],
    redacting: { known: null, text: (text) => text, json: (value) => value },
    instruments: {
      backends: () => ({ has: () => true, hasSecret: () => false }),
      of: (call) => ({
        ...{ fetching: null, secrets: null },
        files: files.of(call),
        programs: contextPrograms(programs, call),
      }),
    },
    now: () => 0,
    id: () => "o_test",
  });
  const own = new DaemonTools(tools({ programs, files }), { of: async () => [] });
  let asked: readonly Request[] = [];
  const fixture: ProgramsFixture = {
    folder,
    outside,
    session,
    programs,
    grants: ["tool.invoke", ...grants],
    get asked() {
      return asked;
    },
    call: async (name, input, signal = NEVER) => {
      const tool = await own.named(session, name);
      if (tool === null) throw new Error(`no tool ${name}`);
      const caller = { agent: "scout", authority: authority() };
      const plain = own.lookup(tool, reading, session, []);
      const first = decideCall(caller, { tool: name, input }, plain, moment(), protectedPaths);
      const derived = first.outcome === "deny" ? null : await tool.derive?.(input, session, reading);
      const more = derived === null || derived === undefined ? [] : derived.ok ? derived.value : derived;
      const lookup = own.lookup(tool, reading, session, more);
      const gate = await authorize(caller, { tool: name, input }, lookup, moment(), protectedPaths, {
        approvals: async () => ({ kind: "pending", approval: "a" }),
        commit: async () => ({ ok: true, receipt: "r" }),
      });
      if (!gate.ok) tool.denied?.(input, session);
      if (!gate.ok) return { denied: gate.code, reason: gate.reason, need: gate.request };
      asked = gate.warrant.requests;
      const running: ProgramContext = {
        authority: caller.authority,
        owner: "scout",
        agent: { workspace: folder, agent: "scout" },
        call: "r",
        holds: authority,
        needsReview: () => false,
        session: session.facts.id,
        generation: 0,
        cwd: folder,
        folderNames: [],
        environment: {},
        moment: () => moment(),
        useModel: async () => ({ ok: false, id: "none", code: "not_available", reason: null }),
        modelUsed: () => undefined,
        door: null,
        useSecret: async () => ({ ok: false, id: "", code: "capability_absent", reason: null }),
        refused: () => "e",
      };
      const carried = await tool.execute({
        input: gate.warrant.arguments,
        session,
        warrant: gate.warrant,
        reading,
        signal,
        reservation: null,
        client: null,
        context: (options) =>
          contexts.open({ ...options, session, warrant: gate.warrant, programContext: running, cancel: signal }),
        programContext: running,
      });
      return saidOf(carried);
    },
    close: async () => {
      session.close();
      files.close();
      await programs.close();
      drafts.close();
      rmSync(outside, { recursive: true, force: true });
    },
  };
  return fixture;
}

/** The shell tool over these programs and files. */
export function shellIn(options: ScriptPowersOptions, userName: () => string = () => "tester"): DaemonTool {
  return builtinToolWith(shellTool(userName), scriptPowers(options));
}

function saidOf(carried: ExecutionResult): Said {
  if (carried.ok) return { value: carried.value as JsonObject };
  const { code, message, met } = carried;
  const denial = met?.denials.find((one) => one.code === code);
  const failed = { failed: code, message };
  return denial === undefined ? failed : { ...failed, denied: code, reason: message, need: null };
}

function grantsOf(specs: readonly string[], reading: Reading): readonly Grant[] {
  const diagnostics = new Diagnostics();
  const span = { source: "spec", start: 0, end: 0 };
  const root = reading.workingRoot ?? null;
  return specs.map((spec) => {
    const read = readCompact(spec, { reading, diagnostics, span, root });
    if (read === null) throw new Error(`does not parse: ${spec}`);
    return read;
  });
}
