// The parts of the daemon for a row: the real store and vault; no person at the control socket, and no programs.
import type { Authority } from "../../src/core/authority/chain.ts";
import { type Result, refuse } from "../../src/core/base/result.ts";
import type { Refusal } from "../../src/core/ports/daemon/exchange.ts";
import { machineZones } from "../../src/daemon/clock.ts";
import type { DaemonParts } from "../../src/daemon/parts.ts";
import type { DaemonSecrets } from "../../src/daemon/secrets.ts";
import { builtinTool, type DaemonTool } from "../../src/daemon/tools/daemon-tool.ts";
import { canonicalJson } from "../../src/log/chain/canonical.ts";
import { sha256 } from "../../src/platform/digest.ts";
import type { State } from "../../src/store/state.ts";
import { FILE_TOOLS } from "../../src/tools/files/file-tools.ts";
import { READING } from "./machine.ts";

const ABSENT: Refusal = { ok: false, code: "not_available", message: "there is none in a vector", fix: null };
const unwritten = (): Result<string> => refuse("bad_value", ABSENT.message);
const absent = async (): Promise<Refusal> => ABSENT;

/** Without the clock and the names, which the row provides. */
export function partsOf(state: State, secrets: DaemonSecrets, authority: Authority): Omit<DaemonParts, "now" | "id"> {
  return {
    stores: state,
    wall: () => 0,
    zones: machineZones(),
    problems: () => [],
    vault: secrets.vault,
    isSigned: async () => null,
    redacting: secrets.redacting,
    isTrigger: () => false,
    presence: { names: () => [], check: absent, set: absent, delete: absent },
    proof: {
      verify: absent,
      export: absent,
      keys: () => [],
      rotate: absent,
      retain: absent,
      checkpoint: async () => undefined,
    },
    records: {
      record: (_, name) => ({
        ok: true,
        value: {
          name: { workspace: null, agent: name },
          authority,
          written: null,
          approvers: { need: 1, of: null },
          needsReview: false,
          policyLimits: new Map(),
          budgets: [],
          notes: [],
          reading: READING,
          linkedRoots: [],
          stamp: "",
          placeOf: () => null,
        },
      }),
      caveats: () => {
        throw new Error("no row opens a session with caveats");
      },
      user: () => null,
      isUserRequired: () => false,
      agentIds: () => [],
      readingAt: () => READING,
      workspaceOf: () => null,
      notify: () => [],
      presenceReason: () => null,
    },
    agentRecords: { grant: unwritten, create: unwritten, remove: unwritten },
    drafts: { list: () => [], show: absent, land: absent, discard: absent, undo: absent },
    programs: {
      isProgram: () => false,
      argvOf: () => null,
      profiles: () => ({ profiles: [], broken: [] }),
      run: async () => {
        throw new Error("no program runs in a vector");
      },
      end: async () => 0,
      count: 0,
    },
    pin: async () => ({ digest: null, binding: null }),
    version: "vectors",
    digest: sha256,
    canonical: canonicalJson,
    note: () => undefined,
  };
}

/** The file tools as the daemon decides them. The decision is the answer: no file of a row exists. */
export function decidedFileTools(): readonly DaemonTool[] {
  return FILE_TOOLS.map((tool) => ({
    ...builtinTool(tool),
    execute: async () => ({ ok: true, value: null, isUntrusted: true }),
  }));
}
