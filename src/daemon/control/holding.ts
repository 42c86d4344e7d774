// Answers about what an agent holds now: from the same holdings and the same gate that decide its calls.
import type { PathSettings } from "../../core/authority/axes/path.ts";
import { isNothing } from "../../core/authority/axes/scope.ts";
import { type Chain, lastOwn, linkState } from "../../core/authority/chain.ts";
import type { CompiledLink, Moment } from "../../core/authority/compiled.ts";
import type { Decision } from "../../core/authority/decision.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { meetChain, shownGrant } from "../../core/authority/meet.ts";
import type { Request } from "../../core/authority/request.ts";
import { textsIn } from "../../core/base/fields.ts";
import { decide } from "../../core/gate/decide.ts";
import { behindDenial } from "../../core/gate/untrusted.ts";
import { conditionWords, linkWords } from "../../core/notation/link-words.ts";
import { compactText, grantWords } from "../../core/notation/printer.ts";
import { readRequest } from "../../core/notation/request/request.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { DecisionView, HeldChainView, HeldGrantView, HoldingView } from "../../core/ports/daemon/holding-view.ts";
import { callerOf, type Gatekeeper } from "../calls/gatekeeper.ts";
import type { Holding } from "../calls/holding.ts";
import type { Opening } from "../opening.ts";
import type { Exchange, MessageHandler } from "../rpc/serving.ts";
import type { Session } from "../session.ts";

const wordsMax = 4096;

export function holdingAnswers(
  opening: Opening,
  gatekeeper: Gatekeeper,
): readonly (readonly [string, MessageHandler])[] {
  const held = (exchange: Exchange): Answer<{ readonly session: Session; readonly holding: Holding }> => {
    const session = opening.preview(exchange);
    if (!session.ok) return session;
    const holding = gatekeeper.holding(session.value);
    if ("refused" in holding) return refusal("unknown_agent", holding.refused, holding.fix);
    return { ok: true, value: { session: session.value, holding } };
  };
  return [
    [
      "agent.holding",
      async (exchange) => {
        const found = held(exchange);
        return found.ok ? { ok: true, value: holdingView(found.value, gatekeeper) } : found;
      },
    ],
    [
      "agent.decide",
      async (exchange) => {
        const words = textsIn(exchange.value, "request", wordsMax);
        const found = held(exchange);
        if (!found.ok) return found;
        if (words === null) return refusal("invalid_input", "a request is a verb and its target");
        return decisionOf(found.value, words, gatekeeper);
      },
    ],
  ];
}

interface SessionHolding {
  readonly session: Session;
  readonly holding: Holding;
}

function holdingView({ session, holding }: SessionHolding, gatekeeper: Gatekeeper): HoldingView {
  const { agent, workspace } = session.facts.name;
  const { frozen: _frozen, ...moment } = gatekeeper.moment(session, holding);
  const { authority, links, blocked, record, notes } = holding;
  return {
    agent,
    workspace,
    isRecord: record !== null,
    blocked,
    notes,
    chains: authority.map((chain, at) =>
      chainView(chain, links[at] ?? [], moment, holding.reading.pathSettings.protectedPaths),
    ),
  };
}

/** What the chain grants to its last holder, with every link around it; nothing is shown that is not held. */
function chainView(
  chain: Chain,
  links: readonly string[],
  moment: Moment,
  protectedPaths: PathSettings["protectedPaths"],
): HeldChainView {
  const { link } = chain[lastOwn(chain)] as Chain[number];
  const faults = chain.flatMap((one) => linkState(one, moment) ?? []);
  const { grants, complete } = meetChain(chain);
  return {
    link: links.at(-1) ?? null,
    from: links.length === 0 ? null : link.issuer,
    limits: chain.filter((one) => one.link.role === "limit").map((one) => linkWords(one.link.id, null)),
    fault: faults[0] ?? null,
    expires: link.validity.expires,
    isComplete: complete,
    grants: grants
      .filter(({ scopes }) => !scopes.some(isNothing))
      .map((grant) => grantView(grant, moment, protectedPaths)),
  };
}

function grantView(grant: Grant, { now }: Moment, protectedPaths: PathSettings["protectedPaths"]): HeldGrantView {
  const { expires } = grant.conditions;
  return {
    grant: compactText(grant),
    shown: compactText(shownGrant(grant, protectedPaths)),
    risk: grant.verb.risk,
    effect: grantWords(grant),
    isExpired: expires !== null && now >= expires,
  };
}

/** As it would be decided now; nothing is charged or logged. */
export function decisionOf(
  { session, holding }: SessionHolding,
  words: readonly string[],
  gatekeeper: Gatekeeper,
): Answer<DecisionView> {
  const request = readRequest(words, holding.reading);
  if (!request.ok) return refusal("invalid_input", request.message, request.fix ?? null);
  const text = requestText(request.value);
  const { blocked } = holding;
  if (blocked !== null)
    return { ok: true, value: { ...DENIED, request: text, code: blocked.code, reason: blocked.reason } };
  const moment = gatekeeper.moment(session, holding);
  const caller = callerOf(session, holding);
  const { protectedPaths } = holding.reading.pathSettings;
  const by = (authority: Holding["authority"]): Decision =>
    decide({ agent: caller.agent, authority }, request.value, moment, protectedPaths).decision;
  const decided = by(holding.authority);
  if (decided.outcome === "deny") {
    const behind = behindDenial(caller, decided.code, (authority) => by(authority).outcome !== "deny");
    const at = decided.at === null ? null : holding.authority[decided.at.chain]?.[decided.at.link];
    const link = behind !== null || at === null || at === undefined ? null : deniedBy(at, request.value, decided);
    const { code, reason } = behind ?? { code: decided.code, reason: null };
    return { ok: true, value: { ...DENIED, request: text, code, reason, link } };
  }
  const chain = holding.authority[decided.by.chain];
  const grants = decided.by.grants.flatMap((grant, place) => {
    const link = chain?.[place]?.link;
    const held = link?.grants[grant];
    if (link === undefined || held === undefined) return [];
    const at = holding.record?.placeOf(held.span) ?? null;
    return [{ grant: compactText(held), link: linkWords(link.id, link.issuer), at }];
  });
  const level = decided.outcome === "allow" ? null : decided.level === 2 ? "presence" : "ask";
  return {
    ok: true,
    value: { outcome: decided.outcome, request: text, code: null, level, reason: null, link: null, by: grants },
  };
}

function deniedBy(denied: CompiledLink, request: Request, decided: Decision): string {
  return linkWords(denied.link.id, denied.link.issuer) + conditionWords(denied, request, decided);
}

const DENIED = { outcome: "deny", level: null, reason: null, link: null, by: [] } as const;
