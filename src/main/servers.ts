// The MCP servers of others in the daemon: connects them to the store, the programs and the sessions.
import type { Grant } from "../core/authority/grant.ts";
import { judge } from "../core/authority/judge.ts";
import type { JsonObject } from "../core/base/json.ts";
import { requiredRisk } from "../core/notation/servers/server-file.ts";
import type { LogEntry } from "../core/ports/stores/log.ts";
import { packageAnswers } from "../daemon/control/packages.ts";
import { serverAnswers } from "../daemon/control/servers.ts";
import type { Daemon, DaemonOptions } from "../daemon/daemon.ts";
import { signInFetch } from "../daemon/oauth/sign-in-fetch.ts";
import { SignIns } from "../daemon/oauth/sign-ins.ts";
import { PackageFetcher } from "../daemon/packages/fetch-package.ts";
import { PackageStore } from "../daemon/packages/package-store.ts";
import type { DaemonParts } from "../daemon/parts.ts";
import type { DaemonPrograms } from "../daemon/programs/programs.ts";
import type { DaemonSecrets } from "../daemon/secrets.ts";
import { RESOURCES_READ, readResumed, resourcePowers } from "../daemon/servers/server-resources.ts";
import type { ServerOwner, ServerRunOptions } from "../daemon/servers/server-run.ts";
import { DaemonServers } from "../daemon/servers/servers.ts";
import { Session } from "../daemon/session.ts";
import { builtinToolWith, type DaemonTool, type ForeignTools } from "../daemon/tools/daemon-tool.ts";
import type { UserFolders } from "../platform/folders.ts";
import { callMillisecondsMax } from "../runtime/tool/define.ts";
import { couldCall } from "../runtime/tool/reachable.ts";
import type { ResolverChoice } from "../sandbox/network/names/resolver.ts";
import { RESOURCE_TOOLS } from "../tools/resources/resource-tools.ts";
import type { DaemonState } from "./daemon-state.ts";

export interface ServersOptions extends Pick<DaemonState, "stores" | "entry" | "elapsed" | "now" | "id"> {
  readonly folders: UserFolders;
  readonly records: DaemonParts["records"];
  readonly programs: Pick<DaemonPrograms, "run" | "fetch" | "end">;
  readonly secrets: Pick<DaemonSecrets, "named" | "vault">;
  resolver(): ResolverChoice;
  readonly redacting: DaemonParts["redacting"];
  readonly held: Daemon["held"];
  ceiling(): readonly Grant[] | null;
}

export interface ComposedServers {
  readonly answers: NonNullable<DaemonOptions["servers"]>;
  readonly resourceTools: readonly DaemonTool[];
  /** Tools of servers beside those of hosts; a name that belongs to a server is no host's. */
  beside(hosts: ForeignTools): ForeignTools;
  close(): void;
}

/** Half of what the broker has. */
const fetchesMax = 32;
/** Of these: streams that stay open. Servers beyond are asked again from time to time. */
const listensMax = 16;

