// How a token is taken apart, and which verbs cannot be written as one.
import type { VerbEntry } from "../../authority/catalog.ts";
import { type Refusal, refuse } from "../../base/result.ts";
import { quoteText } from "../quote-text.ts";

/** The verb, and what is behind the first colon; null where there is no colon. */
export function splitToken(text: string): { readonly name: string; readonly scope: string | null } {
  const colon = text.indexOf(":");
  return colon < 0 ? { name: text, scope: null } : { name: text.slice(0, colon), scope: text.slice(colon + 1) };
}

export function resourceOf(verb: VerbEntry): string {
  return verb.verb.slice(0, verb.verb.indexOf("."));
}

/** Processes have a root and an argument vector, records a class and an id: neither fits behind one colon. */
export function refusedInTokens(verb: VerbEntry, scope: string | null): Refusal | null {
  const resource = resourceOf(verb);
  const plain = scope !== null && /^[\w./-]+$/.test(scope) ? scope : null;
  if (resource === "proc") {
    const cmds = verb.verb === "proc.exec" && plain !== null ? `,cmds=[${plain}]` : "";
    return refuse(
      "bad_value",
      `${verb.verb} cannot be written as a token: a process needs a root`,
      `${verb.verb}{in=.${cmds}}`,
    );
  }
  if (resource === "records" && scope !== null) {
    return refuse(
      "bad_value",
      `${verb.verb} has no scope in token notation: it needs classes and paths`,
      `${verb.verb}{classes=[${plain ?? "note"}]}`,
    );
  }
  if (verb.axes.length === 0 && scope !== null) return refuse("bad_value", `${verb.verb} takes no scope`, verb.verb);
  return scope === "" ? refuse("bad_value", `nothing may follow ${quoteText(`${verb.verb}:`)}`) : null;
}
