// Requests built from a row's value on each axis. Missing values stay unset.
import { parseArgv } from "../../src/core/authority/axes/argv.ts";
import { type Destination, parseHost } from "../../src/core/authority/axes/destination.ts";
import { parseName, parseTool } from "../../src/core/authority/axes/name.ts";
import { type PathSettings, parsePath } from "../../src/core/authority/axes/path.ts";
import type { Value } from "../../src/core/authority/axes/scope.ts";
import { parseUrl } from "../../src/core/authority/axes/url.ts";
import { verbEntry } from "../../src/core/authority/catalog.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { done, type Result, refuse } from "../../src/core/base/result.ts";
import { toAscii } from "../../src/platform/ascii.ts";
import { PATH_SETTINGS, WORK } from "./machine.ts";

/** The possible values, by the name of the axis; `root` is where a process runs. */
export interface RequestValues {
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
  readonly argv?: readonly string[];
  readonly root?: string;
  readonly id?: string;
  readonly class?: string;
  readonly key?: string;
  readonly name?: string;
  readonly tool?: string;
  readonly agent?: string;
}

export function requestFor(
  verb: string,
  asked: RequestValues,
  pathSettings: PathSettings = PATH_SETTINGS,
): Result<Request> {
  const entry = verbEntry(verb);
  if (entry === null) return refuse("bad_value", `no verb ${verb}`);
  const values: Value[] = [];
  for (const { name, kind } of entry.axes) {
    const value = valueAt(name, kind, asked, pathSettings);
    if (!value.ok) return value;
    values.push(value.value);
  }
  return done({ verb: entry, values });
}

function valueAt(axis: string, kind: string, asked: RequestValues, pathSettings: PathSettings): Result<Value> {
  switch (axis) {
    case "host":
      return said(asked.host, (text) => parseHost(text, toAscii));
    case "port":
      return done(asked.port ?? 443);
    case "raw":
      return done("sni");
    case "mode":
      return done("ro");
    case "root":
      return parsePath(asked.root ?? WORK, pathSettings);
    case "argv":
      return said(asked.argv, parseArgv);
    case "path":
      return kind === "name" ? said(asked.id, parseName) : said(asked.path, (text) => parsePath(text, pathSettings));
    case "id":
    case "class":
    case "key":
    case "name":
    case "agent":
      return said(asked[axis], parseName);
    case "tool":
      return said(asked.tool, parseTool);
    default:
      return done(undefined);
  }
}

function said<T>(text: T | undefined, parse: (text: T) => Result<Value>): Result<Value> {
  return text === undefined ? done(undefined) : parse(text);
}

/** `net.get` of a web address. */
export function fetchOf(url: string): Result<Request> {
  const parsed = parseUrl(url, toAscii);
  const verb = verbEntry("net.get");
  if (!parsed.ok) return parsed;
  if (verb === null) return refuse("bad_value", "there is no net.get");
  const host: Destination = parsed.value.host;
  return done({ verb, values: [host, parsed.value.port] });
}
