// Lists all tools for a person: built-in and third-party, with their declarations and whether they can run.
import { byRisk, verbEntry } from "../../core/authority/catalog.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import { optionalText, textIn } from "../../core/base/fields.ts";
import type { JsonObject } from "../../core/base/json.ts";
import type { ToolDetails } from "../../core/ports/daemon/daemon-control.ts";
import { refusal } from "../../core/ports/daemon/exchange.ts";
import { availabilityOf, missingText, SAYS_UNAVAILABLE } from "../../runtime/tool/availability.ts";
import { exampleInput } from "../../runtime/tool/example-input.ts";
import { reachesOf } from "../../runtime/tool/reachable.ts";
import type { Contexts } from "../contexts/contexts.ts";
import type { DaemonParts } from "../parts.ts";
import type { MessageHandler } from "../rpc/serving.ts";
import type { DaemonTool, ForeignTools, ForeignToolView, ServerToolListing } from "../tools/daemon-tool.ts";
import { type DaemonTools, reachedBy } from "../tools/daemon-tools.ts";

export function toolAnswers(
  { records, now }: DaemonParts,
  tools: DaemonTools,
  foreign: ForeignTools,
  contexts: Contexts,
): readonly (readonly [string, MessageHandler])[] {
  return [
    [
      "tools.all",
      async ({ value }) => {
        const cwd = textIn(value, "cwd", 4096);
        const agent = optionalText(value, "agent", 4096);
        if (cwd === null || agent === undefined)
          return refusal("invalid_input", "needs a folder, and optionally an agent");
        const record = agent === null ? null : records.record(cwd, agent);
        if (record !== null && !record.ok) return refusal("unknown_agent", record.message, record.fix);
        const moment: Moment = { now: now(), clean: true, generation: 0, revoked: null, exhausted: null };
        const reached = record === null ? null : reachedBy(record.value.authority, moment);
        const reaches = record === null ? null : reachesOf(record.value.authority, moment);
        const listed = (await foreign.listed?.(records.workspaceOf(cwd))) ?? { tools: [], refused: [] };
        const own = tools.own().filter((tool) => reached?.(tool) ?? true);
        const others = listed.tools.filter(({ name, declared }) => reaches?.(name, declared) ?? true);
        const behind = foreign.ofServers?.(records.workspaceOf(cwd), cwd) ?? [];
        const ofServers = behind.filter(({ tool }) => reached?.(tool) ?? true).map(serverListed);
        const all = [...own.map(ownListed), ...others.map((tool) => otherListed(tool, contexts)), ...ofServers];
        all.sort((left, right) => (left.name < right.name ? -1 : 1));
        return { ok: true, value: { tools: all, refused: listed.refused } };
      },
    ],
  ];
}

function ownListed({ name, verbs, anyVerb = [], description, input }: DaemonTool): ToolDetails {
  const entries = [...verbs, ...anyVerb].flatMap((verb) => verbEntry(verb) ?? []).sort(byRisk);
  const risk = entries.at(0)?.risk ?? "low";
  const schema = { description, input: input as unknown as JsonObject, example: exampleInput(name, input) };
  return { name, origin: "builtin", risk, declared: null, available: true, why: null, ...schema };
}

function serverListed({ tool, server, risk, why }: ServerToolListing): ToolDetails {
  const { name, description, input, shownInput } = tool;
  const schema = shownInput ?? (input as unknown as JsonObject);
  const shown = { description, input: schema, example: exampleInput(name, input) };
  return { name, origin: `server ${server}`, risk, declared: null, available: why === null, why, ...shown };
}

function otherListed(
  { name, source, risk, capabilities, needs, isUntrusted, isAvailable, isWaiting, description, input }: ForeignToolView,
  contexts: Contexts,
): ToolDetails {
  const availability = availabilityOf(needs, contexts.backends(name));
  const why = isWaiting
    ? "no effect until you trust it: ambit trust"
    : !availability.ok
      ? missingText(availability)
      : !isAvailable
        ? SAYS_UNAVAILABLE
        : isUntrusted
          ? "in development: loaded without trust"
          : null;
  const available = availability.ok && isAvailable && !isWaiting;
  const schema = { description, input: input as unknown as JsonObject, example: exampleInput(name, input) };
  return { name, origin: source, risk, declared: capabilities, available, why, ...schema };
}
