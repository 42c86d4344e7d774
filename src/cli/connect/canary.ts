// The canary: a question about a tool that records do not name, put to the very line in a client's settings.
import { dialectOf } from "../../clients/hooks/dialects.ts";
import { SHADOW_CANARY } from "../../clients/hooks/hook-call.ts";
import { EXIT } from "../terminal/exit.ts";
import type { Paint } from "../terminal/paint.ts";
import type { ConnectPorts } from "./connect.ts";

/** `shadow`: the hook answers, and blocks nothing. `allowed`: the record grants every tool. `failed`: the hook gives no answer. `foreign`: the line is not as this ambit writes it. */
export type CanaryResult = "denied" | "shadow" | "allowed" | "failed" | "foreign";

export async function askCanary(
  ports: Pick<ConnectPorts, "cwd" | "clientSettings">,
  client: string,
  command: string,
): Promise<CanaryResult> {
  const canary = dialectOf(client)?.canary(ports.cwd);
  if (canary === undefined) return "failed";
  const { status, err } = await ports.clientSettings.run(command, JSON.stringify(canary));
  if (status === EXIT.ok) return "allowed";
  if (status !== EXIT.usage) return "failed";
  return err.startsWith("ambit denied") ? "denied" : err.startsWith(SHADOW_CANARY) ? "shadow" : "failed";
}

/** In shadow mode the client runs what is denied. */
export function isTriable(canary: CanaryResult): boolean {
  return canary === "denied" || canary === "allowed";
}

export function canaryText(paint: Paint, canary: CanaryResult): string {
  switch (canary) {
    case "denied":
      return `${paint.good("ok")}: the hook denied a canary call`;
    case "allowed":
      return `${paint.good("ok")}: the hook answered a canary call; the record allows it, because it grants every tool`;
    case "shadow":
      return `${paint.warn("warning")}: the hook works but blocks nothing: the agent is in shadow mode`;
    case "failed":
      return `${paint.bad("error")}: the hook did not answer a canary call: every call is blocked; see: ambit doctor`;
    case "foreign":
      return `${paint.warn("warning")}: the hook's command differs from the one this ambit writes, so it was not tested`;
    default:
      return canary satisfies never;
  }
}
