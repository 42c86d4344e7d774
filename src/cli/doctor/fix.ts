// `ambit doctor --fix`: mends words that are plainly wrong, shows the change and what it makes possible, and asks.

import type { Agent } from "../../agents/project/agent.ts";
import { type Change, differenceOf } from "../../agents/project/difference.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import { type Edit, mend } from "../../doctor/fixes.ts";
import type { Probe, ProbeAgent } from "../../doctor/probe.ts";
import { visibleText } from "../terminal/cells.ts";
import type { Paint } from "../terminal/paint.ts";
import type { DoctorOptions, DoctorPorts } from "./doctor.ts";

/** refused: a person refused, or none could be asked; the message says which. held: every edit would have widened. */
type Outcome = "written" | "refused" | "held" | "failed";

export interface FixReport {
  readonly agent: string;
  readonly file: string;
  readonly outcome: Outcome;
  readonly edits: readonly Edit[];
  readonly heldBack: readonly Edit[];
  /** What becomes possible by it. */
  readonly widened: readonly string[];
  readonly message: string | null;
}

export async function fixAgents(
  ports: DoctorPorts,
  probe: Probe,
  options: DoctorOptions,
): Promise<readonly FixReport[]> {
  const reports: FixReport[] = [];
  for (const agent of probe.agents) {
    // An org file is edited as a whole, by a person.
    if (agent.isMember === true || !agent.diagnostics.some(({ suggestion }) => suggestion !== null)) continue;
    const report = await fixAgent(ports, agent, probe, options);
    if (report === null) continue;
    reports.push(report);
    if (!options.json) ports.print(endText(report, ports.paint));
  }
  return reports;
}

async function fixAgent(
  ports: DoctorPorts,
  { id, source }: ProbeAgent,
  { pathSettings }: Probe,
  options: DoctorOptions,
): Promise<FixReport | null> {
  const before = ports.readAgent(source, id);
  const changes = (text: string): { readonly agent: Agent; readonly widened: readonly Change[] } => {
    const agent = ports.readAgent({ ...source, text }, id);
    return { agent, widened: differenceOf(before, agent, pathSettings.protectedPaths).widened };
  };
  // Without a person at the question nothing becomes possible, unless that was said too.
  const isAsked = !options.yes && !options.json;
  const mayWiden = isAsked || options.allowWidening;
  const { text, edits, heldBack } = mend(
    source.text,
    (other) => {
      if (mayWiden) return { diagnostics: ports.readAgent({ ...source, text: other }, id).diagnostics, widens: false };
      const { agent, widened } = changes(other);
      return { diagnostics: agent.diagnostics, widens: widened.length > 0 };
    },
    mayWiden,
  );
  if (edits.length === 0 && heldBack.length === 0) return null;
  const base = {
    agent: id,
    file: source.name,
    edits,
    heldBack,
    widened: edits.length === 0 ? [] : changes(text).widened.map(changeText),
    message: null,
  };
  if (edits.length === 0) return { ...base, outcome: "held" };
  if (!options.json) ports.print(fixText(base, ports.paint));
  const answer = options.yes ? true : isAsked ? await ports.confirm(question(base.widened.length)) : null;
  if (answer === null) return { ...base, outcome: "refused", message: unasked(base.widened.length) };
  if (!answer) return { ...base, outcome: "refused" };
  if (base.widened.length > 0 && !(await ports.mayWiden(id)))
    return { ...base, outcome: "refused", message: "it would widen grants, which this process may not do" };
  const written = ports.replace(source, text);
  return written.ok ? { ...base, outcome: "written" } : { ...base, outcome: "failed", message: written.message };
}

/** `--yes` alone would leave a widening alone. */
function unasked(widened: number): string {
  return `no terminal to ask at; to write it anyway: --yes${widened === 0 ? "" : " --allow-widening"}`;
}

function question(widened: number): string {
  return widened === 0 ? "Write this change?" : "Write this change, which allows the above?";
}

function changeText({ example, because }: Change): string {
  return example === null ? `something more (${because})` : requestText(example);
}

const changesShownMax = 12;

function fixText(
  { agent, file, edits, widened }: Pick<FixReport, "agent" | "file" | "edits" | "widened">,
  paint: Paint,
): string {
  const more = widened.length - changesShownMax;
  return [
    `${paint.strong(visibleText(agent))}  ${paint.dim(visibleText(file))}`,
    ...edits
      .toSorted((left, right) => left.line - right.line)
      .flatMap(({ line, was, now }) => [
        `  ${paint.dim(`line ${line}:`)} ${paint.bad(visibleText(was))} -> ${paint.good(visibleText(now))}`,
      ]),
    ...widened.slice(0, changesShownMax).map((text) => `  ${paint.bad("+ newly allowed:")} ${visibleText(text)}`),
    ...(more > 0 ? [`  ${paint.bad(`+ and ${more} more`)}`] : []),
  ].join("\n");
}

function endText({ agent, outcome, heldBack, message }: FixReport, paint: Paint): string {
  const lines: string[] = [];
  if (outcome === "written") lines.push(`  ${paint.good("written")}`);
  const why = message === null ? "" : `: ${visibleText(message)}`;
  if (outcome === "refused") lines.push(`  ${paint.dim("not written")}${why}`);
  if (outcome === "failed") lines.push(`  ${paint.bad("not written")}${why}`);
  for (const { line, was, now } of heldBack)
    lines.push(
      `  ${paint.warn("skipped")} ${visibleText(agent)} line ${line}: ${visibleText(was)} -> ${visibleText(now)} would widen grants; add --allow-widening, or omit --yes`,
    );
  return lines.join("\n");
}
