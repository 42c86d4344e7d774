// One connection of a program from accept to close: decided by name, inspected, resolved, screened, decided by the
// daemon, dialled. The screened address is the dialled one.

import type { Socket } from "node:net";
import { type Destination, destinationText } from "../../core/authority/axes/destination.ts";
import type { Decision, DenialCode } from "../../core/authority/decision.ts";
import { segmentsOf } from "../../core/authority/patterns/sequence.ts";
import type { Request } from "../../core/authority/request.ts";
import { type Address, addressText, parseAddress } from "../../core/base/address.ts";
import { isThisMachine } from "../../core/base/special.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import type { Resolver } from "../../core/ports/resolver.ts";
import type { Reason } from "./denials.ts";
import { dial } from "./dial.ts";
import { HttpInspection } from "./inspection/http-inspection.ts";
import type { Inspection, InspectionStep } from "./inspection/inspection.ts";
import { readOpening } from "./inspection/opening.ts";
import { TlsInspection } from "./inspection/tls-inspection.ts";
import type { Endpoint } from "./messages.ts";
import type { FakeNames } from "./names/fake-names.ts";
import { connectRequest, type InspectionMode, type NetworkGrants } from "./network-grants.ts";
import { reset } from "./reset.ts";
import { splice } from "./splice.ts";

/** What a connection needs of its sandbox. */
export interface ConnectionContext {
  readonly granted: NetworkGrants;
  readonly names: FakeNames;
  readonly resolve: Resolver;
  /** Aborted when the sandbox ends. */
  readonly stop: AbortSignal;
  /** The daemon's decision on one address that is about to be dialled; null where there is none. */
  ask(host: Destination, port: number, manner: InspectionMode): Promise<DaemonDecision | null>;
  refused(code: DenialCode, request: string, reason: Reason): void;
  connected(outside: Socket): void;
  /** Whether a process of ambit listens on this port of the host's loopback. */
  isOwnPort(port: number): Promise<boolean>;
}

export type DaemonDecision =
  | { readonly outcome: "allow" }
  | { readonly outcome: "ask" }
  | { readonly outcome: "deny"; readonly code: DenialCode };

/** `to`: where the program connected to. Resolves when the connection is over. A refused connection is reset at once. */
export async function serve(socket: Socket, context: ConnectionContext, to: Endpoint | null): Promise<void> {
  const local = parseAddress(to?.address ?? "");
  if (local === null || to === null) return void reset(socket);
  const { port } = to;
  const host = atLoopback(context, local, port) ?? context.names.destinationAt(local);
  const refuse = (code: DenialCode, request: string, reason: Reason): void => {
    context.refused(code, request, reason);
    reset(socket);
  };
  // A fake address that was never assigned.
  if (host === null)
    return refuse(
      "scope_violation",
      requestText(connectRequest({ name: null, address: local }, port, "sni")),
      "authority",
    );

  const manner = mannerOf(context.granted, host, port);
  const request = connectRequest(host, port, manner);
  const first = context.granted.judge(request);
  if (first.outcome === "deny") return refuse(first.code, requestText(request), "authority");

  const inspection = manner === "raw" ? null : inspectionOf(host, port);
  const opening = inspection === null ? NOTHING_SAID : await readOpening(socket, inspection);
  if (opening === null) return void reset(socket);
  const misspoken = (step: Extract<InspectionStep, { readonly kind: "refused" }>): void =>
    refuse("scope_violation", spokenRequest(step, host, port), step.reason);
  if (opening.kind === "refused") return misspoken(opening);

  const isLocal = isLoopback(local);
  const answers = host.name === null ? null : isLocal ? LOOPBACK : await context.resolve(destinationText(host));
  // The name does not exist, or no resolver answered: there is no address, and so no rule that refuses one.
  if (host.name !== null && (answers === null || answers.length === 0))
    return refuse("not_available", requestText(request), "name_unresolved");
  const screened = context.granted.screen(request, answers);
  if (screened.decision.outcome === "deny")
    return refuse(screened.decision.code, requestText(shownRequest(request, answers, context.granted)), "authority");

  // INVARIANT: a port that ambit itself listens on is no program's to reach, whatever is granted.
  if ((isLocal || isThisMachine(local)) && (await context.isOwnPort(port)))
    return refuse("address_refused", requestText(request), "own_port");

  const outside = await reach(screened.pinned, host, port, manner, context);
  if (outside.kind === "denied") return refuse(outside.code, outside.request, "daemon");
  if (outside.kind === "unreachable" || socket.destroyed) {
    if (outside.kind === "reached") outside.socket.destroy();
    return void reset(socket);
  }
  context.connected(outside.socket);
  const left = context.granted.millisecondsLeft(request);
  // INVARIANT: a connection does not outlive the grant that allowed it.
  const over = (): void => refuse("expired", requestText(request), "authority");
  const timer = left === null ? undefined : setTimeout(over, Math.min(left, timerMillisecondsMax));
  try {
    await splice({ inside: socket, outside: outside.socket, inspection, opening: opening.bytes, refused: misspoken });
  } finally {
    clearTimeout(timer);
  }
}

