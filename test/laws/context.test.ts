// For random tools, authorities and uses: a context lets through to a port exactly what the tool declares and every link covers.
// The reference knows nothing of contexts: it evaluates declarations as text, and links slowly.
import { describe, expect, test } from "vitest";
import { isDestination, isSegments } from "../../src/core/authority/axes/scope.ts";
import type { Chain } from "../../src/core/authority/chain.ts";
import { type CompiledLink, compile, type Moment } from "../../src/core/authority/compiled.ts";
import { judge } from "../../src/core/authority/judge.ts";
import type { Link } from "../../src/core/authority/link.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { addressText, parseAddress } from "../../src/core/base/address.ts";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import type { Judge } from "../../src/core/ports/judge.ts";
import type { Context } from "../../src/runtime/context/context.ts";
import { remoteContext, serveUse } from "../../src/runtime/context/remote.ts";
import type { UseResult } from "../../src/runtime/context/use-result.ts";
import type { Capabilities } from "../../src/runtime/tool/declaration.ts";
import type { RegisteredTool } from "../../src/runtime/tool/registered.ts";
import { runSeed } from "../house/seed.ts";
import { PROTECTED } from "./alphabet.ts";
import { grants, linkOf, moment, validity, verbOf } from "./arbitraries.ts";
import { openContext, registeredOf, requirementOf, toolOf, warrantFor } from "./context-fixture.ts";
import { LONG, printValue } from "./law.ts";
import { naiveJudge } from "./naive.ts";
import { naiveSpecial } from "./naive-address.ts";
import { naivePathGuards } from "./naive-text.ts";
import { requestNear } from "./requests.ts";
import { chance, oneOf, type Source, seededSource, several } from "./source.ts";

interface Use {
  readonly request: Request;
  /** The addresses of the name; empty if nothing is resolved. */
  readonly addresses: readonly string[];
  readonly capabilities: Capabilities;
  /** Whether the declaration covers it, by its own text. */
  readonly isDeclared: boolean;
  readonly act: (context: Context) => Promise<UseResult<unknown>>;
}

const VERBS = {
  "net.get": "GET",
  "net.post": "POST",
  "net.put": "PATCH",
  "net.delete": "DELETE",
} as const;

/** What a context can express: a segment with a separator in it can be in a grant, but not in a call. */
function isSayable(segments: readonly string[], form = /^[\w.@ -]+$/): boolean {
  return segments.every((one) => form.test(one) && one !== "." && one !== "..");
}

const PUBLIC = "93.184.216.34";

function netUse(source: Source, verb: keyof typeof VERBS, near: Request): Use | null {
  const [host, port] = near.values;
  if (!isDestination(host) || typeof port !== "number") return null;
  if (host.name !== null && !isSayable(host.name.segments, /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)) return null;
  const text = host.name === null ? addressText(host.address) : host.name.segments.toReversed().join(".");
  const address = host.address;
  if (host.name === null && !/^[0-9.]+$/.test(text)) return null;
  const addresses = host.name === null ? [] : address === null ? [PUBLIC] : [addressText(address)];
  const below = text.split(".").slice(1).join(".");
  const listed = several(source, 0, 2, () =>
    oneOf(source, [text, text, `*.${below === "" ? text : below}`, "*", "other.example", `x.${text}`]),
  ).filter((one) => !(host.name === null && (one.startsWith("*.") || one.startsWith("x."))));
  const isDeclared = listed.some((one) => {
    if (one === "*") return address === null || !naiveSpecial(address);
    const fits = one.startsWith("*.") ? text.endsWith(one.slice(1)) && text.length > one.length - 1 : one === text;
    // A declared name may not resolve into a special range; a literal address that is declared may be in one.
    return fits && (host.name === null || address === null || !naiveSpecial(address));
  });
  return {
    request: { verb: near.verb, values: [host.name === null ? host : { name: host.name, address: null }, port] },
    addresses,
    capabilities: { network: { allowedHosts: listed } },
    isDeclared,
    act: ({ net }) => net.fetch(`http://${text}:${port}/x?y`, { method: VERBS[verb] }),
  };
}

function fileUse(source: Source, verb: "fs.read" | "fs.write" | "fs.delete", near: Request): Use | null {
  const [path] = near.values;
  if (!isSegments(path) || !isSayable(path.segments)) return null;
  const text = `/${path.segments.join("/")}`;
  const part = verb === "fs.read" ? "read" : "write";
  const roots = several(source, 0, 2, () =>
    oneOf(source, [text, `/${path.segments[0] ?? ""}`, "/", "/elsewhere", `${text}x`]),
  );
  // A tree reaches into a protected path only if it names that path, or something below it.
  const guards = naivePathGuards(path.segments, PROTECTED).lastIndexOf(true) + 1;
  const isDeclared = roots.some((root) => {
    const depth = root.split("/").filter((one) => one !== "").length;
    return (root === "/" || text === root || text.startsWith(`${root}/`)) && depth >= guards;
  });
  const act = (context: Context): Promise<UseResult<unknown>> =>
    verb === "fs.read"
      ? context.files.read(text)
      : verb === "fs.write"
        ? context.files.write(text, "x")
        : context.files.remove(text);
  return {
    request: near,
    addresses: [],
    capabilities: { fs_reach: { [part]: roots } },
    isDeclared,
    act,
  };
}

