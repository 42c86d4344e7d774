// Tools that the daemon does not execute: those of the client process, and those of a model's provider. For lists and
// requests shown to a model; nothing about a call is decided here.
import type { Moment } from "../../core/authority/compiled.ts";
import { objectIn, textIn, textsIn } from "../../core/base/fields.ts";
import { isJsonList, isJsonObject, type JsonObject, member } from "../../core/base/json.ts";
import { readDeclarationValue } from "../../core/notation/tools/declaration-value.ts";
import type { ProviderToolsView } from "../../core/ports/daemon/daemon-calls.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import { reachesOf } from "../../runtime/tool/reachable.ts";
import { isProvider } from "../../tools/provider/provider-catalog.ts";
import { providerTools } from "../../tools/provider/provider-tools.ts";
import type { Holding } from "../calls/holding.ts";

/** The session's current holding; null if there is no session, or it holds nothing. */
export type CurrentHolding = { readonly holding: Holding; readonly moment: Moment } | null;

const toolsMax = 10_000;
const namesMax = 256;

/** Sorted by name; an invalid declaration reaches nothing. */
export function reachableAnswer(
  held: CurrentHolding,
  value: JsonObject,
): Answer<{ readonly names: readonly string[] }> {
  const tools = member(value, "tools");
  if (held === null) return NOT_HELD;
  if (!isJsonList(tools) || tools.length > toolsMax) return refusal("invalid_input", "a list of tools was expected");
  const { holding, moment } = held;
  const reaches = reachesOf(holding.authority, moment);
  const names = tools.flatMap((one): readonly string[] => {
    const name = isJsonObject(one) ? textIn(one, "name", namesMax) : null;
    const declaration = isJsonObject(one) ? objectIn(one, "declaration") : null;
    if (name === null || declaration === null) return [];
    const { requirement } = readDeclarationValue(declaration, holding.reading);
    return requirement !== null && reaches(name, requirement) ? [name] : [];
  });
  return { ok: true, value: { names: names.toSorted() } };
}

export function providerAnswer(held: CurrentHolding, value: JsonObject): Answer<ProviderToolsView> {
  const provider = textIn(value, "provider", namesMax);
  const [names, vectorStores] = ["names", "vectorStores"].map((key) =>
    (member(value, key) ?? null) === null ? null : (textsIn(value, key, namesMax) ?? undefined),
  );
  if (held === null) return NOT_HELD;
  if (!isProvider(provider) || names === undefined || vectorStores === undefined)
    return refusal("invalid_input", "a provider is anthropic or openai; names are a list of texts");
  const { holding, moment } = held;
  const settings = { ...(names === null ? {} : { names }), ...(vectorStores === null ? {} : { vectorStores }) };
  return { ok: true, value: providerTools(holding.authority, moment, provider, settings) };
}

const NOT_HELD = refusal("unknown_session", "this connection has no such session, or the session has no grants");
