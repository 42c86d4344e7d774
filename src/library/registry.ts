// The application's own tools, checked against the policy the application was started with.
import type { Agents } from "../agents/disk/agents.ts";
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
    pathSettings: reading.pathSettings,
    toAscii: reading.toAscii,
  });
}

/** An unreadable policy is a bug in the application: it throws at once, before any tool is checked against it. */
function policyOf(reading: Reading, policy: Capabilities | null): Policy {
  const { requirement, diagnostics } = readDeclarationValue(policy ?? {}, reading, "policy");
  const fault = diagnostics[0];
  if (requirement === null || fault !== undefined) {
    const message = `the policy cannot be parsed: ${fault?.message ?? "it is not a map of what tools may touch"}`;
    throw new AmbitRefused({ ok: false, code: "invalid_input", message, fix: null });
  }
  const link = compile({
    ...{ id: "policy", role: "limit", issuer: "application", holder: "tools" },
    ...{ grants: requirement.grants, validity: ALWAYS, calls: null },
  });
  const { protectedPaths } = reading.pathSettings;
  return { authority: [[link]], name: "the policy", holds: policy === null ? [] : null, protectedPaths };
}

/** An agent as a policy: what its record grants now, as far as it is trusted. Or why it is none. */
export function agentPolicy(agents: Pick<Agents, "loadAgent">, reading: Reading, id: string): Policy | string {
  const loaded = agents.loadAgent(id);
  if (!loaded.ok) return loaded.message;
  const { agent, trust } = loaded.value;
  if (agent.refused) return `the record of ${agent.id} is not valid, so it grants nothing: ambit doctor ${agent.id}`;
  if (trust?.status.kind === "untrusted") return `${agent.id} has no effect until you trust the project: ambit trust`;
  const { protectedPaths } = reading.pathSettings;
  return { authority: agent.authority, name: `the authority of ${agent.id}`, holds: null, protectedPaths };
}
