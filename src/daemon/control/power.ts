// Control messages about agents and secrets: stop, freeze, revoke, admit file changes, store secrets.
import { agentIdOf } from "../../core/base/agent-id.ts";
import { flagIn, optionalText, textIn, textsIn } from "../../core/base/fields.ts";
import { isJsonList, isJsonObject, type JsonObject, member } from "../../core/base/json.ts";
import { SerialQueue } from "../../core/base/serial-queue.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { AgentName, StoredLink } from "../../core/ports/stores/link-store.ts";
import type { SecretBinding } from "../../core/ports/stores/secret-store.ts";
import { madeNames, sameName } from "../calls/agent-names.ts";
import type { Gatekeeper } from "../calls/gatekeeper.ts";
import { agentScope, MACHINE_SCOPE } from "../calls/generations.ts";
import { NO_ACTOR } from "../log/entries.ts";
import type { Opening } from "../opening.ts";
import type { DaemonParts } from "../parts.ts";
import type { Exchange, MessageHandler } from "../rpc/serving.ts";
import type { Sessions } from "../session.ts";
import type { Admission, AdmittedCaller } from "./admission.ts";
import { keyAnswers } from "./keys.ts";
import { tokenAnswers } from "./tokens.ts";

export interface PowerParts {
  readonly parts: DaemonParts;
  readonly gatekeeper: Gatekeeper;
  readonly sessions: Sessions;
  readonly opening: Opening;
  readonly admission: Admission;
}

export function powerAnswers(asked: PowerParts): readonly (readonly [string, MessageHandler])[] {
  const { parts, gatekeeper, admission } = asked;
  const { stores } = parts;
  const { entries } = gatekeeper;
  const queue = new SerialQueue();
  return [
    [
      "control.admit",
      async (exchange) => {
        const command = textIn(exchange.value, "command", 256);
        const what = textIn(exchange.value, "what", 8192);
        if (command === null || what === null) return BAD;
        const isWidening = flagIn(exchange.value, "isWidening");
        const admitted = isWidening ? await admission.widening(exchange) : admission.narrowing(exchange);
        const more = { command, what, isWidening, ...(admitted.ok ? { ...admitted.value } : { code: admitted.code }) };
        const entry = entries.make("control", NO_ACTOR, admitted.ok ? "admitted" : "refused", { more });
        const written = await stores.ledger.append([entry]);
        if (!admitted.ok) return admitted;
        return written.ok ? { ok: true, value: { entry: entry.id } } : refusal(written.code, written.message);
      },
    ],
    ["links.list", async () => ({ ok: true, value: { links: stores.links.all(), made: stores.links.allMade() } })],
    ["links.revoke", (exchange) => revokeLink(asked, exchange)],
    ["agent.stop", (exchange) => stopAgent(asked, exchange)],
    [
      "freeze",
      async (exchange) => {
        const admitted = admission.narrowing(exchange);
        if (!admitted.ok) return admitted;
        // Takes effect at once, and again in its turn: an earlier thaw must not be applied after it.
        gatekeeper.isFrozen = true;
        return queue.run(() => freeze(asked, admitted.value));
      },
    ],
    [
      "thaw",
      (exchange) =>
        queue.run(async () => {
          const admitted = await admission.widening(exchange);
          if (!admitted.ok) return admitted;
          const entry = entries.make("control", NO_ACTOR, "thawed", { more: { ...admitted.value } });
          const set = await stores.settings.set("frozen", null, entry);
          if (!set.ok) return refusal(set.code, set.message);
          gatekeeper.isFrozen = false;
          return { ok: true, value: {} };
        }),
    ],
    ...secretAnswers(asked),
    ...tokenAnswers(asked),
  ];
}

const BAD = refusal("invalid_input", "the message cannot be parsed");

