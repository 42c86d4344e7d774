// Control messages about approvals and presence.
import { onAbort } from "../../core/base/abort.ts";
import { numberIn, textIn, textsIn } from "../../core/base/fields.ts";
import { refusal } from "../../core/ports/daemon/exchange.ts";
import { APPROVAL_STATES, type Approval, type ApprovalState } from "../../core/ports/stores/approval-store.ts";
import { cutJson, cutText } from "../../log/chain/cut.ts";
import type { ApprovalRequests } from "../calls/approval-requests.ts";
import { type Entries, NO_ACTOR } from "../log/entries.ts";
import type { DaemonParts } from "../parts.ts";
import type { MessageHandler } from "../rpc/serving.ts";
import type { Admission } from "./admission.ts";

const listedMax = 1000;
const idCharactersMax = 128;
const reasonCharactersMax = 2000;
const passphraseCharactersMax = 1024;
const PERSON = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function approvalAnswers(
  parts: DaemonParts,
  approvalRequests: ApprovalRequests,
  admission: Admission,
  entries: Entries,
): readonly (readonly [string, MessageHandler])[] {
  const { stores, now, presence } = parts;
  const id = (value: Parameters<MessageHandler>[0]["value"]): string => textIn(value, "id", idCharactersMax) ?? "";
  return [
    [
      "approvals.list",
      async ({ value }) => {
        const states = textsIn(value, "states", APPROVAL_STATES.length);
        const count = numberIn(value, "count", 1, listedMax);
        if (states === null || count === null || !states.every(isState)) return BAD;
        const found = await stores.approvals.list(states, count);
        return found.ok ? { ok: true, value: { approvals: found.value.map(cut) } } : refusal(found.code, found.message);
      },
    ],
    ["approvals.show", ({ value }) => approvalRequests.show(id(value))],
    [
      "approvals.approve",
      async (exchange) => {
        const { value } = exchange;
        const step = textIn(value, "step", 256);
        const uses = numberIn(value, "uses", 1, Number.MAX_SAFE_INTEGER);
        const milliseconds = numberIn(value, "milliseconds", 1, Number.MAX_SAFE_INTEGER);
        if (step === null || uses === null || milliseconds === null) return BAD;
        const admitted = await admission.approving(exchange);
        if (!admitted.ok) return admitted;
        return approvalRequests.approve(id(value), { ...admitted.value, at: now(), step, uses, milliseconds });
      },
    ],
    [
      "approvals.refuse",
      async (exchange) => {
        const reason = textIn(exchange.value, "reason", reasonCharactersMax);
        const admitted = admission.narrowing(exchange);
        if (!admitted.ok) return admitted;
        return reason === null ? BAD : approvalRequests.refuse(id(exchange.value), reason, admitted.value.by);
      },
    ],
    [
      "approvals.reopen",
      async (exchange) => {
        // A refusal can only be withdrawn by an approver who could have approved.
        const admitted = await admission.approving(exchange);
        return admitted.ok ? approvalRequests.reopen(id(exchange.value), admitted.value.by) : admitted;
      },
    ],
    [
      "approvals.watch",
      async (exchange) => {
        const tell = (approval: Approval): void => exchange.tell({ approval: cut(approval) as never });
        const stop = approvalRequests.watch(tell);
        const waiting = await stores.approvals.list(["pending"], listedMax);
        if (waiting.ok) for (const approval of [...waiting.value].reverse()) tell(approval);
        return new Promise((give) =>
          onAbort(exchange.signal, () => {
            stop();
            give({ ok: true, value: {} });
          }),
        );
      },
    ],
    [
      "presence.set",
      async (exchange) => {
        const name = textIn(exchange.value, "name", 64);
        const passphrase = textIn(exchange.value, "passphrase", passphraseCharactersMax);
        if (name === null || !PERSON.test(name) || passphrase === null || passphrase.length < 8)
          return refusal("invalid_input", "needs a name, and a passphrase of at least 8 characters");
        // An enrolled person vouches for a new one, and for a change of their own passphrase.
        const isFirst = presence.names().length === 0;
        const admitted = await admission.widening(exchange);
        if (!admitted.ok) return admitted;
        if (!isFirst && admitted.value.level < 2)
          return refusal(
            "presence_required",
            "a person who already has a passphrase must confirm presence",
            "--presence NAME",
          );
        if (presence.names().includes(name) && admitted.value.by !== name)
          return refusal(
            "presence_required",
            `only ${name} can change the passphrase of ${name}`,
            `--presence ${name}`,
          );
        const more = { name, by: admitted.value.by };
        return presence.set(name, passphrase, entries.make("control", NO_ACTOR, "presence set", { more }));
      },
    ],
    ["presence.list", async () => ({ ok: true, value: { names: presence.names() } })],
    [
      "presence.delete",
      async (exchange) => {
        const name = textIn(exchange.value, "name", 64);
        if (name === null) return BAD;
        const admitted = await admission.widening(exchange);
        if (!admitted.ok) return admitted;
        if (admitted.value.level < 2 || admitted.value.by !== name)
          return refusal(
            "presence_required",
            `only ${name} can delete the passphrase of ${name}`,
            `--presence ${name}`,
          );
        return presence.delete(name, entries.make("control", NO_ACTOR, "presence deleted", { more: { name } }));
      },
    ],
  ];
}

const BAD = refusal("invalid_input", "the message cannot be parsed");

const shownCharactersMax = 500;

/** A list shows the beginnings; `show` shows everything. */
function cut(approval: Approval): Approval {
  const texts = (all: readonly string[]): readonly string[] =>
    all.slice(0, 8).map((text) => cutText(text, shownCharactersMax));
  const { arguments: given, requests, asking } = approval;
  const shown = cutJson(given, { characters: shownCharactersMax, elements: 16, depth: 4 });
  return { ...approval, arguments: shown as Approval["arguments"], requests: texts(requests), asking: texts(asking) };
}

function isState(text: string): text is ApprovalState {
  return (APPROVAL_STATES as readonly string[]).includes(text);
}
