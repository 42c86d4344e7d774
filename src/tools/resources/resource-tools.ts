// The tools resources_list and resources_read: resources and prompts of MCP servers, each decided by `mcp.resource` with the
// name of its server and its URI.
import { parseName } from "../../core/authority/axes/name.ts";
import { scopeMatches } from "../../core/authority/axes/scope.ts";
import { parseUri, uriText } from "../../core/authority/axes/uri.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import { objectIn, textIn } from "../../core/base/fields.ts";
import { type JsonObject, member } from "../../core/base/json.ts";
import { done, type Failure, type Result, refuse } from "../../core/base/result.ts";
import { useDenial, useResult } from "../../runtime/context/use-result.ts";
import type { BuiltinTool } from "../../runtime/tool/builtin.ts";
import { objectSchema, textSchema } from "../../runtime/tool/schema-parts.ts";
import { heldGrants } from "../agents/held-grants.ts";

export interface ListedItem {
  readonly kind: "resource" | "template" | "prompt";
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string | null;
  readonly arguments: readonly JsonObject[];
}

/** `note`: what the answer leaves out. */
type Answered<T> = { readonly ok: true; readonly value: T; readonly note?: string } | Failure;

/** The servers of a session, and its current grants. */
export interface ResourceAccess {
  /** Of servers that are enabled and trusted. */
  servers(): readonly string[];
  /** Null if the session has no grants any more. */
  held(): { readonly authority: Authority; readonly moment: Moment } | null;
  list(server: string): Promise<Answered<readonly ListedItem[]>>;
  /** `isInputRequired`: the value says what the client has to be asked for first. */
  read(
    server: string,
    uri: string,
    given: JsonObject,
  ): Promise<Answered<JsonObject> & { readonly isInputRequired?: true }>;
  complete(server: string, wanted: Completion): Promise<Answered<readonly string[]>>;
  /** Until the call ends; `changed` is called each time, and ends it by false. */
  watch(server: string, uri: string, changed: () => boolean): Promise<Answered<null>>;
}

export interface Completion {
  /** `prompt:NAME`, or a template. */
  readonly uri: string;
  readonly argument: string;
  readonly value: string;
  /** Other arguments that are known already. */
  readonly known: JsonObject;
}

export interface ResourcePowers {
  readonly resources: ResourceAccess;
}

const VERB = "mcp.resource";
const nameCharactersMax = 128;
const uriCharactersMax = 2_048;
const SERVER = textSchema("The name of the server.", 1, nameCharactersMax);

export function resourceRequest(server: string, uri: string): Result<Request> {
  const verb = verbEntry(VERB);
  if (verb === null) return refuse("bad_value", `no verb ${VERB}`);
  const name = parseName(server);
  if (!name.ok) return name;
  const resource = parseUri(uri);
  return resource.ok ? done({ verb, values: [name.value, resource.value] }) : resource;
}

const listTool: BuiltinTool<ResourcePowers> = {
  name: "resources_list",
  description:
    "List the resources, resource templates and prompts of MCP servers that your grants allow you to read. Read one with resources_read.",
  input: objectSchema({ server: SERVER }, []),
  verbs: [VERB],
  isListed: ({ resources }) => resources.servers().length > 0,
  requests: () => done([]),
  execute: async (input, { resources: access }) => {
    const held = access.held();
    if (held === null) return useDenial("revoked", null, "the session has no grants any more");
    const wanted = textIn(input, "server", nameCharactersMax);
    const servers = grantedServers(held.authority, access.servers()).filter(
      (server) => wanted === null || wanted === server,
    );
    const lists = await Promise.all(servers.map(async (server) => [server, await access.list(server)] as const));
    const items = lists.flatMap(([server, list]) =>
      list.ok ? list.value.filter((one) => isReadable(held, server, one)).map((one) => ({ server, ...one })) : [],
    );
    const problems = lists.flatMap(([server, list]) => {
      const message = list.ok ? list.note : list.message;
      return message === undefined ? [] : [{ server, message }];
    });
    return useResult({ items, problems });
  },
};

/** A server that no grant names is not even started. */
function grantedServers(authority: Authority, servers: readonly string[]): readonly string[] {
  const grants = heldGrants(authority).filter(({ verb }) => verb.verb === VERB);
  return servers.filter((server) => {
    const name = parseName(server);
    return name.ok && grants.some(({ scopes }) => scopes[0] && scopeMatches(scopes[0], name.value));
  });
}

/** Which resource a template stands for is not known before it is filled in. */
function isReadable(
  { authority, moment }: NonNullable<ReturnType<ResourceAccess["held"]>>,
  server: string,
  { kind, uri }: ListedItem,
): boolean {
  if (kind === "template") return true;
  const request = resourceRequest(server, uri);
  return request.ok && judge(authority, request.value, moment).outcome !== "deny";
}

