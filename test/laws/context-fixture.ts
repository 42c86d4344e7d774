// A call from the gate to a context over fake ports, which record everything that reaches them.
import { destinationText } from "../../src/core/authority/axes/destination.ts";
import { methodVerb } from "../../src/core/authority/axes/http-request.ts";
import type { Value } from "../../src/core/authority/axes/scope.ts";
import { parseUrl } from "../../src/core/authority/axes/url.ts";
import type { Authority, Chain } from "../../src/core/authority/chain.ts";
import type { CompiledLink, Moment } from "../../src/core/authority/compiled.ts";
import { judge } from "../../src/core/authority/judge.ts";
import { parseAddress } from "../../src/core/base/address.ts";
import { utf8Bytes } from "../../src/core/base/bytes.ts";
import { authorize } from "../../src/core/gate/call.ts";
import type { Warrant } from "../../src/core/gate/warrant.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import { readDeclarationValue } from "../../src/core/notation/tools/declaration-value.ts";
import type { HttpFetch, HttpResponse, KeysPort, PortResult } from "../../src/core/ports/instruments.ts";
import type { Judge } from "../../src/core/ports/judge.ts";
import type { Context, Instruments, OpenContext } from "../../src/runtime/context/context.ts";
import { makeContext } from "../../src/runtime/context/context.ts";
import type { Capabilities } from "../../src/runtime/tool/declaration.ts";
import { defineTool, type Tool } from "../../src/runtime/tool/define.ts";
import type { RegisteredTool } from "../../src/runtime/tool/registered.ts";
import { createRegistry, type Registry } from "../../src/runtime/tool/registry.ts";
import type { Policy } from "../../src/runtime/tool/requirement.ts";
import { chain, grant, link, moment } from "../forge/authority.ts";
import { PATH_SETTINGS, TO_ASCII } from "./alphabet.ts";

export const READING: Reading = { pathSettings: PATH_SETTINGS, toAscii: TO_ASCII, ceiling: null };

/** Every capability there is, so that registration refuses only invalid declarations. */
export const OPEN_POLICY: Policy = {
  authority: [
    [
      link(
        "policy",
        ["net.get", "net.post", "net.put", "net.delete", "fs.read", "fs.write", "fs.delete", "proc.exec", "secret.use"]
          .concat("memory.read", "memory.write")
          .map((verb) => grant(verb)),
        {},
        "limit",
      ),
    ],
  ],
  name: "the policy",
  holds: [],
  protectedPaths: PATH_SETTINGS.protectedPaths,
};

export function registryOf(more: Partial<Parameters<typeof createRegistry>[0]> = {}): Registry {
  return createRegistry({
    read: (declaration) => readDeclarationValue(declaration, READING),
    policy: OPEN_POLICY,
    backends: { has: () => true, hasSecret: () => true },
    pathSettings: PATH_SETTINGS,
    toAscii: TO_ASCII,
    ...more,
  });
}

export function toolOf(
  capabilities: Capabilities | undefined,
  more: Partial<Parameters<typeof defineTool>[0]> = {},
): Tool {
  return defineTool({
    name: "weather",
    description: "Says what the weather is.",
    input: { type: "object" },
    ...(capabilities === undefined ? {} : { capabilities }),
    execute: () => null,
    ...more,
  });
}

export function registeredOf(tool: Tool, registry: Registry = registryOf()): RegisteredTool {
  const answer = registry.register(tool, "application");
  const found = answer.ok ? registry.find(answer.name) : null;
  if (!answer.ok || found === null)
    throw new Error(JSON.stringify(answer, (_, one) => (typeof one === "bigint" ? "" : one)));
  return found;
}

/** A grant to call any tool, and nothing else. */
export const CALLER: Authority = [chain(link("record", [grant("tool.invoke")]))];

/** A real warrant: only the gate makes them. */
export async function warrantFor(
  tool: RegisteredTool,
  authority: Authority = CALLER,
  input: object = {},
  level: 1 | 2 = 1,
): Promise<Warrant> {
  const answer = await authorize(
    { agent: "scout", authority },
    { tool: tool.name, input },
    (name) => (name === tool.name ? tool : null),
    moment(),
    PATH_SETTINGS.protectedPaths,
    {
      approvals: async () => ({ kind: "approved", approval: "a1", level }),
      commit: async () => ({ ok: true, receipt: "r" }),
    },
  );
  if (!answer.ok) throw new Error(answer.code);
  return answer.warrant;
}

/** As one more link of a chain; none for a built-in tool that declares nothing. */
export function requirementOf({ requirement }: RegisteredTool): readonly CompiledLink[] {
  return requirement === null ? [] : [requirement];
}

/** Every link of the caller and what the tool requires. */
export function judgeOf(authority: Authority, tool: RegisteredTool, at: () => Moment = moment): Judge {
  const whole = authority.map((links): Chain => [...links, ...requirementOf(tool)]);
  return (request) => judge(whole, request, at());
}

export interface Seen {
  /** One line for each operation of a port. */
  readonly done: string[];
  readonly fetches: HttpFetch[];
  readonly denials: string[];
}

export interface Fixture {
  /** The addresses of a name; by default one that is public. */
  readonly answers?: (host: string) => readonly string[] | null;
  /** What comes back; by default an empty page. The port asks about the first request, as the broker does. */
  readonly respond?: (asked: HttpFetch) => PortResult<HttpResponse> | Promise<PortResult<HttpResponse>>;
  readonly without?: readonly (keyof Instruments)[];
}

