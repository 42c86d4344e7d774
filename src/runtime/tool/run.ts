// Runs a registered tool for a warrant: all its backends exist, or it does not start; its context ends with the call, however
// that ends.

import type { DenialCode } from "../../core/authority/decision.ts";
import { onAbort } from "../../core/base/abort.ts";
import { foreignErrorMessage } from "../../core/base/error-message.ts";
import { type ContextParts, makeContext, type OpenContext, type Warrant } from "../context/context.ts";
import { type Availability, missingText, SAYS_UNAVAILABLE } from "./availability.ts";
import type { RegisteredTool } from "./registered.ts";
import { type ToolOutcome, toolOutcome } from "./tool-outcome.ts";

export interface RunParts extends Omit<ContextParts, "store"> {
  readonly availability: Availability;
  readonly signal: AbortSignal | null;
}

export function runTool(registered: RegisteredTool, warrant: Warrant, parts: RunParts): Promise<ToolOutcome> {
  const { availability, signal } = parts;
  const open = (): OpenContext => makeContext(warrant, { ...parts, store: registered.store });
  return runToolIn(registered, warrant, { availability, signal, open });
}

/** Runs in a remote context: the code that opens it checks the warrant. */
export interface RunInParts extends Pick<RunParts, "availability" | "signal"> {
  open(warrant: Warrant): OpenContext;
}

/** INVARIANT: the tool gets the arguments that were decided on, and no others. */
export async function runToolIn(registered: RegisteredTool, warrant: Warrant, parts: RunInParts): Promise<ToolOutcome> {
  const { tool, name } = registered;
  if (warrant.tool.replace(/^(?:builtin|tool):/, "") !== name)
    return refused("invalid_input", "the warrant is for another tool");
  const { availability, signal } = parts;
  if (signal?.aborted === true) return refused("revoked", "the call was stopped");
  if (!availability.ok) return refused("not_available", missingText(availability));
  if (!tool.isAvailable()) return refused("not_available", SAYS_UNAVAILABLE);
  const accepted = tool.accept(warrant.arguments);
  if (!accepted.ok) {
    const [issue] = accepted.issues;
    return refused("invalid_input", issue === undefined ? "refused" : `${issue.at} ${issue.message}`.trim());
  }
  const open = parts.open(warrant);
  let cancel: (outcome: ToolOutcome) => void = () => undefined;
  const cancelled = new Promise<ToolOutcome>((resolve) => {
    cancel = resolve;
  });
  const removeListener =
    signal === null
      ? null
      : onAbort(signal, () => {
          open.end();
          cancel(refused("revoked", "the call was stopped"));
        });
  try {
    return await Promise.race([execute(() => tool.execute(accepted.value, open.context)), cancelled]);
  } finally {
    open.end();
    removeListener?.();
  }
}

async function execute(act: () => unknown): Promise<ToolOutcome> {
  try {
    return await toolOutcome(await act());
  } catch (error) {
    return refused("execution_failed", foreignErrorMessage(error));
  }
}

function refused(code: DenialCode | "execution_failed", message: string): ToolOutcome {
  return { ok: false, code, message };
}