const LOOPBACK: readonly string[] = ["127.0.0.1", "::1"];
const LOCALHOST: Destination = { name: segmentsOf(["localhost"]), address: null };

function isLoopback(address: Address): boolean {
  return LOOPBACK.includes(addressText(address));
}

/** A connection to 127.0.0.1 was opened by that address or as `localhost`: whichever is granted. Null for any other address. */
function atLoopback({ granted }: ConnectionContext, local: Address, port: number): Destination | null {
  if (!isLoopback(local)) return null;
  const isGranted = granted.judge(connectRequest(LOCALHOST, port, "sni")).outcome !== "deny";
  const literal: Destination = { name: null, address: local };
  return isGranted && granted.judge(connectRequest(literal, port, "sni")).outcome === "deny" ? LOCALHOST : literal;
}

/** The longest timer of Node; no sandbox lives as long. */
const timerMillisecondsMax = 2_147_483_647;

const NOTHING_SAID: InspectionStep = { kind: "pass", bytes: [] };

/** Raw where that is granted without approval; otherwise the name must be visible in the traffic. */
function mannerOf(granted: NetworkGrants, host: Destination, port: number): InspectionMode {
  if (inspectionOf(host, port) === null) return "sni";
  const decision: Decision = granted.judge(connectRequest(host, port, "raw"));
  return decision.outcome === "allow" ? "raw" : "sni";
}

/** Only on these two ports is it known that the client speaks first, and in which protocol. */
function inspectionOf(host: Destination, port: number): Inspection | null {
  if (port === 443) return new TlsInspection(host);
  return port === 80 ? new HttpInspection(host, port) : null;
}

/** The request that would have to be granted: for the name in the traffic, or else for raw traffic. */
function spokenRequest({ other }: { readonly other: Destination | null }, host: Destination, port: number): string {
  return requestText(other === null ? connectRequest(host, port, "raw") : connectRequest(other, port, "sni"));
}

/** With the first refused address, where an address was refused. */
function shownRequest(request: Request, answers: readonly string[] | null, granted: NetworkGrants): Request {
  const [host, ...rest] = request.values as [Destination, ...Request["values"]];
  if (host.name === null) return request;
  for (const answer of answers ?? []) {
    const address = parseAddress(answer);
    if (address === null) continue;
    const narrowed: Request = { verb: request.verb, values: [{ name: host.name, address }, ...rest] };
    if (granted.judge(narrowed).outcome === "deny") return narrowed;
  }
  return request;
}

type DialResult =
  | { readonly kind: "reached"; readonly socket: Socket }
  | { readonly kind: "denied"; readonly code: DenialCode; readonly request: string }
  | { readonly kind: "unreachable" };

/** INVARIANT: every dialled address was decided on by our own copy of the authority and by the daemon. */
async function reach(
  pinned: readonly Address[],
  host: Destination,
  port: number,
  manner: InspectionMode,
  context: ConnectionContext,
): Promise<DialResult> {
  for (const address of pinned) {
    const destination: Destination = host.name === null ? host : { name: host.name, address };
    const word = await context.ask(destination, port, manner);
    const denied = (code: DenialCode): DialResult => ({
      kind: "denied",
      code,
      request: requestText(connectRequest(destination, port, manner)),
    });
    if (word === null) return denied("not_available");
    if (word.outcome === "ask") return denied("approval_required");
    if (word.outcome === "deny") return denied(word.code);
    const socket = await dial(address, port, context.stop);
    if (socket !== null) return { kind: "reached", socket };
    if (context.stop.aborted) break;
  }
  return { kind: "unreachable" };
}