function programUse(source: Source, near: Request): Use | null {
  const [root, argv] = near.values;
  if (!isSegments(root) || !isSegments(argv) || !isSayable(root.segments)) return null;
  if (!isSayable(argv.segments, /^[^*\s]+$/)) return null;
  const program = argv.segments[0] ?? "";
  if (!/^(?:[^/]+|(?:\/[^/]+)+)$/.test(program)) return null;
  const listed = several(source, 0, 2, () => oneOf(source, [program, "other", `${program}x`]));
  return {
    request: { verb: near.verb, values: [root, argv, "ro"] },
    addresses: [],
    capabilities: { process: { allowedBinaries: listed } },
    // A program declared as a whole may get any argument.
    isDeclared: listed.includes(program),
    act: ({ process }) => process.run(argv.segments, { in: `/${root.segments.join("/")}` }),
  };
}

function secretUse(source: Source, near: Request): Use | null {
  const [name, , host] = near.values;
  if (!isSegments(name) || !isSayable(name.segments)) return null;
  const text = name.segments.join("/");
  const starred = [...name.segments.slice(0, -1), "*"].join("/");
  const listed = several(source, 0, 2, () => oneOf(source, [text, starred, "other", "*"]));
  const at =
    isDestination(host) && host.name !== null && host.address === null
      ? host.name.segments.toReversed().join(".")
      : undefined;
  return {
    request: {
      verb: near.verb,
      values: [name, { segments: ["tool", "weather"], guarded: null }, at === undefined ? undefined : host],
    },
    addresses: [],
    capabilities: { secrets: listed },
    isDeclared: listed.some((one) => {
      const wanted = one.split("/");
      return (
        wanted.length === name.segments.length && wanted.every((part, at) => part === "*" || part === name.segments[at])
      );
    }),
    act: ({ secrets }) => secrets.use(text, at === undefined ? {} : { host: at }),
  };
}

const SCOPES = { "tool-private": "tool", session: "session", personality: "agent" } as const;

function keyUse(source: Source, verb: "memory.read" | "memory.write", near: Request): Use | null {
  const [key] = near.values;
  if (!isSegments(key) || !isSayable(key.segments)) return null;
  const scope = oneOf(source, ["tool-private", "session", "personality"] as const);
  const store = SCOPES[scope];
  const isStored = chance(source, 60);
  const segments = isStored ? [store, ...key.segments] : chance(source, 50) ? [store, ...key.segments] : key.segments;
  const text = (isStored ? key.segments : segments).join("/");
  const declares = chance(source, 70);
  return {
    request: { verb: near.verb, values: [{ segments, guarded: null }] },
    addresses: [],
    capabilities: declares ? { storage: { scope, kind: "kv" } } : {},
    isDeclared: declares && segments[0] === store,
    act: (context) => {
      const keys = isStored ? context.storage : context.memory;
      return verb === "memory.read" ? keys.get(text) : keys.set(text, "x");
    },
  };
}

const KINDS = [
  ...(["net.get", "net.post", "net.put", "net.delete"] as const),
  ...(["fs.read", "fs.write", "fs.delete", "proc.exec", "secret.use", "memory.read", "memory.write"] as const),
];

function useOf(source: Source, verb: (typeof KINDS)[number], near: Request): Use | null {
  switch (verb) {
    case "net.get":
    case "net.post":
    case "net.put":
    case "net.delete":
      return netUse(source, verb, near);
    case "fs.read":
    case "fs.write":
    case "fs.delete":
      return fileUse(source, verb, near);
    case "proc.exec":
      return programUse(source, near);
    case "secret.use":
      return secretUse(source, near);
    case "memory.read":
    case "memory.write":
      return keyUse(source, verb, near);
  }
}

/** Some of the grants cover everything, so that it is not always the links that refuse. */
function linksOf(source: Source, verb: (typeof KINDS)[number], at: number): readonly Link[] {
  const entry = verbOf(verb);
  return Array.from({ length: 1 + source.below(2) }, (_, place) => {
    const list = grants(source, entry, 1, 2);
    const wide = { ...list[0], scopes: entry.axes.map(() => ({ kind: "any" as const })) } as (typeof list)[number];
    const role = oneOf(source, ["own", "own", "limit"] as const);
    return linkOf(chance(source, 35) ? [wide, ...list] : list, `link-${at}-${place}`, role, validity(source));
  });
}

type MakeJudge = (authority: readonly Chain[], tool: RegisteredTool, at: Moment) => Judge;

const real: MakeJudge = (authority, tool, at) => {
  const whole = authority.map((links): Chain => [...links, ...requirementOf(tool)]);
  return (request) => judge(whole, request, at);
};