async function freeze(
  { parts, gatekeeper, sessions }: PowerParts,
  by: AdmittedCaller,
): Promise<Answer<{ readonly ended: number }>> {
  const { stores, now, programs } = parts;
  const { entries } = gatekeeper;
  gatekeeper.isFrozen = true;
  const set = await stores.settings.set(
    "frozen",
    String(now()),
    entries.make("control", NO_ACTOR, "frozen", { more: { ...by } }),
  );
  const bumped = await stores.ledger.bump([MACHINE_SCOPE], entries.make("control", NO_ACTOR, "generation", {}));
  for (const session of sessions.all()) session.abortRunning();
  const ended = await programs.end(null, "ambit freeze");
  if (!set.ok)
    return refusal(set.code, `frozen, but the freeze will not survive a restart of the daemon: ${set.message}`);
  return bumped.ok ? { ok: true, value: { ended } } : refusal(bumped.code, bumped.message);
}

async function revokeLink(
  { parts, gatekeeper, admission, sessions }: PowerParts,
  exchange: Exchange,
): Promise<Answer<object>> {
  const { value } = exchange;
  const id = textIn(value, "id", 128);
  const admitted = admission.narrowing(exchange);
  if (!admitted.ok) return admitted;
  if (id === null || parts.stores.links.get(id) === null) return refusal("unknown_link", "no such delegation");
  const entry = gatekeeper.entries.make("delegation", NO_ACTOR, "revoked", { of: id, more: { by: admitted.value.by } });
  const revoked = await parts.stores.links.revoke(id, parts.now(), entry);
  if (!revoked.ok) return refusal(revoked.code, revoked.message);
  const holders = holdersOf(revoked.value);
  let ended = 0;
  if (flagIn(value, "kill"))
    for (const name of holders) {
      for (const session of sessions.ofAgent(name)) session.abortRunning();
      ended += await parts.programs.end(agentScope(name), `ambit agents revoke --link ${id} --kill`);
    }
  return { ok: true, value: { revoked: revoked.value.map((link) => link.id), ended } };
}

function holdersOf(links: readonly StoredLink[]): readonly AgentName[] {
  const names: AgentName[] = [];
  for (const { holder } of links)
    if (holder !== null && !names.some((one) => sameName(one, holder))) names.push(holder);
  return names;
}

/** Ends its sessions with their processes, and its delegations with those below them; its own record stays. */
async function stopAgent(asked: PowerParts, exchange: Exchange): Promise<Answer<object>> {
  const { parts, sessions, admission } = asked;
  const { stores, records } = parts;
  const cwd = textIn(exchange.value, "cwd", 4096);
  const agent = textIn(exchange.value, "agent", 4096);
  const admitted = admission.narrowing(exchange);
  if (!admitted.ok) return admitted;
  if (cwd === null || agent === null) return BAD;
  const plain: AgentName = { workspace: records.workspaceOf(cwd), agent: agentIdOf(agent) };
  const found = records.record(cwd, agent);
  const made = found.ok ? [] : madeNames(stores.links, plain);
  // A session that brought its own grants has a name and no record.
  const isOpen = sessions.ofAgent(plain).length > 0;
  if (!found.ok && made.length === 0 && !isOpen) return refusal("unknown_agent", found.message, found.fix);
  const liveAgents = (): number => stores.links.allMade().filter(({ ended }) => ended === null).length;
  const before = liveAgents();
  const total = { sessions: 0, ended: 0, links: 0 };
  // Those of every user: the person who stops an agent does not look whose it is.
  for (const name of found.ok ? [found.value.name] : isOpen || made.length === 0 ? [...made, plain] : made) {
    const stopped = await stopNamed(asked, name, admitted.value.by, made.includes(name));
    if (!stopped.ok) return stopped;
    for (const key of ["sessions", "ended", "links"] as const) total[key] += stopped.value[key];
  }
  // With those that it hired, and those below them.
  return { ok: true, value: { ...total, agents: Math.max(0, before - liveAgents()) } };
}

