// `ambit diff A B`: what became possible and what stopped being possible, each with a request as the example.

import type { AgentSet, LoadedAgent, SetResult } from "../../agents/disk/loaded-agent.ts";
import { agentRefused } from "../../agents/project/agent.ts";
import { type Change, differenceOf } from "../../agents/project/difference.ts";
import type { PathSettings } from "../../core/authority/axes/path.ts";
import { compactText } from "../../core/notation/printer.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import { place } from "../../core/notation/source.ts";
import type { Step } from "../../core/ports/progress.ts";
import type { CliPorts } from "../ports.ts";
import { visibleText as visible } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import type { Paint } from "../terminal/paint.ts";
import { progressOf } from "../terminal/progress.ts";
import { renderDiagnostic } from "../terminal/render.ts";

export interface DiffOptions {
  readonly json: boolean;
  readonly allowWidening: boolean;
}

export interface AgentDiff {
  readonly agent: string;
  readonly widened: readonly ShownChange[];
  readonly narrowed: readonly ShownChange[];
}

interface ShownChange {
  readonly grant: string | null;
  /** Why a grant exists that is not written in the record. */
  readonly implied: string | null;
  readonly example: string | null;
  readonly because: Change["because"];
  readonly file: string | null;
  readonly line: number | null;
}

export function diff(ports: CliPorts, from: string, to: string, options: DiffOptions): ExitCode {
  const progress = progressOf(ports, options);
  const load = (name: string): SetResult => progress.over("reading agents", (step) => ports.loadSet(name, step));
  const before = load(from);
  const after = load(to);
  for (const side of [before, after]) {
    if (side.ok) continue;
    if (options.json) ports.print(jsonLine({ error: { message: side.message, fix: side.fix } }));
    else
      ports.printError(
        `${ports.paint.bad("error")}: ${side.message}${side.fix === null ? "" : `\n  fix: ${side.fix}`}`,
      );
    return EXIT.error;
  }
  if (!before.ok || !after.ok) return EXIT.error;
  const { protectedPaths } = ports.reading.pathSettings;
  const diffs = progress.over("comparing agents", (step) =>
    before.isOneFile && after.isOneFile
      ? compareFiles(before.value, after.value, protectedPaths)
      : compareSets(before.value, after.value, protectedPaths, step),
  );
  const widened = diffs.some((one) => one.widened.length > 0);
  const invalid = [...after.value.values()].filter(({ agent }) => agent.refused);
  if (options.json) ports.print(jsonLine({ widened, agents: diffs }));
  else {
    for (const { agent, source } of after.value.values()) {
      for (const diagnostic of agent.diagnostics)
        if (diagnostic.severity === "error") ports.printError(renderDiagnostic(diagnostic, source, ports.paint));
    }
    for (const one of diffs) ports.print(diffText(one, ports.paint));
    if (diffs.length === 0) ports.print("no agent may do more or less");
  }
  if (invalid.length > 0) return EXIT.invalidPolicy;
  return widened && !options.allowWidening ? EXIT.widened : EXIT.ok;
}

/** Two single files are compared with each other whatever they are called; sets by the ids of their agents. */
function compareFiles(
  before: AgentSet,
  after: AgentSet,
  protectedPaths: PathSettings["protectedPaths"],
): readonly AgentDiff[] {
  const [[old], [now]] = [[...before.values()], [...after.values()]];
  return comparePairs([[now?.agent.id ?? "", old, now]], protectedPaths);
}

export function compareSets(
  before: AgentSet,
  after: AgentSet,
  protectedPaths: PathSettings["protectedPaths"],
  step: Step = () => {},
): readonly AgentDiff[] {
  const ids = [...new Set([...before.keys(), ...after.keys()])].sort();
  return comparePairs(
    ids.map((id) => [id, before.get(id), after.get(id)]),
    protectedPaths,
    step,
  );
}

function comparePairs(
  pairs: readonly (readonly [string, LoadedAgent | undefined, LoadedAgent | undefined])[],
  protectedPaths: PathSettings["protectedPaths"],
  step: Step = () => {},
): readonly AgentDiff[] {
  const noAgent = agentRefused("none", "record", []);
  return pairs.flatMap(([id, old, now], at) => {
    step(at, pairs.length);
    const { widened, narrowed } = differenceOf(old?.agent ?? noAgent, now?.agent ?? noAgent, protectedPaths);
    const one = {
      agent: id,
      widened: widened.map((change) => shown(change, now)),
      narrowed: narrowed.map((change) => shown(change, old)),
    };
    return one.widened.length + one.narrowed.length === 0 ? [] : [one];
  });
}

function shown({ grant, example, because }: Change, loaded: LoadedAgent | undefined): ShownChange {
  const span = grant?.span ?? null;
  const texts = loaded === undefined ? [] : [loaded.source, ...(loaded.agent.around ?? [])];
  const text = texts.find(({ name }) => name === span?.source);
  return {
    grant: grant === null ? null : compactText(grant),
    implied: grant?.implied ?? null,
    example: example === null ? null : requestText(example),
    because,
    // What is about no grant is about the file; a grant that no text says stands in none.
    file: text?.name ?? (grant === null ? (loaded?.source.name ?? null) : null),
    line: span === null || text === undefined ? null : place(text, span.start).line,
  };
}

/** INVARIANT: whatever the texts say, no control character of theirs reaches the terminal. */
export function diffText({ agent, widened, narrowed }: AgentDiff, paint: Paint): string {
  const line = (sign: string, change: ShownChange): string => {
    const what = change.example === null ? WORDS[change.because] : visible(change.example);
    const why = change.example !== null && change.because !== "request" ? `  (${WORDS[change.because]})` : "";
    const implied = change.line === null && change.implied !== null ? ` (${visible(change.implied)})` : "";
    const by = change.grant === null ? "" : `\n      by ${visible(change.grant)}${implied}`;
    const at =
      change.file === null
        ? ""
        : `  ${paint.dim(`${visible(change.file)}${change.line === null ? "" : `:${change.line}`}`)}`;
    return `  ${sign} ${what}${why}${by}${at}`;
  };
  return [
    paint.strong(visible(agent)),
    ...widened.map((change) => line(paint.bad("+ now allowed:"), change)),
    ...narrowed.map((change) => line(paint.good("- no longer allowed:"), change)),
  ].join("\n");
}

/** A change in one line: the grant, why it matters where that is not the grant itself, and where it is written. */
export function changeLine({ grant, because, file, line }: ShownChange, paint: Paint): string {
  const why = because === "request" ? "" : `  (${WORDS[because]})`;
  const at = file === null ? "" : `  ${paint.dim(`${visible(file)}${line === null ? "" : `:${line}`}`)}`;
  return `${grant === null ? "" : visible(grant)}${why}${at}`;
}

const WORDS: Readonly<Record<Change["because"], string>> = {
  request: "",
  ask: "without the approval required before",
  expires: "after it expired before",
  clean: "after untrusted content was read",
  pass: "for another purpose (use or delegation)",
  budget: "more often",
  generation: "in another generation",
  mode: "its mode changed",
  approvers: "with approval of fewer or other people",
  land: "changes of its programs land without review",
  users: "for users without a record",
  policy: "a policy denies less of what other agents delegate to it",
  unknown: "could not be proved to be allowed before",
};
