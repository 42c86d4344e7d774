// `ambit log --refused`: what agents were refused, each request once: calls, and what programs tried while they ran. With the
// smallest grant that would have allowed it; nothing is granted here.
import type { ChainedEntry } from "../../core/ports/stores/log.ts";
import { visibleText } from "../terminal/cells.ts";
import { commandText } from "../terminal/command-text.ts";
import { numberIn, requestsOf, textIn } from "./details.ts";
import { fitColumn } from "./text.ts";

const requestColumnsMin = 12;

export interface RefusedRequest {
  readonly agent: string | null;
  readonly code: string | null;
  readonly request: string;
  readonly times: number;
  /** The smallest grant that would have allowed it; null where none can. */
  readonly suggest: string | null;
}

/** Of denied decisions, in the order of their first refusal. */
export function refusedRequests(entries: readonly ChainedEntry[]): readonly RefusedRequest[] {
  const found = new Map<string, RefusedRequest>();
  for (const { entry } of entries) {
    const { agent, code, more } = entry;
    const request = textIn(more, "need") ?? requestsOf(entry).at(-1) ?? "";
    const key = JSON.stringify([agent, code, request]);
    const times = (found.get(key)?.times ?? 0) + (numberIn(more, "times") ?? 1);
    found.set(key, { agent, code, request, times, suggest: textIn(more, "suggest") });
  }
  return [...found.values()];
}

/** With `columns` the request is cut to the line; the command is whole, because people copy it. */
export function refusedText(refused: RefusedRequest, columns?: number): string {
  const { agent, code, request, times, suggest } = refused;
  const often = times === 1 ? "" : ` (${times} times)`;
  const grant =
    suggest === null || agent === null
      ? ""
      : `\n  grant it: ${visibleText(commandText(["agents", "grant", agent, suggest]))}`;
  const before = `${visibleText(agent ?? "-")}  ${visibleText(code ?? "-")}  `;
  const room = columns === undefined ? null : Math.max(requestColumnsMin, columns - before.length - often.length);
  return `${before}${room === null ? visibleText(request) : fitColumn(request, room)}${often}${grant}`;
}