async function stopNamed(
  { parts, gatekeeper, sessions, opening }: PowerParts,
  name: AgentName,
  by: string,
  isMade: boolean,
): Promise<Answer<{ readonly sessions: number; readonly ended: number; readonly links: number }>> {
  const { stores, programs, now } = parts;
  const entry = (outcome: string, of: string | null = null): ReturnType<typeof gatekeeper.entries.make> =>
    gatekeeper.entries.make("delegation", { ...NO_ACTOR, ...name }, outcome, { of, more: { by } });
  const bumped = await stores.ledger.bump([agentScope(name)], entry("stopped"));
  if (!bumped.ok) return refusal(bumped.code, bumped.message);
  const own = sessions.ofAgent(name);
  // With the sub-agents of its client, which act within it.
  const below = sessions.all().filter((one) => own.some((session) => gatekeeper.holdings.isWithin(one, session)));
  const open = [...own, ...below.filter((session) => !own.includes(session))];
  for (const session of open) {
    opening.close(session);
    session.facts.connected.tell({ event: "stopped", session: session.facts.id });
  }
  const because = `ambit stop ${name.agent}`;
  let ended = await programs.end(agentScope(name), because);
  const given = stores.links.all().filter(({ granter, revoked }) => revoked === null && sameName(granter, name));
  const links: StoredLink[] = [];
  for (const link of given) {
    const revoked = await stores.links.revoke(link.id, now(), entry("revoked", link.id));
    if (revoked.ok) links.push(...revoked.value);
  }
  // What an agent was made with is all that it has; an agent with a record goes on with what it runs.
  const made = stores.links.allMade();
  for (const holder of holdersOf(links).filter((one) => made.some((agent) => sameName(agent.name, one)))) {
    for (const session of sessions.ofAgent(holder)) session.abortRunning();
    ended += await programs.end(agentScope(holder), because);
  }
  if (isMade) await stores.links.end(name, now(), entry("ended"));
  return { ok: true, value: { sessions: open.length, ended, links: links.length } };
}

function secretAnswers({ parts, gatekeeper, admission }: PowerParts): readonly (readonly [string, MessageHandler])[] {
  const { vault } = parts;
  const entry = (outcome: string, name: string, by: string): ReturnType<typeof gatekeeper.entries.make> =>
    gatekeeper.entries.make("secret", NO_ACTOR, outcome, { of: name, more: { name, by } });
  return [
    [
      "secrets.set",
      async (exchange) => {
        const { value } = exchange;
        const name = textIn(value, "name", 256);
        const secret = textIn(value, "value", 65_536);
        const binding = bindingIn(value);
        const username = optionalText(value, "username", 128);
        if (name === null || secret === null || binding === null || username === undefined) return BAD;
        const admitted = await admission.widening(exchange);
        if (!admitted.ok) return admitted;
        const isRotation = flagIn(value, "isRotation");
        const told = entry(isRotation ? "rotated" : "set", name, admitted.value.by);
        const isCanary = flagIn(value, "isCanary");
        return vault.set({ name, value: secret, binding, username, isCanary, isRotation }, told);
      },
    ],
    ["secrets.list", async () => ({ ok: true, value: { secrets: vault.list() } })],
    [
      "secrets.policy",
      async (exchange) => {
        const name = textIn(exchange.value, "name", 256);
        const binding = bindingIn(exchange.value);
        if (name === null || binding === null) return BAD;
        const admitted = await admission.widening(exchange);
        return admitted.ok ? vault.policy({ name, binding }, entry("bound", name, admitted.value.by)) : admitted;
      },
    ],
    [
      "secrets.delete",
      async (exchange) => {
        const name = textIn(exchange.value, "name", 256);
        const admitted = admission.handling(exchange);
        if (!admitted.ok) return admitted;
        return name === null ? BAD : vault.delete(name, entry("deleted", name, admitted.value.by));
      },
    ],
    ...keyAnswers({ vault, gatekeeper, admission }),
  ];
}

function bindingIn(value: JsonObject): SecretBinding | null {
  const given = member(value, "binding");
  if (!isJsonObject(given) || !isJsonList(member(given, "tools")) || !isJsonList(member(given, "hosts"))) return null;
  const tools = textsIn(given, "tools", 256);
  const hosts = textsIn(given, "hosts", 256);
  const uses = member(given, "uses") ?? null;
  if (tools === null || hosts === null) return null;
  if (uses !== null && !(typeof uses === "number" && Number.isSafeInteger(uses) && uses > 0)) return null;
  const isSignOnly = flagIn(given, "isSignOnly");
  return { tools, hosts, uses: uses === null ? null : Number(uses), ...(isSignOnly ? { isSignOnly } : {}) };
}