/** What is wrong with the case; "skipped" if a context cannot express it. */
async function contextIsMeet(
  source: Source,
  make: MakeJudge,
  through: Through = (context) => context,
): Promise<string | null | "skipped" | "allowed"> {
  const verb = oneOf(source, KINDS);
  const authority = Array.from({ length: 1 + source.below(2) }, (_, at) => linksOf(source, verb, at));
  const near = requestNear(
    source,
    verbOf(verb),
    authority.flat().flatMap((link) => link.grants),
  );
  const use = useOf(source, verb, near);
  if (use === null) return "skipped";
  const tool = registeredOf(toolOf(use.capabilities));
  const at = moment(source);
  const warrant = await warrantFor(tool);
  const chains = authority.map((links) => links.map(compile) as unknown as Chain);
  const { context, seen } = openContext(warrant, tool, make(chains, tool, at), { answers: () => use.addresses });
  const answer = await use.act(through(context));
  const asked = [use.request, ...use.addresses.map((text) => withAddress(use.request, text))];
  const levels = asked.map((request) => naiveJudge(authority, request, at, "use"));
  const isAllowed = use.isDeclared && levels.every((level) => level === 0);
  const told = `${verb} ${printValue(use.capabilities)} ${printValue(use.request)} ${use.addresses.join()}\n${printValue(authority)}\n${printValue(at)}`;
  if (answer.ok !== isAllowed)
    return `${answer.ok ? "let through" : `refused (${answer.code})`}, expected otherwise: ${told}`;
  if (!answer.ok && seen.done.length > 0) return `refused, and done all the same: ${seen.done.join()} ${told}`;
  if (answer.ok && seen.done.length === 0) return `allowed, and nothing was done: ${told}`;
  return answer.ok ? "allowed" : null;
}

function withAddress(request: Request, text: string): Request {
  const [host, ...rest] = request.values;
  const address = parseAddress(text);
  if (!isDestination(host) || host.name === null || address === null) throw new Error(text);
  return { verb: request.verb, values: [{ name: host.name, address }, ...rest] };
}

type Through = (context: Context) => Context;

/** As text, as it is sent between processes. */
const elsewhere: Through = (context) =>
  remoteContext(async (use) => {
    const heard = JSON.parse(JSON.stringify(use)) as JsonObject;
    return JSON.parse(JSON.stringify(await serveUse(context, heard))) as Json;
  }).context;

const CASES = LONG ? 40_000 : 2_000;

async function tally(make: MakeJudge, count: number, seed: number, through?: Through) {
  const counts = { looked: 0, allowed: 0, broken: null as string | null };
  for (let at = 0; at < count && counts.broken === null; at++) {
    const what = await contextIsMeet(seededSource(seed * 1_000_003 + at), make, through);
    if (what === "skipped") continue;
    counts.looked++;
    if (what === "allowed") counts.allowed++;
    else if (what !== null) counts.broken = `${at}: ${what}`;
  }
  return counts;
}

describe("what a context allows", () => {
  test("is what the tool declares and what every link covers", async () => {
    const { looked, allowed, broken } = await tally(real, CASES, runSeed());
    expect(broken).toBeNull();
    // Both answers occurred, often.
    expect(looked).toBeGreaterThan(CASES * 0.7);
    expect(allowed).toBeGreaterThan(CASES * 0.05);
  });

  test("is the same for a tool in another process, which gets it by messages", async () => {
    const { allowed, broken } = await tally(real, CASES, runSeed() + 1, elsewhere);
    expect(broken).toBeNull();
    expect(allowed).toBeGreaterThan(CASES * 0.05);
  });

  const mutants: readonly (readonly [string, MakeJudge])[] = [
    ["a judge that ignores the declaration", (authority, _, at) => (request) => judge(authority, request, at)],
    [
      "a judge that ignores the caller",
      (_, tool, at) => (request) => judge([requirementOf(tool) as unknown as Chain], request, at),
    ],
    [
      "a judge that checks the last link alone",
      (authority, tool, at) => (request) =>
        judge(
          authority.map((links): Chain => [links.at(-1) as CompiledLink, ...requirementOf(tool)]),
          request,
          at,
        ),
    ],
    [
      "a judge that does not check addresses",
      (authority, tool, at) => (request) => {
        const values = request.values.map((one) =>
          isDestination(one) && one.name !== null ? { name: one.name, address: null } : one,
        );
        return real(authority, tool, at)({ verb: request.verb, values });
      },
    ],
    [
      "a judge that takes a required approval for an allowance",
      (authority, tool, at) => (request) => {
        const decision = real(authority, tool, at)(request);
        return decision.outcome === "ask" ? { outcome: "allow", by: decision.by } : decision;
      },
    ],
  ];
  test.each(mutants)("mutant: %s is caught", async (_title, mutant) => {
    expect((await tally(mutant, 4_000, 13)).broken).not.toBeNull();
  });
});
