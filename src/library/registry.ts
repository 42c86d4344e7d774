// The application's own tools, held against the policy it was started with.
import { compile } from "../core/authority/compiled.ts";
import { ALWAYS } from "../core/authority/link.ts";
import type { Reading } from "../core/notation/reading.ts";
import { readDeclarationValue } from "../core/notation/tools/declaration-value.ts";
import type { Capabilities } from "../runtime/tool/declaration.ts";
import { createRegistry, type Registry } from "../runtime/tool/registry.ts";
import type { Policy } from "../runtime/tool/requirement.ts";
import { AmbitRefused } from "./answers.ts";

export function registryOf(reading: Reading, policy: Capabilities | null): Registry {
  return createRegistry({
    read: (declaration) => readDeclarationValue(declaration, reading),
    policy: policyOf(reading, policy),
    // What is there is known to the daemon, which refuses a call of a tool that needs more.
    backends: { has: () => true, hasSecret: () => true },
    ground: reading.ground,
    toAscii: reading.toAscii,
  });
}

/** One that is not understood is a mistake in the application: it is said at once, before anything is held against it. */
function policyOf(reading: Reading, policy: Capabilities | null): Policy {
  const { requirement, diagnostics } = readDeclarationValue(policy ?? {}, reading, "policy");
  const fault = diagnostics[0];
  if (requirement === null || fault !== undefined) {
    const message = `the policy is not understood: ${fault?.message ?? "it is no map of what tools may touch"}`;
    throw new AmbitRefused({ ok: false, code: "invalid_input", message, fix: null });
  }
  return {
    link: compile({
      ...{ id: "policy", role: "limit", issuer: "application", holder: "tools" },
      ...{ grants: requirement.grants, validity: ALWAYS, calls: null },
    }),
    holds: policy === null ? [] : null,
    protectedPaths: reading.ground.protectedPaths,
  };
}
