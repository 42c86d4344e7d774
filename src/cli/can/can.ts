// `ambit can <agent> <request>`: what would be decided, by which line, and what would change the answer.

import type { Span } from "../../core/authority/grant.ts";
import { decide } from "../../core/gate/decide.ts";
import type { Diagnostic } from "../../core/notation/diagnostic.ts";
import { readRequest } from "../../core/notation/request/request.ts";
import { place, type Source } from "../../core/notation/source.ts";
import type { DecisionView } from "../../core/ports/daemon/holding-view.ts";
import { decisionNow, type HoldingPorts, LEFT_OUT } from "../agents/holding.ts";
import type { CliPorts } from "../ports.ts";
import { visibleText as visible } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import type { Paint } from "../terminal/paint.ts";
import { renderDiagnostic, renderSpan } from "../terminal/render.ts";
import { NO_SPECIAL_GRANT } from "../why/text.ts";
import { changeClass } from "./change-class.ts";
import { trustLine, underTrust } from "./untrusted.ts";
import { showVerdict, type VerdictView } from "./verdict.ts";

export interface CanOptions {
  readonly json: boolean;
  readonly user?: string;
  readonly pledge?: readonly string[];
}

type CanPorts = HoldingPorts &
  Pick<CliPorts, "changeClass" | "loadAgent" | "moment" | "paint" | "print" | "printError" | "reading">;

export async function can(
  ports: CanPorts,
  name: string,
  words: readonly string[],
  options: CanOptions,
): Promise<ExitCode> {
  const loaded = ports.loadAgent(name);
  const { user = null, pledge = null } = options;
  const now = await decisionNow(ports, { agent: name, user, pledge }, words);
  if (now !== null && !now.ok && now.code !== "unknown_agent" && now.code !== "invalid_input")
    return fail(
      ports,
      options,
      now.code === "unknown_user" ? EXIT.deny : EXIT.daemon,
      `${now.code}: ${now.message}`,
      now.fix,
    );
  if (now === null && (user !== null || pledge !== null))
    return fail(
      ports,
      options,
      EXIT.daemon,
      "--user and --pledge are decided by the daemon, which is not running",
      "ambit daemon start",
    );
  if (now !== null && !now.ok && (user !== null || pledge !== null))
    return fail(ports, options, EXIT.error, now.message, now.fix);
  // An agent that another agent created has no file.
  if (!loaded.ok && now?.ok === true) return tellDecision(ports, name, now.value, options);
  // The daemon knows such an agent, and it is the request that cannot be read.
  if (!loaded.ok && now?.ok === false && now.code === "invalid_input")
    return fail(ports, options, EXIT.usage, now.message, now.fix);
  if (!loaded.ok) return fail(ports, options, EXIT.error, loaded.message, loaded.fix);
  const { agent, source, trust } = loaded.value;
  const texts = [source, ...(agent.around ?? [])];
  const asked = readRequest(words, { ...ports.reading, workingRoot: agent.workingRoot });
  if (!asked.ok) return fail(ports, options, EXIT.usage, asked.message, asked.fix ?? null);
  const decided = decide(
    { agent: agent.id, authority: agent.authority },
    asked.value,
    ports.moment,
    ports.reading.pathSettings.protectedPaths,
  );
  const verdict = underTrust(trust, asked.value, decided, ports);
  const decidedShown = showVerdict(agent, asked.value, verdict, ports.moment);
  // What the gate denies is told as that.
  const change = decidedShown.outcome === "deny" ? "free" : changeClass(ports, agent.authority, asked.value);
  const isHeld = change === "never";
  const isTrigger = change === "ask";
  const shown: VerdictView = isHeld
    ? { ...decidedShown, outcome: "deny", code: HELD, level: null }
    : isTrigger && decidedShown.outcome === "allow"
      ? { ...decidedShown, outcome: "ask", level: "ask" }
      : decidedShown;
  // The daemon decides by everything that counts now; where it agrees, the file says it best. A user or a pledge is not in it.
  const isPlain = user === null && pledge === null;
  if (now?.ok === true && !isHeld && !(isPlain && isSame(now.value, decidedShown)))
    return tellDecision(ports, agent.id, now.value, options);
  if (options.json)
    ports.print(
      jsonLine({
        leftOut: now === null ? LEFT_OUT : null,
        agent: agent.id,
        ...withPlaces(shown, texts),
        held: isHeld ? HELD : null,
        trust: trust?.status.kind ?? null,
        diagnostics: agent.diagnostics.map((one) => showDiagnostic(one, texts)),
      }),
    );
  else {
    for (const diagnostic of agent.diagnostics)
      ports.printError(renderDiagnostic(diagnostic, textOf(diagnostic.span, texts) ?? source, ports.paint));
    const line = trustLine(agent.id, trust);
    if (line !== null) ports.printError(`${ports.paint.warn("warning")}: ${line}`);
    ports.print(sentence(agent.id, name, shown, source, ports.paint, agent.around));
    if (isHeld) ports.print("  granted, but this path is protected from tools; edit it yourself");
    if (isTrigger)
      ports.print("  granted, but programs on this machine execute or obey this file: every change needs approval");
    // Where the project has to be trusted first, that is the one thing to do.
    if (now === null && shown.code !== "untrusted_policy") ports.printError(ports.paint.dim(LEFT_OUT));
  }
  return agent.refused ? EXIT.invalidPolicy : exitOf(shown);
}

