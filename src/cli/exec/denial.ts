// What was refused to a program while it ran, as a person reads it: what it tried, and where to look next.
import type { LoadedAgent } from "../../agents/disk/loaded-agent.ts";
import { isDestination } from "../../core/authority/axes/scope.ts";
import type { Request } from "../../core/authority/request.ts";
import { decide, type Verdict } from "../../core/gate/decide.ts";
import { readRequestText } from "../../core/notation/request/request.ts";
import type { RunDenial } from "../../core/ports/process.ts";
import { changeClass } from "../can/change-class.ts";
import { underTrust } from "../can/untrusted.ts";
import { showVerdict } from "../can/verdict.ts";
import type { CliPorts } from "../ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { commandText } from "../terminal/command-text.ts";

type Seen = Pick<CliPorts, "changeClass" | "moment" | "paint" | "reading">;
type DenialSubject = Pick<LoadedAgent, "trust"> & {
  readonly agent: Pick<LoadedAgent["agent"], "id" | "authority" | "grants" | "workingRoot">;
};

export function denialText(ports: Seen, loaded: DenialSubject, { code, request, times }: RunDenial): string {
  const { agent } = loaded;
  const word = ports.paint.warn("ambit");
  const often = times === 1 ? "" : ` (${times} times)`;
  const read = readRequestText(request, { ...ports.reading, workingRoot: agent.workingRoot });
  const asked = read.ok ? read.value : null;
  // No rule stands behind it, so there is none to look at.
  if (code === "not_available") {
    const because = asked !== null && isNameAlone(asked) ? ": the host name could not be resolved" : "";
    return `${word}: not reachable while running: ${visibleText(request)}  ${code}${because}${often}`;
  }
  // Where the grants are not what refused it, what they say to it is no answer.
  const verdict = asked === null ? null : verdictOn(ports, loaded, asked);
  const why =
    asked !== null && verdict !== null && isAllowed(ports, loaded, asked, verdict)
      ? `ambit explain ${code}`
      : `ambit can ${visibleText(agent.id)} ${visibleText(request)}`;
  const grant = asked === null || verdict === null ? null : missingGrant(ports, loaded, asked, verdict);
  const fix = grant === null ? "" : `\n  grant it: ${visibleText(commandText(["agents", "grant", agent.id, grant]))}`;
  return `${word}: denied while running: ${visibleText(request)}  ${code}${often}\n  why: ${why}${fix}`;
}

/** For a host that no grant names: package managers and other programs need it often. */
function missingGrant(ports: Seen, { agent }: DenialSubject, request: Request, verdict: Verdict): string | null {
  const { decision } = verdict;
  if (request.verb.verb !== "net.connect" || decision.outcome !== "deny" || !isNameAlone(request)) return null;
  const { suggest, deniedBy } = showVerdict({ ...agent, refused: false }, request, verdict, ports.moment);
  return deniedBy === null ? suggest : null;
}

/** INVARIANT: the broker tells an address with every name that leads to one. */
function isNameAlone({ values: [host] }: Request): boolean {
  return isDestination(host) && host.name !== null && host.address === null;
}

/** What `ambit can` would say. */
function verdictOn(ports: Seen, { agent, trust }: DenialSubject, request: Request): Verdict {
  const { pathSettings } = ports.reading;
  const decided = decide(
    { agent: agent.id, authority: agent.authority },
    request,
    ports.moment,
    pathSettings.protectedPaths,
  );
  return underTrust(trust, request, decided, ports);
}

function isAllowed(ports: Seen, { agent }: DenialSubject, request: Request, { decision }: Verdict): boolean {
  return decision.outcome === "allow" && changeClass(ports, agent.authority, request) === "free";
}
