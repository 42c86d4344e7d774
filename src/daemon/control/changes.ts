// Control messages about drafts: list, show, land, discard, undo.
import { textIn } from "../../core/base/fields.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { DraftSummary } from "../../core/ports/drafts.ts";
import { type Entries, NO_ACTOR } from "../log/entries.ts";
import type { DaemonParts } from "../parts.ts";
import type { Exchange, MessageHandler } from "../rpc/serving.ts";
import type { Admission } from "./admission.ts";

const idCharactersMax = 128;

export function changesAnswers(
  { drafts, stores }: DaemonParts,
  admission: Admission,
  entries: Entries,
): readonly (readonly [string, MessageHandler])[] {
  const idIn = ({ value }: Exchange): string => textIn(value, "id", idCharactersMax) ?? "";
  /** INVARIANT: a person's decision about a draft is in the log before the result is reported. */
  const logged = async <T extends { readonly summary: DraftSummary }>(
    answer: Answer<T>,
    outcome: string,
    by: string | null,
  ): Promise<Answer<T>> => {
    if (!answer.ok) return answer;
    const { draft, agent, call, root, landed } = answer.value.summary;
    const more = { draft, agent, call, root, landed, by };
    const written = await stores.ledger.append([entries.make("control", NO_ACTOR, outcome, { of: call, more })]);
    return written.ok ? answer : refusal("audit_unavailable", `${outcome}, but this could not be written to the log`);
  };
  return [
    ["changes.list", async ({ value }) => ({ ok: true, value: { drafts: drafts.list(value["all"] === true) } })],
    ["changes.show", (exchange) => drafts.show(idIn(exchange))],
    [
      "changes.land",
      async (exchange) => {
        const { digest = null } = exchange.value;
        if (digest !== null && typeof digest !== "string") return BAD;
        const admitted = await admission.approving(exchange);
        if (!admitted.ok) return admitted;
        const { by, level } = admitted.value;
        return logged(await drafts.land(idIn(exchange), digest, level), "changes landed", by);
      },
    ],
    [
      "changes.discard",
      async (exchange) => {
        // This drops pending changes and the originals of landed ones, so it needs a person.
        const admitted = await admission.approving(exchange);
        if (!admitted.ok) return admitted;
        return logged(await drafts.discard(idIn(exchange)), "changes discarded", admitted.value.by);
      },
    ],
    [
      "changes.undo",
      async (exchange) => {
        const admitted = await admission.approving(exchange);
        if (!admitted.ok) return admitted;
        return logged(await drafts.undo(idIn(exchange)), "changes undone", admitted.value.by);
      },
    ],
  ];
}

const BAD = refusal("invalid_input", "the message cannot be parsed");
