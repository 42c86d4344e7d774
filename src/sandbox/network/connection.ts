// One connection of a program, from accept to the end: judged by name, opened by what it says, resolved, screened,
// decided by the owner, dialled. What is screened is what is dialled.

import type { Socket } from "node:net";
import { type Destination, destinationText } from "../../core/authority/axes/destination.ts";
import type { Decision, DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import { type Address, parseAddress } from "../../core/base/address.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import type { Resolver } from "../../core/ports/resolver.ts";
import type { Reason } from "./denials.ts";
import { dial } from "./dial.ts";
import { connectRequest, type Granted, type Manner } from "./granted.ts";
import { HttpInspection } from "./inspection/http-inspection.ts";
import type { Inspection, Step } from "./inspection/inspection.ts";
import { readOpening } from "./inspection/opening.ts";
import { TlsInspection } from "./inspection/tls-inspection.ts";
import type { FakeNames } from "./names/fake-names.ts";
import { reset } from "./reset.ts";
import { splice } from "./splice.ts";

/** What a connection needs of its sandbox. */
export interface ConnectionWorld {
  readonly granted: Granted;
  readonly names: FakeNames;
  readonly resolve: Resolver;
  /** Aborted when the sandbox ends. */
  readonly stop: AbortSignal;
  /** The owner's word, for one address that is about to be dialled; null where it cannot be had. */
  ask(host: Destination, port: number, manner: Manner): Promise<OwnerWord | null>;
  refused(code: DenialCode, request: string, reason: Reason): void;
  connected(outside: Socket): void;
}

export type OwnerWord =
  | { readonly outcome: "allow" }
  | { readonly outcome: "ask" }
  | { readonly outcome: "deny"; readonly code: DenialCode };

/** Kept when the connection is over. Whatever was refused was reset at once. */
export async function serve(socket: Socket, world: ConnectionWorld): Promise<void> {
  const port = socket.localPort;
  const local = parseAddress(socket.localAddress ?? "");
  if (local === null || port === undefined) return void reset(socket);
  const host = world.names.destinationAt(local);
  const refuse = (code: DenialCode, request: string, reason: Reason): void => {
    world.refused(code, request, reason);
    reset(socket);
  };
  // A fake address that was given to nobody.
  if (host === null)
    return refuse(
      "scope_violation",
      requestText(connectRequest({ name: null, address: local }, port, "sni")),
      "authority",
    );

  const manner = mannerOf(world.granted, host, port);
  const request = connectRequest(host, port, manner);
  const first = world.granted.judge(request);
  if (first.outcome === "deny") return refuse(first.code, requestText(request), "authority");

  const inspection = manner === "raw" ? null : inspectionOf(host, port);
  const opening = inspection === null ? NOTHING_SAID : await readOpening(socket, inspection);
  if (opening === null) return void reset(socket);
  const misspoken = (step: Extract<Step, { readonly kind: "refused" }>): void =>
    refuse("scope_violation", spokenRequest(step, host, port), step.reason);
  if (opening.kind === "refused") return misspoken(opening);

  const answers = host.name === null ? null : await world.resolve(destinationText(host));
  // Nobody knows the name, or nobody could be asked: there is no address, and so no rule that refuses one.
  if (host.name !== null && (answers === null || answers.length === 0))
    return refuse("not_available", requestText(request), "name_unresolved");
  const screened = world.granted.screen(request, answers);
  if (screened.decision.outcome === "deny")
    return refuse(screened.decision.code, requestText(shownRequest(request, answers, world.granted)), "authority");

  const outside = await reach(screened.pinned, host, port, manner, world);
  if (outside.kind === "denied") return refuse(outside.code, outside.request, "owner");
  if (outside.kind === "unreachable" || socket.destroyed) {
    if (outside.kind === "reached") outside.socket.destroy();
    return void reset(socket);
  }
  world.connected(outside.socket);
  const left = world.granted.millisecondsLeft(request);
  // INVARIANT: a connection does not outlive the grant that let it through.
  const over = (): void => refuse("expired", requestText(request), "authority");
  const timer = left === null ? undefined : setTimeout(over, Math.min(left, timerMillisecondsMax));
  try {
    await splice({ inside: socket, outside: outside.socket, inspection, opening: opening.bytes, refused: misspoken });
  } finally {
    clearTimeout(timer);
  }
}

/** The most a timer of Node takes; no sandbox lives as long. */
const timerMillisecondsMax = 2_147_483_647;

const NOTHING_SAID: Step = { kind: "pass", bytes: [] };

/** Raw where that is granted without asking anybody; otherwise the name has to be said in the open. */
function mannerOf(granted: Granted, host: Destination, port: number): Manner {
  if (inspectionOf(host, port) === null) return "sni";
  const decision: Decision = granted.judge(connectRequest(host, port, "raw"));
  return decision.outcome === "allow" ? "raw" : "sni";
}

/** Only on these two ports is it known who speaks first, and what. */
function inspectionOf(host: Destination, port: number): Inspection | null {
  if (port === 443) return new TlsInspection(host);
  return port === 80 ? new HttpInspection(host, port) : null;
}

/** What would have had to be granted: the name that was said, or else saying anything at all. */
function spokenRequest({ other }: { readonly other: Destination | null }, host: Destination, port: number): string {
  return requestText(other === null ? connectRequest(host, port, "raw") : connectRequest(other, port, "sni"));
}

/** With the first address that is not let through, where it was an address that was refused. */
function shownRequest(request: Request, answers: readonly string[] | null, granted: Granted): Request {
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

type Reached =
  | { readonly kind: "reached"; readonly socket: Socket }
  | { readonly kind: "denied"; readonly code: DenialCode; readonly request: string }
  | { readonly kind: "unreachable" };

/** INVARIANT: every address that is dialled was decided on by our own copy of the authority and by the owner. */
async function reach(
  pinned: readonly Address[],
  host: Destination,
  port: number,
  manner: Manner,
  world: ConnectionWorld,
): Promise<Reached> {
  for (const address of pinned) {
    const destination: Destination = host.name === null ? host : { name: host.name, address };
    const word = await world.ask(destination, port, manner);
    const denied = (code: DenialCode): Reached => ({
      kind: "denied",
      code,
      request: requestText(connectRequest(destination, port, manner)),
    });
    if (word === null) return denied("not_available");
    if (word.outcome === "ask") return denied("approval_required");
    if (word.outcome === "deny") return denied(word.code);
    const socket = await dial(address, port, world.stop);
    if (socket !== null) return { kind: "reached", socket };
    if (world.stop.aborted) break;
  }
  return { kind: "unreachable" };
}
