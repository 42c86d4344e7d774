// Capability tokens: `domain.action` or `domain.action:scope`. A bare token means everything in its notation.

import { parseAgentPattern, parseNamePattern } from "../../authority/axes/name.ts";
import { ANY, type Scope } from "../../authority/axes/scope.ts";
import type { AxisName, VerbEntry } from "../../authority/catalog.ts";
import type { Grant, Span } from "../../authority/grant.ts";
import { isPlainText } from "../../authority/patterns/reserved.ts";
import { DEEP, ONE } from "../../authority/patterns/segment.ts";
import { patternCharactersMax } from "../../base/limits.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { CHECKED_NAMES, destinationsOf, EVERY_HOST, grantOf, namesOf, sequences } from "../grants.ts";
import { cutToCeiling, literalPrefix } from "../policy/ceiling.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { readFreePath } from "../scope/path-entry.ts";
import { reportRefusal } from "../scope/scope-values.ts";
import { readVerb } from "../scope/verb-reader.ts";
import { parseForeignHost, parsePort, splitEndpoint } from "../tools/foreign-host.ts";
import { refusedInTokens, resourceOf, splitToken } from "./token-text.ts";
import { parseTokenTools } from "./token-tool.ts";

export { readTokenRequest } from "./token-request.ts";

export interface TokenContext {
  readonly reading: Reading;
  readonly diagnostics: Diagnostics;
  readonly span: Span;
}

export type Scopes = Partial<Record<AxisName, Scope>>;

export function readToken(text: string, context: TokenContext): Grant | null {
  const { diagnostics, span } = context;
  if (text.length > patternCharactersMax || !isPlainText(text)) {
    diagnostics.error("bad_value", span, `${quoteText(text)} is not a token`);
    return null;
  }
  const { name, scope } = splitToken(text);
  const verb = readVerb(name, span, diagnostics);
  if (verb === null) return null;
  const scopes = scope === null ? bareScopes(verb) : readScope(verb, scope, context);
  if (!scopes.ok) {
    reportRefusal(scopes, span, diagnostics);
    return null;
  }
  if (scope === null && verb.axes.length > 0) {
    diagnostics.warning("bare_token", span, `${name} without a scope means everything`, {
      fix: EXAMPLES[resourceOf(verb)] === undefined ? null : `${name}:${EXAMPLES[resourceOf(verb)]}`,
    });
  }
  return finish(verb, scopes.value, context);
}

/** A scope a person might mean, for the fix of a bare token. */
const EXAMPLES: Readonly<Record<string, string>> = {
  fs: "/path/**",
  net: "example.com:443",
  secret: "name",
  tool: "name",
  memory: "key",
  obs: "agent",
  agent: "id",
};

function bareScopes(verb: VerbEntry): Result<Scopes> {
  const refused = refusedInTokens(verb, null);
  if (refused !== null) return refused;
  switch (resourceOf(verb)) {
    case "fs":
      return done({ path: sequences([[DEEP]]) });
    case "net":
      return done({ host: destinationsOf([EVERY_HOST]), port: ANY, ...rawScope(verb) });
    case "tool":
      return done({ tool: sequences([[ONE, DEEP]]) });
    case "provider":
      return done(verb.axes.length === 0 ? {} : { host: destinationsOf([EVERY_HOST]) });
    default:
      return done({});
  }
}

function rawScope(verb: VerbEntry): Scopes {
  return verb.verb === "net.connect" ? { raw: CHECKED_NAMES } : {};
}

function readScope(verb: VerbEntry, scope: string, context: TokenContext): Result<Scopes> {
  const refused = refusedInTokens(verb, scope);
  if (refused !== null) return refused;
  const { reading, diagnostics, span } = context;
  switch (resourceOf(verb)) {
    case "fs": {
      const patterns = readFreePath(scope, null, reading.pathSettings);
      return patterns.ok ? done({ path: sequences(patterns.value) }) : patterns;
    }
    case "net":
      return readEndpoint(verb, scope, reading);
    case "provider": {
      const entry = parseForeignHost(scope, reading.toAscii);
      return entry.ok ? done({ host: destinationsOf([entry.value]) }) : entry;
    }
    case "tool": {
      const tools = parseTokenTools(scope);
      if (!tools.ok) return tools;
      if (tools.value.narrowed)
        diagnostics.warning(
          "narrowed",
          span,
          `${quoteText(scope)}: a \`*\` before the end matches one part of a tool name here`,
        );
      return done({ tool: sequences(tools.value.patterns) });
    }
    default: {
      const isAboutAgents = ["agent", "obs"].includes(resourceOf(verb));
      const pattern = isAboutAgents ? parseAgentPattern(scope) : parseNamePattern(scope);
      const axis = verb.axes[0]?.name;
      if (!pattern.ok || axis === undefined)
        return pattern.ok ? refuse("bad_value", `${verb.verb} takes no scope`) : pattern;
      // Where tokens come from, a lone star is any key, whatever is in it.
      const isAnyKey = scope === "*" && verb.verb.startsWith("memory.");
      return done({ [axis]: isAnyKey ? ANY : namesOf(pattern.value) });
    }
  }
}

/** `host:port`; without a port every port, but for `net.connect`, which then covers nothing. */
export function readEndpoint(verb: VerbEntry, text: string, reading: Reading): Result<Scopes> {
  const endpoint = splitEndpoint(text);
  if (!endpoint.ok) return endpoint;
  const { host, port } = endpoint.value;
  if (port === null && verb.verb === "net.connect")
    return refuse("bad_value", `${quoteText(text)} names no port, so it covers nothing`, `${verb.verb}:${host}:443`);
  const entry = parseForeignHost(host, reading.toAscii);
  if (!entry.ok) return entry;
  const scopes: Scopes = { host: destinationsOf([entry.value]), port: ANY, ...rawScope(verb) };
  if (port === null || port === "*") return done(scopes);
  const number = parsePort(port);
  return number.ok
    ? done({ ...scopes, port: { kind: "ports", of: [{ low: number.value, high: number.value }] } })
    : number;
}

function finish(verb: VerbEntry, scopes: Scopes, { reading, diagnostics, span }: TokenContext): Grant | null {
  if (resourceOf(verb) !== "fs" || scopes.path?.kind !== "sequences") return grantOf(verb.verb, scopes, { span });
  const patterns = cutToCeiling(scopes.path.of, reading.ceiling, diagnostics, span);
  if (patterns.length === 0) return null;
  return grantOf(verb.verb, { path: sequences(patterns) }, { span, root: commonPrefix(patterns.map(literalPrefix)) });
}

function commonPrefix(paths: readonly (readonly string[])[]): readonly string[] {
  const [first, ...others] = paths as readonly [readonly string[], ...(readonly string[])[]];
  const length = first.findIndex((name, at) => others.some((path) => path[at] !== name));
  return length < 0 ? first : first.slice(0, length);
}