const value = (text: string) => ({ value: text, version: 1, at: 0, expires: null, clean: true });

export const EMPTY_PAGE: HttpResponse = {
  status: 200,
  url: "http://a.example/",
  redirects: 0,
  headers: [],
  body: new Uint8Array(),
  isTruncated: false,
};

export function instrumentsOf(seen: Seen, fixture: Fixture = {}): Instruments {
  const did = <T>(line: string, value: T): { readonly ok: true; readonly value: T } => {
    seen.done.push(line);
    return { ok: true, value };
  };
  const kept: KeysPort = {
    get: async (key) => did(`get ${key.join("/")}`, value("v")),
    set: async (key) => did(`set ${key.join("/")}`, { version: 2 }),
    delete: async (key) => did(`delete ${key.join("/")}`, true),
    list: async ({ prefix }) =>
      did(`list ${prefix}`, [
        { key: `${prefix}a`.split("/"), ...value("v") },
        { key: `${prefix}b`.split("/"), ...value("v") },
      ]),
    shown: () => undefined,
  };
  const all: Instruments = {
    fetching: {
      fetch: async (asked) => {
        const url = parseUrl(asked.url, TO_ASCII);
        const verb = methodVerb(asked.method);
        if (!url.ok || verb === null) throw new Error(`${asked.method} ${asked.url} does not read`);
        const { host, port, scheme } = url.value;
        const named = asked.decide({ verb, values: [host, port], scheme });
        if (named !== null) return { ok: false, code: named, message: "refused on the way" };
        const answers = fixture.answers === undefined ? ["93.184.216.34"] : fixture.answers(destinationText(host));
        if (answers === null) return { ok: false, code: "not_available", message: "the name could not be resolved" };
        for (const text of host.name === null ? [] : answers) {
          const address = parseAddress(text);
          const led = address === null ? null : { name: host.name, address };
          const code = led === null ? "address_refused" : asked.decide({ verb, values: [led as Value, port], scheme });
          if (code !== null) return { ok: false, code, message: "refused on the way" };
        }
        seen.fetches.push(asked);
        seen.done.push(`${asked.method} ${asked.url}`);
        return (await fixture.respond?.(asked)) ?? { ok: true, value: { ...EMPTY_PAGE, url: asked.url } };
      },
    },
    files: {
      read: async (path) => did(`read /${path.join("/")}`, new Uint8Array([104, 105])),
      write: async (path) => did(`write /${path.join("/")}`, null),
      append: async (path) => did(`append /${path.join("/")}`, null),
      makeFolder: async (path) => did(`make /${path.join("/")}`, null),
      remove: async (path) => did(`remove /${path.join("/")}`, null),
      stat: async (path) =>
        did(`stat /${path.join("/")}`, { kind: "file", bytes: 1, modifiedMilliseconds: 0, mode: 0o644, links: 1 }),
      list: async (path) =>
        did(`list /${path.join("/")}`, [
          { path: [...path, "a"], kind: "file" },
          { path: ["elsewhere"], kind: "file" },
        ]),
      glob: async (path) => did(`glob /${path.join("/")}`, [{ path: ["elsewhere"], kind: "file" }]),
      search: async (path) =>
        did(`search /${path.join("/")}`, [
          { path: [...path, "a"], line: 1, text: "x" },
          { path: ["elsewhere"], line: 1, text: "x" },
        ]),
      close: () => undefined,
      exclusively: (_, act) => act(all.files as NonNullable<Instruments["files"]>),
      pause: async () => undefined,
    },
    programs: {
      run: async ({ argv }) => {
        const usage = { wallMicroseconds: 1, userMicroseconds: 1, systemMicroseconds: 1, memoryKibibytes: 1 };
        const ran = {
          ending: { kind: "exited" as const, status: 0 },
          usage,
          denials: [],
          enforcement: [],
          outputDropped: 0,
          draft: null,
        };
        return did(`run ${argv.join(" ")}`, { ran, output: new Uint8Array(), errors: new Uint8Array(), dropped: 0 });
      },
    },
    secrets: {
      has: async (name) => did(`has ${name}`, true).value,
      open: async (names) =>
        did(
          `open ${names.join()}`,
          names.map((name) => ({
            name,
            value: utf8Bytes(`value-of-${name}`),
            hosts: ["a.example"],
            isSignOnly: false,
          })),
        ),
    },
    storage: kept,
    memory: kept,
    observations: {
      append: async (text) => did(`observe ${text}`, { id: "o1" }),
      query: async ({ agents }) =>
        did(
          `observations ${agents.join(" ")}`,
          agents.map((agent) => ({ id: "o1", agent, at: 0, text: "t", tags: [], clean: true, session: null })),
        ),
    },
  };
  return { ...all, ...Object.fromEntries((fixture.without ?? []).map((name) => [name, null])) };
}

export interface Opened extends OpenContext {
  readonly seen: Seen;
}

export function openContext(
  warrant: Warrant,
  tool: RegisteredTool,
  decide: Judge,
  fixture: Fixture = {},
): Opened & { readonly context: Context } {
  const seen: Seen = { done: [], fetches: [], denials: [] };
  const open = makeContext(warrant, {
    instruments: instrumentsOf(seen, fixture),
    judge: decide,
    pathSettings: PATH_SETTINGS,
    toAscii: TO_ASCII,
    store: tool.store,
    denied: (request, code) => void seen.denials.push(`${request?.verb.verb ?? "?"} ${code}`),
  });
  return { ...open, seen };
}
