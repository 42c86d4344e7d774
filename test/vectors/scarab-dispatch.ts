// Dispatch of a call: the tool, the grants, secrets bound to tool and host, a locked store, a canary, the network.

import { parseTool } from "../../src/core/authority/axes/name.ts";
import { screen } from "../../src/core/authority/axes/screen.ts";
import type { Authority } from "../../src/core/authority/chain.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import { parseAddress } from "../../src/core/base/address.ts";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import { readToken, readTokenRequest } from "../../src/core/notation/tokens/token.ts";
import type { SecretBinding } from "../../src/core/ports/stores/secret-store.ts";
import { DispatchState } from "./dispatch-state.ts";
import { answerOf, authorityOf, decisionOf, momentOf, NO_SPAN, READING } from "./machine.ts";
import { type Family, notRun, type Outcome } from "./outcome.ts";
import { BadRow, has, mapAt, mapOr, type Row, textAt, textOr, textsAt, textsOr } from "./row.ts";

const VALUE = "a value that is not guessed";
const SECRET = "a-secret";
const HOST = "host.example";
/** A row about secrets grants everything it does not mention: it tests the secret. */
const AROUND = ["tool.invoke", "net.get"];
const ABOUT_SECRETS = ["secret", "policy", "uses", "store", "canary"];
const usesMax = 100;
/** The address of a name if the row gives none. */
const SOMEWHERE = "93.184.215.14";

export const dispatch: Family = {
  answers: ["expect", "step"],
  run: (row) => {
    if (has(mapOr(row, "policy"), "trust_level"))
      return notRun("there are no trust levels: authority is what is granted");
    if (has(row, "network")) return runNetwork(row);
    return ABOUT_SECRETS.some((key) => has(row, key)) ? runSecret(row) : runTool(row);
  },
};

async function runTool(row: Row): Promise<Outcome> {
  const caps = textsOr(row, "caps", []).map(grantOf);
  return withState(authorityOf(caps), async (state) => {
    const called = await state.call(ourTool(textAt(row, "tool")), mapOr(row, "args"));
    return compared(row, { expect: called.isAllowed ? "allow" : "deny", code: called.code });
  });
}

/** One call of a tool that sends the secret, as often as the row says. */
async function runSecret(row: Row): Promise<Outcome> {
  const name = has(row, "secret") ? handleOf(textAt(row, "secret")) : SECRET;
  const host = textOr(row, "host", textOr(mapOr(row, "policy"), "host", HOST));
  const caps = has(row, "caps") ? textsAt(row, "caps") : [`secret.use:${name}`];
  const isCanary = has(row, "canary");
  return withState(authorityOf([...AROUND, ...caps].map(grantOf)), async (state) => {
    await state.secret(name, VALUE, bindingOf(row, name, host), isCanary);
    if (row["store"] === "locked") await state.lock();
    if (isCanary) state.says = VALUE;
    const headers: JsonObject = isCanary ? {} : { authorization: `Bearer {{secret:${name}}}` };
    const tool = ourTool(textOr(row, "tool", "web.fetch"));
    const uses = typeof row["uses"] === "number" ? Math.min(row["uses"], usesMax) : 1;
    const results: string[] = [];
    let last: Awaited<ReturnType<DispatchState["call"]>> = { isAllowed: false, code: null, text: "" };
    for (let use = 0; use < uses; use++) {
      last = await state.call(tool, { url: `https://${host}/`, headers });
      results.push(last.isAllowed ? "allow" : "deny");
    }
    return compared(row, {
      expect: last.isAllowed ? "allow" : "deny",
      code: last.code,
      uses: results,
      redacted: [...last.text.matchAll(/\[REDACTED:([^\]]+)\]/g)].map(([, found]) => found ?? ""),
      leaked: last.text.includes(VALUE),
      anomalies: await state.alarms(),
    });
  });
}

/** Null if the row has none, or one for other secrets. */
function bindingOf(row: Row, name: string, host: string): SecretBinding | null {
  if (row["policy"] === null) return null;
  const policy = mapOr(row, "policy");
  const covered = readTokenRequest(`secret.use:${name}`, { reading: READING });
  const pattern = textOr(policy, "secret", name);
  if (!covered.ok || decisionOf([grantOf(`secret.use:${pattern}`)], covered.value).outcome !== "allow") return null;
  const uses = typeof policy["max_uses"] === "number" ? policy["max_uses"] : null;
  return { tools: [ourTool(textOr(policy, "tool", "web.fetch"))], hosts: [textOr(policy, "host", host)], uses };
}

