// Verifies the log of a state folder that its daemon rejects: directly from the files, with the keys beside them.

import { errorMessage } from "../../core/base/error-message.ts";
import type { VerifyReport } from "../../core/ports/daemon/daemon-control.ts";
import type { DurableResult } from "../../core/ports/stores/durable.ts";
import type { LogEnd } from "../../core/ports/stores/notary.ts";
import { signatureCheck } from "../../log/keys/key-text.ts";
import type { ChainHead } from "../../log/verify/verify.ts";
import { verifyStore } from "../../log/verify/verify-store.ts";
import { sha256 } from "../../platform/digest.ts";
import { openStoredChain } from "../../store/log/stored-chain.ts";
import { openNotary } from "./notary.ts";

export interface StoredLogParts {
  readonly state: string;
  readonly program: string;
}

/** `key`: the first key of the log, if the caller provides it; else the one beside the log. */
export async function verifyStoredLog(
  { state, program }: StoredLogParts,
  head: ChainHead | null,
  key: string | null,
): Promise<DurableResult<VerifyReport>> {
  const notary = openNotary(state);
  if (!notary.ok) return notary;
  const chain = openStoredChain(state, { digest: sha256, program });
  if (!chain.ok) return chain;
  try {
    const { keys } = notary.value;
    const remembered = rememberedBy(notary.value);
    if (!remembered.ok) return remembered;
    const ports = { digest: sha256, check: signatureCheck(), chain: chain.value, pause };
    const given = { key: key ?? keys.first, rotations: keys.rotations, node: null, head };
    return await verifyStore(ports, { ...given, remembered: remembered.value });
  } finally {
    chain.value.close();
  }
}

function rememberedBy(notary: { remembered(): LogEnd | null }): DurableResult<LogEnd | null> {
  try {
    return { ok: true, value: notary.remembered() };
  } catch (error) {
    return { ok: false, code: "audit_unavailable", message: errorMessage(error) };
  }
}

function pause(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