function isSame({ outcome, code, level }: DecisionView, local: VerdictView): boolean {
  return outcome === local.outcome && code === local.code && level === local.level;
}

function tellDecision(ports: CanPorts, agent: string, view: DecisionView, { json }: CanOptions): ExitCode {
  const { outcome, request, code, level, reason, link, by } = view;
  if (json) ports.print(jsonLine({ leftOut: null, agent, ...view, nearest: null, suggest: null }));
  else {
    const { paint } = ports;
    const what = `${visible(agent)}  ${visible(request)}`;
    const word = { allow: paint.good("allow"), ask: `${paint.warn("ask")}  `, deny: `${paint.bad("deny")} ` }[outcome];
    const end = outcome === "ask" ? `  needs ${level === "presence" ? "approval with presence" : "approval"}` : "";
    ports.print(
      [
        `${word} ${what}${end}${code === null ? "" : `  ${paint.strong(code)}`}`,
        ...new Set(
          by.map(
            (one) =>
              `  by ${visible(one.grant)}  (${visible(one.link)}${one.at === null ? "" : `, ${visible(one.at)}`})`,
          ),
        ),
        ...(link === null ? [] : [`  denied by ${visible(link)}`]),
        ...(reason === null ? [] : [`  reason: ${visible(reason)}`]),
        ...(code === null ? [] : [`  ambit explain ${code}`]),
      ].join("\n"),
    );
  }
  return exitOf({ outcome, code });
}

/** What a tool answers that is asked to change a protected name. */
const HELD = "self_modification";

function exitOf(shown: Pick<VerdictView, "outcome" | "code">): ExitCode {
  if (shown.outcome === "allow") return EXIT.ok;
  if (shown.outcome === "ask") return EXIT.ask;
  if (shown.code === "untrusted_policy") return EXIT.notTrusted;
  return shown.code === "expired" ? EXIT.expired : EXIT.deny;
}

function fail(ports: CanPorts, options: CanOptions, exit: ExitCode, message: string, fix: string | null): ExitCode {
  if (options.json) ports.print(jsonLine({ error: { message, fix } }));
  else
    ports.printError(
      `${ports.paint.bad("error")}: ${visible(message)}${fix === null ? "" : `\n  fix: ${visible(fix)}`}`,
    );
  return exit;
}

