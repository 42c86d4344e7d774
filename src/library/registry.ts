// The application's own tools, checked against the policy the application was started with.
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
    // The daemon knows the backends, and refuses a call of a tool that needs a missing one.
    backends: { has: () => true, hasSecret: () => true },
    ground: reading.ground,
    toAscii: reading.toAscii,
  });
}

/** An unreadable policy is a bug in the application: it throws at once, before any tool is checked against it. */
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