const readTool: BuiltinTool<ResourcePowers> = {
  name: "resources_read",
  description:
    "Read a resource of an MCP server by its URI, or a prompt by `prompt:NAME`, as resources_list shows them.",
  input: objectSchema(
    {
      server: SERVER,
      uri: textSchema("The URI of the resource, or `prompt:NAME`.", 1, uriCharactersMax),
      arguments: { type: "object", description: "Arguments of a prompt.", additionalProperties: { type: "string" } },
    },
    ["server", "uri"],
  ),
  verbs: [VERB],
  isListed: ({ resources }) => resources.servers().length > 0,
  requests: (input) => {
    const [server, uri] = [textIn(input, "server", nameCharactersMax), textIn(input, "uri", uriCharactersMax)];
    if (server === null || uri === null) return refuse("bad_value", "needs `server` and `uri`");
    const request = resourceRequest(server, uri);
    return request.ok ? done([request.value]) : request;
  },
  execute: async (input, { resources: access }) => {
    const server = textIn(input, "server", nameCharactersMax) ?? "";
    const uri = parseUri(textIn(input, "uri", uriCharactersMax) ?? "");
    if (!uri.ok) return useDenial("invalid_input", VERB, uri.message);
    const given = member(input, "arguments") === undefined ? {} : (objectIn(input, "arguments") ?? {});
    // INVARIANT: the server is asked for the resource by the spelling that was decided.
    const answer = await access.read(server, uriText(uri.value.segments), given);
    if (!answer.ok) return useDenial("not_available", VERB, answer.message);
    if (answer.isInputRequired === true) return { ok: true, value: answer.value, isInputRequired: true };
    return useResult(answer.value);
  },
};

const PROMPT = "prompt:";

/** A prompt is decided by its name; of a template only values are shown with which it names a resource that may be read. */
const completeTool: BuiltinTool<ResourcePowers> = {
  name: "resources_complete",
  description:
    "Complete an argument of a prompt or of a resource template of an MCP server. For clients of the protocol.",
  input: objectSchema(
    {
      server: SERVER,
      uri: textSchema("`prompt:NAME`, or the template.", 1, uriCharactersMax),
      argument: textSchema("The name of the argument.", 1, nameCharactersMax),
      value: textSchema("The text typed so far.", 0, uriCharactersMax),
      known: { type: "object", description: "Other arguments.", additionalProperties: { type: "string" } },
    },
    ["server", "uri", "argument", "value"],
  ),
  verbs: [VERB],
  // A model has no use for it.
  isListed: () => false,
  requests: (input) => {
    const [server, uri] = [textIn(input, "server", nameCharactersMax), textIn(input, "uri", uriCharactersMax)];
    if (server === null || uri === null) return refuse("bad_value", "needs `server` and `uri`");
    if (!uri.startsWith(PROMPT)) return done([]);
    const request = resourceRequest(server, uri);
    return request.ok ? done([request.value]) : request;
  },
  execute: async (input, { resources: access }) => {
    const held = access.held();
    if (held === null) return useDenial("revoked", null, "the session has no grants any more");
    const [server = "", uri = "", argument = "", value = ""] = ["server", "uri", "argument", "value"].map(
      (key) => textIn(input, key, uriCharactersMax) ?? "",
    );
    const known = objectIn(input, "known") ?? {};
    if (!grantedServers(held.authority, [server]).includes(server))
      return useDenial("scope_violation", VERB, `no grant names the server ${server}`);
    const answer = await access.complete(server, { uri, argument, value, known });
    if (!answer.ok) return useDenial("not_available", VERB, answer.message);
    const isShown = (one: string): boolean => {
      const filled = filledTemplate(uri, { ...known, [argument]: one });
      const request = filled === null ? null : resourceRequest(server, filled);
      return request?.ok === true && judge(held.authority, request.value, held.moment).outcome !== "deny";
    };
    return useResult({ values: uri.startsWith(PROMPT) ? answer.value : answer.value.filter(isShown) });
  },
};

/** Null for a template with variables that are not known, or of another form than `{name}`. */
function filledTemplate(template: string, known: JsonObject): string | null {
  let isFilled = true;
  const filled = template.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const value = member(known, name);
    isFilled &&= typeof value === "string";
    return encodeURIComponent(String(value));
  });
  return isFilled && !/[{}]/.test(filled) ? filled : null;
}

const watchTool: BuiltinTool<ResourcePowers> = {
  name: "resources_watch",
  description:
    "Wait for changes of a resource of an MCP server until the call is cancelled. For clients of the protocol.",
  input: objectSchema({ server: SERVER, uri: textSchema("The URI of the resource.", 1, uriCharactersMax) }, [
    "server",
    "uri",
  ]),
  verbs: [VERB],
  // A model has no use for it.
  isListed: () => false,
  requests: readTool.requests,
  execute: async (input, { resources: access }) => {
    const server = textIn(input, "server", nameCharactersMax) ?? "";
    const uri = parseUri(textIn(input, "uri", uriCharactersMax) ?? "");
    if (!uri.ok) return useDenial("invalid_input", VERB, uri.message);
    const text = uriText(uri.value.segments);
    const request = resourceRequest(server, text);
    const isAllowed = (): boolean => {
      const held = access.held();
      return held !== null && request.ok && judge(held.authority, request.value, held.moment).outcome !== "deny";
    };
    // INVARIANT: a change is told only while the resource may be read.
    const answer = await access.watch(server, text, isAllowed);
    return answer.ok ? useResult({}) : useDenial("not_available", VERB, answer.message);
  },
};

export const RESOURCE_TOOLS: readonly BuiltinTool<ResourcePowers>[] = [listTool, readTool, completeTool, watchTool];
