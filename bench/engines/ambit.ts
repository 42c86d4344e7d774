// ambit itself: a chain of one compiled link. Requests prepared beforehand, or parsed from their text each time.
import { parseArgv, parseProgram } from "../../src/core/authority/axes/argv.ts";
import { parseHostPattern } from "../../src/core/authority/axes/destination.ts";
import { type PathSettings, parsePath, parseRoot, tree } from "../../src/core/authority/axes/path.ts";
import { ANY, type Scope } from "../../src/core/authority/axes/scope.ts";
import { parseUrl } from "../../src/core/authority/axes/url.ts";
import { type VerbEntry, verbEntry } from "../../src/core/authority/catalog.ts";
import { type Chain, chainLevel } from "../../src/core/authority/chain.ts";
import { compile, type Moment } from "../../src/core/authority/compiled.ts";
import { type Grant, UNCONDITIONAL } from "../../src/core/authority/grant.ts";
import { ALWAYS, type Link, type LinkRole } from "../../src/core/authority/link.ts";
import type { Sequence } from "../../src/core/authority/patterns/sequence.ts";
import type { Request } from "../../src/core/authority/request.ts";
import type { Result } from "../../src/core/base/result.ts";
import type { Verb, WrittenGrant, WrittenRequest } from "../workload.ts";
import type { Engine } from "./engine.ts";

export const MOMENT: Moment = { now: 1_000, clean: true, generation: 0, revoked: null, exhausted: null };
export const PATH_SETTINGS: PathSettings = {
  home: ["home", "user"],
  base: ["srv"],
  protectedPaths: [["srv", ".ambit"]],
};

/** Programs are granted in one root; their requests are for a folder below it. */
const programRoot: Scope = sequences(tree(["srv"]));

export function ambit(grants: readonly WrittenGrant[], requests: readonly WrittenRequest[]): Engine {
  const chain = chainOf(grants.map(grantOf));
  const prepared = requests.map((request) => readRequest(textOf(request)));
  return {
    count(from, to) {
      let allowed = 0;
      for (let at = from; at < to; at++) if (chainLevel(chain, prepared[at] as Request, MOMENT, "use") >= 0) allowed++;
      return allowed;
    },
  };
}

export function ambitFromText(grants: readonly WrittenGrant[], requests: readonly WrittenRequest[]): Engine {
  const chain = chainOf(grants.map(grantOf));
  const texts = requests.map(textOf);
  return {
    count(from, to) {
      let allowed = 0;
      for (let at = from; at < to; at++)
        if (chainLevel(chain, readRequest(texts[at] as RequestText), MOMENT, "use") >= 0) allowed++;
      return allowed;
    },
  };
}

/** A request as a tool gets it: a URL, a path, an argument vector. */
export interface RequestText {
  readonly verb: Verb;
  readonly text: string;
  readonly argv: readonly string[];
}

export function textOf({ verb, value }: WrittenRequest): RequestText {
  if (verb === "net.get") return { verb, text: `https://${value}/index.html`, argv: [] };
  return { verb, text: value, argv: verb === "proc.exec" ? [value, "run", "--all"] : [] };
}

export function readRequest({ verb, text, argv }: RequestText): Request {
  switch (verb) {
    case "net.get": {
      const { host, port } = read(parseUrl(text, asIs));
      return { verb: GET, values: [host, port] };
    }
    case "fs.read":
      return { verb: READ, values: [read(parsePath(text, PATH_SETTINGS))] };
    case "proc.exec":
      return { verb: EXEC, values: [read(parsePath("/srv/work", PATH_SETTINGS)), read(parseArgv(argv)), "ro"] };
  }
}

export function grantOf({ verb, kind, value }: WrittenGrant): Grant {
  switch (kind) {
    case "below":
    case "exact":
      return grant(verb, [hosts(kind === "below" ? `*.${value}` : value), ANY]);
    case "tree":
      return grant(verb, [sequences(tree(read(parseRoot(value, PATH_SETTINGS))))]);
    case "program":
      return grant(verb, [programRoot, sequences(read(parseProgram(value))), ANY]);
  }
}

export function hosts(...texts: readonly string[]): Scope {
  const names = texts.map((text) => read(parseHostPattern(text, asIs)));
  return { kind: "destinations", names, ranges: [], everyPublic: false, openings: [] };
}

export function sequences(...of: readonly Sequence[]): Scope {
  return { kind: "sequences", of };
}

export function grant(name: Verb, scopes: readonly Scope[]): Grant {
  return { verb: entry(name), scopes, conditions: UNCONDITIONAL, root: null, span: null, implied: null };
}

export function linkOf(grants: readonly Grant[], id = "record", role: LinkRole = "own"): Link {
  return { id, role, issuer: "person", holder: "scout", grants, validity: ALWAYS, calls: null };
}

export function chainOf(...links: readonly (readonly Grant[])[]): Chain {
  const [first, ...rest] = links.map((grants, at) => compile(linkOf(grants, `link${at}`)));
  if (first === undefined) throw new Error("a chain has at least one link");
  return [first, ...rest];
}

export function entry(name: Verb): VerbEntry {
  const found = verbEntry(name);
  if (found === null) throw new Error(`no verb ${name}`);
  return found;
}

/** Our own texts must parse, or the benchmark is wrong. */
export function read<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

/** No international names here: their tables are not part of the measurement. */
export function asIs(host: string): string {
  return host;
}

const GET = entry("net.get");
const READ = entry("fs.read");
const EXEC = entry("proc.exec");
