// The power of the resource tools: lists and contents of the servers of a session, from the session's own processes of them.

import { linkedController } from "../../core/base/abort.ts";
import { textIn } from "../../core/base/fields.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { type Failure, refuse } from "../../core/base/result.ts";
import { isHidden } from "../../gateway/pins.ts";
import {
  type ListedResource,
  promptName,
  RESOURCE_LISTS,
  type ResourceKind,
  readContents,
  readListed,
  resourcesMax,
} from "../../gateway/resources.ts";
import type { Completion, ResourcePowers } from "../../tools/resources/resource-tools.ts";
import type { Daemon } from "../daemon.ts";
import type { DaemonTool, PowersOptions } from "../tools/daemon-tool.ts";
import type { Round } from "./server-calls.ts";
import type { CatalogServer } from "./server-catalog.ts";
import type { DaemonServers } from "./servers.ts";
import { Upstream } from "./upstream.ts";

export interface ResourcePowersOptions {
  readonly servers: DaemonServers;
  readonly held: Daemon["held"];
  readonly callMilliseconds: number;
}

const pagesMax = 16;
export const RESOURCES_READ = "resources_read";
const MALFORMED: Round = {
  ok: false,
  code: "execution_failed",
  message: "the server's answer is malformed, or too large",
};
const KINDS: readonly ResourceKind[] = ["resource", "template", "prompt"];

type Answered<T> =
  | { readonly ok: true; readonly value: T; readonly note?: string; readonly isInputRequired?: true }
  | Failure;

/** The client comes back with answers to what the server asked for before it let a resource or prompt be read. */
export function readResumed(servers: DaemonServers): NonNullable<DaemonTool["resumed"]> {
  return (input, session, resume) => {
    const one = servers.enabled(session).find(({ server }) => server.name === textIn(input, "server"));
    return one === undefined
      ? refuse("bad_value", "there is no such server")
      : servers.calls.resumed(one, RESOURCES_READ, input, session, resume);
  };
}

export function resourcePowers(options: ResourcePowersOptions): (call: PowersOptions) => ResourcePowers {
  const { servers, held, callMilliseconds } = options;
  return ({ session, signal, taint, call }) => {
    /** Runs while the session does, within one server that is as it was pinned. */
    const within = async <T>(
      name: string,
      act: (upstream: Upstream, one: CatalogServer, signal: AbortSignal) => Promise<Answered<T>>,
    ): Promise<Answered<T>> => {
      const one = servers.enabled(session).find(({ server }) => server.name === name);
      if (one === undefined) return { ok: false, message: `there is no server ${name}` };
      const running = session.begin(signal);
      if (running === null) return { ok: false, message: session.startRefusal.message };
      try {
        const upstream = await servers.running(session, one);
        if (!(upstream instanceof Upstream)) return { ok: false, message: upstream.message };
        const why = servers.heldServer(one, upstream.description);
        if (why !== null) return { ok: false, message: why };
        // Whatever it answers, also with an error, is its own text.
        if (!one.server.isClean) taint();
        return await act(upstream, one, running.signal);
      } finally {
        running.end();
      }
    };
    return {
      resources: {
        servers: () => servers.enabled(session).map(({ server }) => server.name),
        held: () => {
          const current = held(session);
          return current === null ? null : { authority: current.holding.authority, moment: current.moment };
        },
        list: (name) => within(name, (upstream) => listed(upstream, signal, callMilliseconds)),
        read: (name, uri, given) =>
          within<JsonObject>(name, async (upstream, one, running) => {
            if (call === null) return { ok: false, message: "a resource cannot be read before the decision" };
            const prompt = promptName(uri);
            const asked =
              prompt === null
                ? { method: "resources/read", params: { uri } }
                : { method: "prompts/get", params: { name: prompt, arguments: given } };
            const finish = (answer: JsonObject): Round => {
              const value = readContents(uri, answer);
              return value === null ? MALFORMED : { ok: true, value, ended: "done" };
            };
            const round = await servers.calls.rounds(
              one,
              { tool: RESOURCES_READ, ...asked, finish },
              call,
              upstream,
              running,
            );
            if (!round.ok) return { ok: false, message: round.message };
            const isInputRequired = round.isInputRequired === true ? ({ isInputRequired: true } as const) : {};
            return { ok: true, value: round.value as JsonObject, ...isInputRequired };
          }),
        complete: (name, wanted) => within(name, (upstream) => completed(upstream, wanted, signal, callMilliseconds)),
        watch: (name, uri, changed) =>
          within(name, async (upstream) => {
            const stopping = linkedController(signal);
            const tell = (more: JsonObject): void => call?.client?.tell({ changed: { server: name, uri, ...more } });
            const watched = upstream.watches.watch(
              uri,
              () => (changed() ? tell({}) : stopping.controller.abort()),
              stopping.controller.signal,
              () => tell({ isFirst: true }),
            );
            return watched.finally(stopping.release);
          }),
      },
    };
  };
}

const completionsMax = 100;
const completionCharactersMax = 1_024;

async function completed(
  upstream: Upstream,
  { uri, argument, value, known }: Completion,
  signal: AbortSignal,
  milliseconds: number,
): Promise<Answered<readonly string[]>> {
  if (!upstream.has("completions")) return { ok: true, value: [] };
  const prompt = promptName(uri);
  const params = {
    ref: prompt === null ? { type: "ref/resource", uri } : { type: "ref/prompt", name: prompt },
    argument: { name: argument, value },
    ...(Object.keys(known).length === 0 ? {} : { context: { arguments: known } }),
  };
  const answer = await upstream.request("completion/complete", params, signal, milliseconds);
  if (!answer.ok) return answer;
  const completion = member(answer.value, "completion");
  const values = isJsonObject(completion) ? member(completion, "values") : undefined;
  if (!isJsonList(values)) return { ok: false, message: "the server's answer is malformed" };
  const isShown = (one: Json): one is string =>
    typeof one === "string" && one.length <= completionCharactersMax && !isHidden(one);
  return { ok: true, value: values.filter(isShown).slice(0, completionsMax) };
}

async function listed(
  upstream: Upstream,
  signal: AbortSignal,
  milliseconds: number,
): Promise<Answered<readonly ListedResource[]>> {
  const found = new Map<string, ListedResource>();
  let left = 0;
  for (const kind of KINDS) {
    const { method, key, capability } = RESOURCE_LISTS[kind];
    if (!upstream.has(capability)) continue;
    const entries: Json[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < pagesMax && entries.length < resourcesMax; page++) {
      const params: JsonObject = cursor === null ? {} : { cursor };
      const answer = await upstream.request(method, params, signal, milliseconds);
      if (!answer.ok) return answer;
      const part = member(answer.value, key);
      if (!isJsonList(part)) return { ok: false, message: `the server's answer to ${method} is malformed` };
      for (const entry of part) {
        if (entries.length < resourcesMax) entries.push(entry);
        else left++;
      }
      const next = member(answer.value, "nextCursor");
      cursor = typeof next === "string" && next !== "" ? next : null;
      if (cursor === null) break;
    }
    if (cursor !== null) left++;
    for (const entry of entries) {
      const one = readListed(kind, entry);
      if (one === null || found.has(`${kind} ${one.uri}`)) left++;
      else found.set(`${kind} ${one.uri}`, one);
    }
  }
  const value = [...found.values()];
  return left === 0
    ? { ok: true, value }
    : {
        ok: true,
        value,
        note: "entries are left out: too many, repeated, malformed, or with invisible characters",
      };
}
