// agent_discover as the daemon carries it out: who holds what, of those that the asker may find.
import { verbEntry } from "../../core/authority/catalog.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { requestIdentity } from "../../core/notation/request/request-printer.ts";
import { holdsOf } from "../../runtime/tool/reachable.ts";
import { type AskedOf, heldOf, readAskedOf } from "../../tools/agents/asked-of.ts";
import { agentRequest } from "../../tools/agents/authority-keys.ts";
import { AGENT_DISCOVER_DEFINITION } from "../../tools/agents/definitions.ts";
import * as limits from "../../tools/agents/limits.ts";
import { grantsOf } from "../calls/holding.ts";
import { numberOr, optionalText, textsIn } from "../input.ts";
import type { Session } from "../session.ts";
import type { AgentsPlace } from "./agent-directory.ts";
import { BAD, type DaemonAgentsAsked, ENDED, failed, NO_WORKSPACE } from "./agent-options.ts";
import type { OwnerTool } from "./owner-tool.ts";

export function discoverTool(asked: DaemonAgentsAsked, place: AgentsPlace): OwnerTool {
  interface Discovered {
    readonly agents: readonly { readonly id: string; readonly holds: readonly string[] }[];
    readonly next: string | null;
    readonly requests: readonly Request[];
  }

  const look = async (input: JsonObject, session: Session, items: readonly AskedOf[]): Promise<Discovered> => {
    const held = asked.held(session);
    const { workspace } = session.facts.name;
    const verb = verbEntry("agent.discover");
    const nobody: Discovered = { agents: [], next: null, requests: [] };
    if (held === null || workspace === null || verb === null) return nobody;
    const { authority, reading } = held.holding;
    // Whoever may find nobody at all is told so, and not that there is nobody.
    if (!holdsOf(authority, held.moment)(verb))
      return { ...nobody, requests: [{ verb, values: verb.axes.map(() => undefined) }] };
    const after = optionalText(input, "after", limits.agentIdCharactersMax) ?? "";
    const count =
      numberOr(input, "count", limits.agentsShownUsual, 1, limits.agentsShownMax) ?? limits.agentsShownUsual;
    // Whoever may not be found is not counted either: where a page ends would tell of them.
    const found = place.ids(workspace).flatMap((id) => {
      const request = id > after && id !== session.facts.name.agent ? agentRequest("agent.discover", id) : null;
      if (request?.ok !== true) return [];
      return judge(authority, request.value, held.moment).outcome === "allow" ? [{ id, request: request.value }] : [];
    });
    const agents: { readonly id: string; readonly holds: readonly string[] }[] = [];
    const requests: Request[] = [];
    let last = 0;
    for (; last < found.length && last < limits.agentsLookedAtMax && agents.length < count; last++) {
      const { id, request } = found[last] as (typeof found)[number];
      if (last % 16 === 15) await new Promise<void>((next) => setImmediate(next));
      const holds = heldOf(items, place.authorityOf({ workspace, agent: id }), reading.ground.protectedPaths);
      if (holds === null) continue;
      agents.push({ id, holds });
      requests.push(request);
    }
    return { agents, next: last < found.length ? (found[last - 1]?.id ?? null) : null, requests };
  };

  return {
    ...AGENT_DISCOVER_DEFINITION,
    requests: (input, reading) => {
      const items = itemsIn(input, reading);
      return items.ok ? done([]) : items;
    },
    derive: async (input, session, reading) => {
      const items = itemsIn(input, reading);
      return items.ok ? done((await look(input, session, items.value)).requests) : items;
    },
    carry: async ({ input, session, warrant }) => {
      const { workspace } = session.facts.name;
      const held = asked.held(session);
      if (held === null) return ENDED;
      if (workspace === null) return NO_WORKSPACE;
      const items = itemsIn(input, held.holding.reading);
      if (!items.ok) return BAD;
      const { agents, next, requests } = await look(input, session, items.value);
      const isDecided = requests.every((one) =>
        warrant.requests.some((other) => one.verb === other.verb && requestIdentity(one) === requestIdentity(other)),
      );
      if (!isDecided) return failed("not_available", "the agents changed during the call; call again");
      let isUntrusted = false;
      const shown = agents.map(({ id, holds }) => {
        const { text, isTrusted } = place.description(workspace, id);
        isUntrusted ||= !isTrusted;
        return { id, description: text, holds: [...holds] };
      });
      return { ok: true, value: { agents: shown, next }, isUntrusted };
    },
  };
}

function itemsIn(input: JsonObject, reading: Reading): Result<readonly AskedOf[]> {
  const can = textsIn(input, "can", limits.askedMax);
  if (can === null || can.length === 0) return refuse("bad_value", "`can` must be a list of verbs and specs");
  return readAskedOf(can, (spec) => grantsOf([spec], reading)?.[0] ?? null);
}
