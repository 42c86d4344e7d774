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
import { done, type Result, refuse } from "../../core/base/result.ts";
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
type Answered<T> =
  | { readonly ok: true; readonly value: T; readonly note?: string }
  | { readonly ok: false; readonly message: string };

/** The servers of a session, and its current grants. */
export interface ResourceAccess {
  /** Of servers that are enabled and trusted. */
  servers(): readonly string[];
  /** Null if the session has no grants any more. */
  held(): { readonly authority: Authority; readonly moment: Moment } | null;
  list(server: string): Promise<Answered<readonly ListedItem[]>>;
  read(server: string, uri: string, given: JsonObject): Promise<Answered<JsonObject>>;
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
    const grants = heldGrants(held.authority).filter(({ verb }) => verb.verb === VERB);
    const wanted = textIn(input, "server", nameCharactersMax);
    const servers = access.servers().filter((server) => {
      const name = parseName(server);
      // A server that no grant names is not even started.
      const isGranted = name.ok && grants.some(({ scopes }) => scopes[0] && scopeMatches(scopes[0], name.value));
      return isGranted && (wanted === null || wanted === server);
    });
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
    return answer.ok ? useResult(answer.value) : useDenial("not_available", VERB, answer.message);
  },
};

export const RESOURCE_TOOLS: readonly BuiltinTool<ResourcePowers>[] = [listTool, readTool];
