// Why a delegation was refused: one request that it would allow and that the granter could not make.
import type { DenialCode } from "../../core/authority/decision.ts";
import { delegationFault } from "../../core/authority/delegation.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Holding } from "./holding.ts";

/** The uncovered part, as exactly as it is known: the request itself if nothing more exact is known. */
export function needOf(
  agent: string,
  { authority, reading }: Pick<Holding, "authority" | "reading">,
  code: DenialCode | null,
  request: Request | null,
): Request | null {
  if (code !== "exceeds_grantor_authority" || request?.delegation === undefined) return request;
  const { target, proposed } = request.delegation;
  const fault = delegationFault({ id: agent, authority }, target, proposed, reading.ground.protectedPaths);
  if (fault?.code !== "exceeds_grantor_authority" || fault.containment.kind !== "exceeds") return request;
  return fault.containment.request;
}
