// The only name server of a sandbox. It answers from the authority and forwards nothing: a refused question discloses
// nothing.

import { parseHost } from "../../../core/authority/axes/destination.ts";
import type { DenialCode } from "../../../core/authority/decision.ts";
import type { Address } from "../../../core/base/address.ts";
import { requestText } from "../../../core/notation/request/request-printer.ts";
import { type NetworkGrants, usualPort } from "../network-grants.ts";
import { toAscii } from "./ascii.ts";
import { answerMalformed, answerTo, type Question, RECORD, RESPONSE, readQuestion } from "./dns-message.ts";
import type { FakeNames, NamedDestination } from "./fake-names.ts";

/** `again`: whether a further question of this kind counts as a further attempt. */
export type DenialReporter = (code: DenialCode, request: string, again: boolean) => void;

export class NameServer {
  readonly #granted: NetworkGrants;
  readonly #names: FakeNames;
  readonly #refused: DenialReporter;

  constructor(granted: NetworkGrants, names: FakeNames, refused: DenialReporter) {
    this.#granted = granted;
    this.#names = names;
    this.#refused = refused;
  }

  /** Null: no answer at all. */
  answer(bytes: Uint8Array): Uint8Array | null {
    const read = readQuestion(bytes);
    switch (read.kind) {
      case "nothing":
        return null;
      case "malformed":
        return answerMalformed(read.identity, read.response);
      case "question":
        return this.#answer(read.question);
      default:
        return read satisfies never;
    }
  }

  #answer(question: Question): Uint8Array {
    const { name, type } = question;
    const absent = answerTo(question, RESPONSE.absent, null);
    // A reverse lookup is no attempt to connect.
    if (type === RECORD.pointer) return absent;
    const host = name === null ? null : namedHost(name);
    if (name === null || host === null) {
      this.#refused(
        "invalid_input",
        `net.connect '${question.shown.slice(0, 300)}:${usualPort}'`,
        type === RECORD.address,
      );
      return absent;
    }
    if (!this.#granted.reaches(host)) {
      const request = this.#granted.spokenOf(host);
      const decision = this.#granted.judge(request);
      const code = decision.outcome === "deny" ? decision.code : "scope_violation";
      // Resolvers ask for both address families at once; that is one attempt.
      this.#refused(code, requestText(request), type === RECORD.address);
      return absent;
    }
    if (type !== RECORD.address) return answerTo(question, RESPONSE.done, null);
    const address = this.#names.addressOf(name, host);
    if (address === null) {
      this.#refused("budget_exhausted", requestText(this.#granted.spokenOf(host)), true);
      return answerTo(question, RESPONSE.refused, null);
    }
    return answerTo(question, RESPONSE.done, octets(address));
  }
}

/** A name only: digits that parse as an address are refused. */
export function namedHost(text: string): NamedDestination | null {
  const host = parseHost(text, toAscii);
  return host.ok && host.value.name !== null ? host.value : null;
}

function octets(address: Address): Uint8Array {
  return new Uint8Array([24n, 16n, 8n, 0n].map((shift) => Number((address.number >> shift) & 255n)));
}