export function composeServers(options: ServersOptions): ComposedServers {
  const { folders, records, stores, programs, redacting, entry, elapsed, held, now, id, ceiling, secrets, resolver } =
    options;
  const entryOf = (owner: ServerOwner | null, outcome: string, facts: JsonObject): LogEntry => {
    const made = entry("session", outcome, null, redacting.json(facts));
    return owner instanceof Session ? { ...made, ...owner.who() } : made;
  };
  let [running, listening] = [0, 0];
  /** Servers that answer slowly leave the broker's other fetches to the tools of agents. */
  const fetchLimited: DaemonPrograms["fetch"] = async (wish) => {
    if (running >= fetchesMax)
      return { ok: false, code: "not_available", message: "too many requests to servers at once" };
    running++;
    const fetched = await programs.fetch(wish);
    if (fetched.ok) void fetched.end.then(() => void running--);
    else running--;
    return fetched;
  };
  const listenLimited: DaemonPrograms["fetch"] = async (wish) => {
    if (listening >= listensMax)
      return { ok: false, code: "not_available", message: "too many servers are listened to" };
    listening++;
    const fetched = await fetchLimited(wish);
    if (fetched.ok) void fetched.end.then(() => void listening--);
    else listening--;
    return fetched;
  };
  const packages = new PackageStore({
    ...{ folders, settings: stores.settings },
    entry: (outcome, facts) => entryOf(null, outcome, facts),
  });
  void packages.clean();
  const isFrozen = (): boolean => stores.settings.get("frozen") !== null;
  const fetcher = new PackageFetcher({
    ...{ store: packages, programs, ceiling, now, isFrozen },
    readingAt: (folder) => records.readingAt(folder),
    id: () => id("s"),
    denied: (facts) => void stores.ledger.append([entryOf(null, "package_denied", facts)]),
  });
  const signIns: SignIns = new SignIns({
    ...{ settings: stores.settings, vault: secrets.vault, now },
    secret: async (name, use) => bytesOf(await secrets.named(use.tool, name, use.url)?.read()),
    fetch: (one, hosts, refused) => signInFetch(run, one, hosts, refused),
    entry: (outcome, facts) => entryOf(null, outcome, facts),
    secretEntry: (outcome, name) => entry("secret", outcome, name, { name, by: "sign-in" }),
  });
  const run: ServerRunOptions = {
    ...{ programs, packages, now, ceiling, resolver, isFrozen },
    fetch: fetchLimited,
    listen: listenLimited,
    secret: async (name, { tool, url }) => bytesOf(await secrets.named(tool, name, url)?.read()),
    needsReview: (owner) => !(owner instanceof Session) || held(owner)?.holding.needsReview !== false,
    signInAt: (one) => ({
      token: () => signIns.token(one),
      renew: (version) => signIns.renew(one, version),
      challenged: (text) => signIns.challenged(one, text),
    }),
  };
  const servers = new DaemonServers({
    ...{ folders, elapsed, settings: stores.settings, entry: entryOf },
    readingAt: (folder) => records.readingAt(folder),
    callMilliseconds: callMillisecondsMax,
    log: (made) => void stores.ledger.append([made]),
    couldCall: (session, prefix) => {
      const current = held(session);
      return current !== null && current.moment.frozen?.() !== true && couldCall(current.holding.authority, prefix);
    },
    refusal: (session, request) => {
      const current = held(session);
      const decision = current === null ? null : judge(current.holding.authority, request, current.moment);
      if (decision === null) return "revoked";
      return decision.outcome === "deny" ? decision.code : null;
    },
    redacted: (value) => redacting.json(value),
    run,
  });
  return {
    answers: (admission) => [
      ...serverAnswers(
        {
          ...{ servers, signIns },
          workspaceOf: (cwd) => records.workspaceOf(cwd),
          redacted: (text) => redacting.text(text),
          hasPackage: (pin) => packages.has(pin),
          id: () => id("s"),
        },
        admission,
      ),
      ...packageAnswers({ fetcher, store: packages, workspaceOf: (cwd) => records.workspaceOf(cwd) }, admission),
    ],
    beside: (hosts) => ({
      of: async (session, wanted) => {
        const [ofHosts, ofServers] = await Promise.all([hosts.of(session), servers.of(session, wanted ?? null)]);
        return [...ofHosts.filter(({ name }) => !servers.isTaken(session, name)), ...ofServers];
      },
      listChanges: (session) => servers.listChanges(session),
      ...(hosts.listed === undefined ? {} : { listed: hosts.listed }),
      ofServers: (workspace, cwd) =>
        servers.catalog.of(workspace, cwd).servers.flatMap((one) => {
          const { server, waits } = one;
          const off = server.isEnabled ? waits : "disabled: ambit mcp enable";
          return servers.toolsOf(one).map((tool) => ({
            ...{ tool, server: server.name, risk: requiredRisk(server.requires) },
            why: off ?? servers.heldText(one, tool.name),
          }));
        }),
    }),
    resourceTools: RESOURCE_TOOLS.map((tool) => {
      const made = builtinToolWith(tool, resourcePowers({ servers, held, callMilliseconds: callMillisecondsMax }));
      return tool.name === RESOURCES_READ ? { ...made, resumed: readResumed(servers) } : made;
    }),
    close: () => servers.close(),
  };
}

function bytesOf(text: string | null | undefined): Uint8Array | null {
  return text == null ? null : Buffer.from(text);
}
