// One request as one line that a person can paste behind `ambit can <agent>`.

import type { Arguments, Probe } from "../../authority/axes/constraint.ts";
import { type Destination, destinationText } from "../../authority/axes/destination.ts";
import { nameText, toolPatternText } from "../../authority/axes/name.ts";
import { pathText } from "../../authority/axes/path.ts";
import { isArguments, isDestination, isSegments, type Value } from "../../authority/axes/scope.ts";
import { uriText } from "../../authority/axes/uri.ts";
import type { Scheme } from "../../authority/axes/url.ts";
import type { VerbEntry } from "../../authority/catalog.ts";
import { ANY_TEXT, FOREIGN_TEXT } from "../../authority/patterns/reserved.ts";
import { literal } from "../../authority/patterns/segment.ts";
import type { Request } from "../../authority/request.ts";
import { addressText } from "../../base/address.ts";
import { compactText } from "../printer.ts";
import { visible } from "../visible.ts";

const UNKNOWN = "<unknown>";
const ANY_SHOWN = "<any>";

export function requestText(request: Request): string {
  return textWith(request, request.scheme);
}

/** What two requests are told apart by: without what is there to be shown alone. */
export function requestIdentity(request: Request): string {
  return textWith(request, undefined);
}

function textWith({ verb, values, delegation }: Request, scheme: Scheme | undefined): string {
  let line = word(verb.verb);
  for (const raw of valueWords(verb, values, scheme)) line += ` ${word(raw)}`;
  if (delegation !== undefined) for (const grant of delegation.proposed) line += ` ${word(compactText(grant))}`;
  return line;
}

function valueWords(verb: VerbEntry, values: readonly Value[], scheme: Scheme | undefined): readonly string[] {
  const [first, second, third] = values;
  switch (verb.verb.slice(0, verb.verb.indexOf("."))) {
    case "records":
      return [...named("id", second), ...named("class", first)];
    // Both axes hold the same id. Without an id the verb alone is printed.
    case "agent":
      return first === undefined && second === undefined ? [] : [text(first ?? second)];
    case "tool":
      return [text(first, toolName), ...(second === undefined ? [] : [argumentsText(second)])];
    case "fs":
      return [text(first, pathText)];
    case "net":
      return verb.verb === "net.connect" ? connectionWords(first, second, third) : webWords(first, second, scheme);
    case "proc":
      return [
        ...named("in", first, pathText),
        ...(values.at(-1) === "rw" || values.at(-1) === "live" ? [`root=${values.at(-1)}`] : []),
        ...(verb.verb === "proc.exec" ? ["--", ...argvWords(second)] : []),
      ];
    case "model":
      return second === undefined ? [text(first)] : [text(first), text(second)];
    case "mcp":
      return second === undefined ? [text(first)] : [text(first), text(second, uriText)];
    case "secret":
      return [text(first), ...named("tool", second, toolName), ...named("host", third)];
    default:
      return verb.axes.length === 0 ? [] : [text(first)];
  }
}

function named(key: string, value: Value, join: (segments: readonly string[]) => string = nameText): readonly string[] {
  return value === undefined ? [] : [`${key}=${text(value, join)}`];
}

function text(value: Value, join: (segments: readonly string[]) => string = nameText): string {
  if (value === undefined) return UNKNOWN;
  if (isSegments(value)) return join(value.segments);
  return isDestination(value) ? destinationText(value) : String(value);
}

/** With its origin, where the name alone would be read as another tool. */
function toolName(segments: readonly string[]): string {
  return toolPatternText(segments.map(literal));
}

function argvWords(value: Value): readonly string[] {
  return isSegments(value) ? value.segments : [UNKNOWN];
}

function connectionWords(host: Value, port: Value, raw: Value): readonly string[] {
  return [`${text(host)}:${port ?? UNKNOWN}`, ...addressWords(host), ...(raw === "raw" ? ["raw=true"] : [])];
}

/** Without a scheme: the usual one of the port. */
function webWords(host: Value, port: Value, said: Scheme | undefined): readonly string[] {
  const scheme = said ?? (port === 80 ? "http" : "https");
  const suffix = port === (scheme === "http" ? 80 : 443) ? "" : `:${port ?? UNKNOWN}`;
  return [`${scheme}://${text(host)}${suffix}/`, ...addressWords(host)];
}

function addressWords(host: Value): readonly string[] {
  return isDestination(host) && host.name !== null && host.address !== null
    ? [`address=${addressText(host.address)}`]
    : [];
}

function argumentsText(value: Value): string {
  if (!isArguments(value)) return UNKNOWN;
  return visible(value.kind === "json" ? JSON.stringify(value.value) : probesText(value));
}

/** A witness of arguments: what stands at each place, and whether others may stand beside. */
function probesText(value: Exclude<Arguments, { readonly kind: "json" }>): string {
  const places = [...value.at].map(
    ([place, probes]) => `${JSON.stringify(place)}:${probes.map(probeText).join(" and ")}`,
  );
  return `{${[...places, ...(value.open ? [JSON.stringify(ANY_SHOWN)] : [])].join(",")}}`;
}

function probeText(probe: Probe): string {
  switch (probe.kind) {
    case "json":
      return JSON.stringify(probe.value);
    case "text":
      return JSON.stringify(shown(probe.text));
    case "path":
      return JSON.stringify(shown(pathText(probe.path.segments)));
    case "url":
      return JSON.stringify(shown(`https://${destinationText(probe.host as Destination)}/`));
    default:
      return probe satisfies never;
  }
}

/** Neither stands in a text without wide characters, which is nearly all text. */
function shown(raw: string): string {
  if (/^[ -~]*$/.test(raw)) return raw;
  return raw.replaceAll(ANY_TEXT, ANY_SHOWN).replaceAll(FOREIGN_TEXT, ANY_SHOWN);
}

/** Quoted where a shell would read something else. A character that does not show is spelled out, in the open. */
function word(raw: string): string {
  // Nearly every word: what has no other characters than these is shown as it is.
  if (PLAIN.test(raw)) return raw;
  const text = visible(shown(raw));
  if (PLAIN.test(text)) return text;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;
