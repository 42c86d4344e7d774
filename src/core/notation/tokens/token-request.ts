// The token notation naming one request: the same words without a star. Tokens are tested with it.

import { parseHost } from "../../authority/axes/destination.ts";
import { parseAgentName, parseName, parseTool } from "../../authority/axes/name.ts";
import { parsePath } from "../../authority/axes/path.ts";
import type { Value } from "../../authority/axes/scope.ts";
import { type VerbEntry, verbEntry } from "../../authority/catalog.ts";
import { isPlainText } from "../../authority/patterns/reserved.ts";
import type { Request } from "../../authority/request.ts";
import { patternCharactersMax } from "../../base/limits.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { parsePort, splitEndpoint } from "../tools/foreign-host.ts";
import { refusedInTokens, resourceOf, splitToken } from "./token-text.ts";

export function readTokenRequest(text: string, context: { readonly reading: Reading }): Result<Request> {
  if (text.length > patternCharactersMax || !isPlainText(text))
    return refuse("bad_value", `${quoteText(text)} is not a token`);
  const { name, scope } = splitToken(text);
  const verb = verbEntry(name);
  if (verb === null) return refuse("bad_value", `${quoteText(name)} is not a verb`);
  const refused = refusedInTokens(verb, scope);
  if (refused !== null) return refused;
  if (scope?.includes("*")) return refuse("bad_value", `${quoteText(text)} is a pattern, not one request`);
  const values = scope === null ? done([]) : valuesOf(verb, scope, context.reading);
  if (!values.ok) return values;
  return done({ verb, values: verb.axes.map((_, at) => values.value[at]) });
}

/** The values of the axes a scope speaks of, from the first on. */
function valuesOf(verb: VerbEntry, scope: string, reading: Reading): Result<readonly Value[]> {
  switch (resourceOf(verb)) {
    case "fs":
      return one(parsePath(scope, { ...reading.pathSettings, base: null }));
    case "tool":
      return one(parseTool(scope));
    case "provider":
      return one(parseHost(scope, reading.toAscii));
    case "net": {
      const endpoint = splitEndpoint(scope);
      if (!endpoint.ok) return endpoint;
      const host = parseHost(endpoint.value.host, reading.toAscii);
      if (!host.ok) return host;
      if (endpoint.value.port === null) return refuse("bad_value", `${quoteText(scope)} names no port`, `${scope}:443`);
      const port = parsePort(endpoint.value.port);
      return port.ok ? done([host.value, port.value, "sni"]) : port;
    }
    case "agent": {
      const id = parseAgentName(scope);
      return id.ok ? done([id.value, id.value]) : id;
    }
    case "obs":
      return one(parseAgentName(scope));
    default:
      return one(parseName(scope));
  }
}

function one(value: Result<Value>): Result<readonly Value[]> {
  return value.ok ? done([value.value]) : value;
}