/** Spans become file, line and column: what a person or an editor can open. */
function withPlaces(shown: VerdictView, texts: readonly Source[]): object {
  const grantAt = <T extends { readonly span: VerdictView["by"][number]["span"] }>({ span, ...rest }: T): object => ({
    ...rest,
    ...at(span, texts),
  });
  return { ...shown, by: shown.by.map(grantAt), nearest: shown.nearest === null ? null : grantAt(shown.nearest) };
}

/** A line is counted in the text the span stands in; that of a trusted version is not at hand here. */
function at(
  span: Span | null,
  texts: readonly Source[],
): { readonly file: string; readonly line: number; readonly column: number } | null {
  const source = textOf(span, texts);
  return span === null || source === null ? null : { file: source.name, ...place(source, span.start) };
}

function textOf(span: Span | null, texts: readonly Source[]): Source | null {
  return texts.find(({ name }) => name === span?.source) ?? null;
}

function placeLines(span: Span | null, texts: readonly Source[], paint: Paint): readonly string[] {
  const source = textOf(span, texts);
  return source === null ? [] : renderSpan(span, source, paint);
}

function showDiagnostic(
  { severity, code, message, span, suggestion, fix }: Diagnostic,
  texts: readonly Source[],
): object {
  return { severity, code, message, ...at(span, texts), suggestion, fix };
}

/** INVARIANT: whatever the agent's text or the request says, no control character of theirs reaches the terminal. */
export function sentence(
  agent: string,
  name: string,
  shown: VerdictView,
  source: Source,
  paint: Paint,
  around: readonly Source[] = [],
): string {
  const texts = [source, ...around];
  const who = visible(agent);
  const what = `${who}  ${visible(shown.request)}`;
  const lines: string[] = [];
  if (shown.outcome === "deny") lines.push(`${paint.bad("deny")}  ${what}  ${paint.strong(shown.code ?? "")}`);
  else if (shown.outcome === "ask")
    lines.push(
      `${paint.warn("ask")}   ${what}  needs ${shown.level === "presence" ? "approval with presence" : "approval"}`,
    );
  else lines.push(`${paint.good("allow")} ${what}`);
  for (const by of shown.by) lines.push(`  by ${grantText(by)}`, ...placeLines(by.span, texts, paint));
  if (shown.nearest !== null) {
    const short = shown.nearest.axis === null ? "" : ` does not match on ${shown.nearest.axis}`;
    lines.push(`  nearest ${grantText(shown.nearest)}${short}`, ...placeLines(shown.nearest.span, texts, paint));
  }
  if (shown.deniedBy !== null) lines.push(`  denied by ${visible(shown.deniedBy)}: no grant to the agent allows it`);
  else if (shown.isPolicyChange) lines.push("  no grant allows it: tools never change .ambit; edit the file yourself");
  if (shown.exceeds !== null) lines.push(`  the receiver could do this, but ${who} cannot: ${visible(shown.exceeds)}`);
  if (shown.unenforceable !== null) {
    lines.push(`  ${visible(shown.unenforceable.message)}`);
    if (shown.unenforceable.fix !== null) lines.push(`  fix: ${visible(shown.unenforceable.fix)}`);
  }
  if (shown.suggest !== null)
    lines.push(`  smallest grant that would allow it: ${paint.strong(visible(shown.suggest))}`);
  if (shown.outside !== null)
    lines.push(
      `  no grant can cover it: it is outside ${visible(shown.outside)}; widen \`sandbox:\` in the record or its configuration first`,
    );
  if (shown.special) lines.push(`  ${NO_SPECIAL_GRANT}`);
  if (shown.outcome === "deny")
    lines.push(paint.dim(`  ambit explain ${shown.code}${name === agent ? "" : `   (agent from ${visible(name)})`}`));
  return lines.join("\n");
}

function grantText({ grant, implied }: { readonly grant: string; readonly implied: string | null }): string {
  return visible(implied === null ? grant : `${grant} (${implied})`);
}
