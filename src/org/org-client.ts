// The client that runs an agent's tasks, and what of it the org file says.
import { profileOfProgram } from "../clients/profiles.ts";
import type { Org, OrgAgent } from "./org.ts";
import type { PlacedText } from "./org-fields.ts";

/** Where neither the agent nor `defaults` names a client. */
export const BASE_CLIENT = "claude";

export interface OrgClient {
  /** `placed`: where it is written; null for the base. */
  readonly client: { readonly name: string; readonly placed: PlacedText | null };
  readonly model: PlacedText | null;
}

export function clientOf({ defaults }: Org, agent: OrgAgent): OrgClient {
  const placed = agent.client ?? defaults.client;
  // A model of the defaults belongs to the client of the defaults.
  const model =
    agent.model ?? (agent.client === null || agent.client.text === defaults.client?.text ? defaults.model : null);
  return { client: { name: placed?.text ?? BASE_CLIENT, placed }, model };
}

/** The providers whose models a client speaks with; none for a program without a profile. */
export function modelProviders(client: string): readonly string[] {
  return profileOfProgram(client).model?.providers ?? [];
}