/** An address counts by itself, unless the row says that a listed name resolved to it. */
function runNetwork(row: Row): Outcome {
  const network = mapAt(row, "network");
  const policy = textAt(network, "policy");
  if (policy !== "allowlist" && policy !== "none") throw new BadRow(`a network by ${policy} is not known`);
  const list = policy === "none" ? [] : textsAt(network, "allowlist");
  const authority = authorityOf(list.map((entry) => grantOf(`net.connect:${entry}`)));
  const { endpoint, answers } = connectOf(textAt(row, "connect"), list);
  const request = readTokenRequest(`net.connect:${endpoint}`, { reading: READING });
  const [chain] = authority;
  if (chain === undefined) throw new BadRow("an authority without a chain");
  const got = request.ok
    ? answerOf(screen(authority, request.value, answers, momentOf(chain)).decision)
    : { expect: "deny", code: "invalid_input" };
  return compared(row, got);
}

/** `1.2.3.4:443 resolved from name`: the name is requested, and resolves to that. */
function connectOf(
  text: string,
  list: readonly string[],
): { readonly endpoint: string; readonly answers: readonly string[] | null } {
  const [endpoint = "", ...words] = text.split(" ");
  const [, host = "", port = ""] = /^(.*?)(:\d+)?$/.exec(endpoint) ?? [];
  const isAddress = (one: string): boolean => parseAddress(one.replace(/^\[|\]$/g, "")) !== null;
  if (!isAddress(host)) return { endpoint, answers: [SOMEWHERE] };
  if (words.slice(0, 2).join(" ") !== "resolved from") return { endpoint, answers: null };
  const named = words[2] === "list" || words[2] === undefined ? (list[0] ?? "") : words[2];
  return { endpoint: `${named.replace(/:\d+$/, "")}${port}`, answers: [host.replace(/^\[|\]$/g, "")] };
}

/** The row's sentence as the compared values. */
function compared(row: Row, got: JsonObject): Outcome {
  const text = textAt(row, "expect");
  const expected: Record<string, Json> = {};
  const shown: Record<string, Json> = { ...got };
  const outcome = outcomeIn(text);
  const anomaly = /\banomaly (\w+)/.exec(text)?.[1];
  const redacted = /\[REDACTED:([^\]]+)\]/.exec(text)?.[1];
  if (outcome !== null) Object.assign(expected, outcome);
  if (outcome === null && anomaly === undefined) return notRun("a sentence that is not listed");
  // Whatever a row expects, a leaked value is never a correct answer.
  if ("leaked" in got) expected["leaked"] = false;
  for (const [key, list, wanted] of [
    ["anomaly", got["anomalies"], anomaly],
    ["redacted", got["redacted"], redacted],
  ] as const) {
    if (wanted === undefined) continue;
    expected[key] = wanted;
    shown[key] = Array.isArray(list) && list.includes(wanted) ? wanted : null;
  }
  const isWider = outcome !== null && outcome["expect"] === "deny" && got["expect"] === "allow";
  return { kind: "compared", expected, got: shown, wider: isWider };
}

const NUMBERS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

function outcomeIn(text: string): Readonly<Record<string, Json>> | null {
  if (/\bNotFound\b/.test(text)) return { expect: "deny", code: "unknown_tool" };
  if (/\bStoreLocked\b/.test(text)) return { expect: "deny", code: "secret_refused" };
  const use = NUMBERS.indexOf(/^(\w+) use denied/.exec(text)?.[1] ?? "");
  if (use >= 0)
    return { expect: "deny", code: "secret_refused", uses: [...Array.from({ length: use }, () => "allow"), "deny"] };
  if (/^(?:allow|accept)\b/.test(text)) return { expect: "allow" };
  return /^(?:deny|drop)\b/.test(text) ? { expect: "deny" } : null;
}

/** A token that grants nothing is a mistake in the row. */
function grantOf(token: string): Grant {
  const diagnostics = new Diagnostics();
  const grant = readToken(token, { reading: READING, diagnostics, span: NO_SPAN });
  if (grant === null) throw new BadRow(`${token} does not read: ${diagnostics.list[0]?.message}`);
  return grant;
}

function ourTool(name: string): string {
  const ours = name.replaceAll(".", "_");
  if (!parseTool(ours).ok) throw new BadRow(`${JSON.stringify(name)} is not the name of a tool`);
  return ours;
}

function handleOf(text: string): string {
  const name = /^\{\{secret:([^}]+)\}\}$/.exec(text)?.[1];
  if (name === undefined) throw new BadRow(`${JSON.stringify(text)} is no handle`);
  return name;
}

async function withState<T>(authority: Authority, run: (state: DispatchState) => Promise<T>): Promise<T> {
  const state = await DispatchState.open(authority);
  try {
    return await run(state);
  } finally {
    state.close();
  }
}
