// `ambit agents new | rename | delete | undo`: records as files, each change shown, asked about and taken back.

import type { FileChangeResult } from "../../agents/disk/record-file-types.ts";
import { more } from "../../agents/edit/edit-check.ts";
import { scalarText } from "../../agents/edit/edit-scalar.ts";
import { applyReplacements } from "../../agents/edit/edit-text.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { agentIdOf } from "../../core/base/agent-id.ts";
import { compactText } from "../../core/notation/printer.ts";
import { newestPreset, PRESETS } from "../../core/notation/record/presets.ts";
import { readRecord } from "../../core/notation/record/record.ts";
import type { Source } from "../../core/notation/source.ts";
import { entryOf } from "../../core/notation/tree.ts";
import { changedLines } from "../diff/text-change.ts";
import { visibleText } from "../terminal/cells.ts";
import { commandText } from "../terminal/command-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { confirmation, fail } from "../terminal/problems.ts";
import { renderDiagnostic } from "../terminal/render.ts";
import { notAdmitted } from "../trust/admit.ts";
import { type EditOptions, notFound } from "./edit.ts";
import { pickGrant } from "./picker.ts";
import type { AgentsPorts } from "./ports.ts";
import { printLines } from "./report.ts";
import { grantLine, sortedByRisk } from "./risk.ts";

export interface NewOptions extends EditOptions {
  readonly extends?: string;
  readonly from?: string;
}

export async function agentsNew(ports: AgentsPorts, id: string, options: NewOptions): Promise<ExitCode> {
  const preset = options.extends === undefined ? null : presetName(options.extends);
  if (options.extends !== undefined && preset === null)
    return fail(
      ports,
      options,
      EXIT.usage,
      `no preset called ${JSON.stringify(options.extends)}`,
      [...PRESETS.keys()].join(", "),
    );
  const imported = options.from === undefined ? null : ports.personality(options.from);
  if (imported?.ok === false) {
    if (!options.json)
      for (const { diagnostic, source } of imported.diagnostics)
        ports.printError(renderDiagnostic(diagnostic, source, ports.paint));
    return fail(ports, options, EXIT.invalidPolicy, imported.message, null);
  }
  if (imported !== null && preset !== null)
    return fail(ports, options, EXIT.usage, "--extends and --from cannot be combined", null);
  if (!options.json) for (const note of imported?.notes ?? []) ports.print(ports.paint.warn(note));
  const picked = preset === null && imported === null ? await pickedGrants(ports, options) : [];
  if (picked === null) return fail(ports, options, EXIT.error, "nothing was changed", null);
  const specs = imported?.specs ?? picked;
  const text = specs.length === 0 && imported === null ? newRecord(id, preset) : recordOf(id, specs, instructions(id));
  const words = [
    ...(options.extends === undefined ? [] : ["--extends", options.extends]),
    ...(options.from === undefined ? [] : ["--from", options.from]),
  ];
  return createRecord(ports, id, text, { action: "new", done: `created ${id}`, words }, options);
}

/** At a terminal a person chooses grants one after another, from low risk to high. Null: the person went away. */
async function pickedGrants(ports: AgentsPorts, { yes, json, dryRun }: NewOptions): Promise<readonly string[] | null> {
  const specs: string[] = [];
  if (!ports.terminal.isInteractive || yes || json || dryRun) return specs;
  while (specs.length < grantsPickedMax) {
    const spec = await pickGrant(ports, { folder: ".", isOptional: true });
    if (spec === null) return null;
    if (spec === "") break;
    if (!specs.includes(spec)) specs.push(spec);
    ports.print(ports.paint.dim(`  ${visibleText(spec)}`));
  }
  return specs;
}

const grantsPickedMax = 64;

interface NewRecord {
  readonly action: "new" | "keep";
  readonly done: string;
  /** Options of the command, to repeat it. */
  readonly words?: readonly string[];
}

/** Shows what the record grants, asks, and writes it. */
export async function createRecord(
  ports: AgentsPorts,
  id: string,
  text: string,
  { action, done, words = [] }: NewRecord,
  options: EditOptions,
): Promise<ExitCode> {
  const grants = grantsOf(ports, id, { name: id, text });
  if (!options.json) {
    for (const grant of sortedByRisk(grants)) ports.print(grantLine(ports.paint, grant, ports.moment.now));
  }
  // An agent that may do nothing is no reason for a question.
  const isEmpty = grants.length === 0;
  const question = action === "new" ? "Create this agent?" : "Keep this agent?";
  const stop = await settle(
    ports,
    isEmpty ? { ...options, yes: true } : options,
    ["agents", action, id, ...words],
    question,
  );
  if (stop !== null) return stop === "dry" ? dry(ports, options, { agent: id, action, text }) : stop;
  const refused = isEmpty ? null : await notAdmitted(ports, `agents ${action}`, id, options);
  if (refused !== null) return refused;
  return ended(ports, options, ports.files.create(id, text), { agent: id, action }, done);
}

export async function agentsRename(
  ports: AgentsPorts,
  name: string,
  next: string,
  options: EditOptions,
): Promise<ExitCode> {
  const found = ports.files.read(name);
  if (!found.ok) return notFound(ports, name, found.message, options);
  if (ports.agentIds().includes(next)) return fail(ports, options, EXIT.error, `${next} already exists`, null);
  const text = withId(ports, name, found.value, next);
  if (!options.json)
    ports.print(
      `rename ${visibleText(name)} to ${visibleText(next)}; references to ${visibleText(name)} in other records are not changed`,
    );
  const stop = await settle(ports, options, ["agents", "rename", name, next], "Rename this agent?");
  const data = { agent: next, action: "rename", from: name };
  if (stop !== null) return stop === "dry" ? dry(ports, options, data) : stop;
  const refused = await notAdmitted(ports, "agents rename", `${name} ${next}`, options);
  if (refused !== null) return refused;
  const created = ports.files.create(next, text);
  if (created.kind !== "done") return ended(ports, options, created, data, "");
  return ended(ports, options, ports.files.remove(name, found.value.text), data, `renamed ${name} to ${next}`);
}

export async function agentsDelete(ports: AgentsPorts, name: string, options: EditOptions): Promise<ExitCode> {
  const found = ports.files.read(name);
  if (!found.ok) return notFound(ports, name, found.message, options);
  const grants = grantsOf(ports, name, found.value);
  if (!options.json) {
    ports.print(`${ports.paint.strong(visibleText(name))}  ${ports.paint.dim(visibleText(found.value.name))}`);
    for (const grant of sortedByRisk(grants)) ports.print(grantLine(ports.paint, grant, ports.moment.now));
  }
  const stop = await settle(ports, options, ["agents", "delete", name], "Delete this agent?");
  const data = { agent: name, action: "delete", file: found.value.name };
  if (stop !== null) return stop === "dry" ? dry(ports, options, data) : stop;
  return ended(ports, options, ports.files.remove(name, found.value.text), data, `deleted ${name}`);
}

export async function agentsUndo(ports: AgentsPorts, name: string, options: EditOptions): Promise<ExitCode> {
  const step = ports.files.step(name);
  if (step === null)
    return fail(ports, options, EXIT.error, `no edit of ${name} to undo, or the record changed since`, null);
  const [now, before] = [step.now, step.before].map((source) => (source === null ? [] : grantsOf(ports, name, source)));
  const { protectedPaths } = ports.reading.pathSettings;
  const gained = more(now ?? [], before ?? [], protectedPaths).flatMap(({ grant }) =>
    grant === null ? [] : [compactText(grant)],
  );
  const lines = changedLines(step.now?.text ?? "", step.before?.text ?? "");
  const { paint } = ports;
  if (!options.json) {
    printLines(ports, lines);
    for (const grant of gained) ports.print(`${paint.warn("grants again")} ${visibleText(grant)}`);
    if (step.before === null) ports.print("the record was new and is removed");
  }
  const stop = await settle(ports, options, ["agents", "undo", name], "Undo the last edit?");
  const data = { agent: name, action: "undo", lines, gained };
  if (stop !== null) return stop === "dry" ? dry(ports, options, data) : stop;
  const refused = gained.length === 0 ? null : await notAdmitted(ports, "agents undo", name, options);
  if (refused !== null) return refused;
  return ended(ports, options, ports.files.undo(name, step), data, `undid the last edit of ${name}`);
}

/** Null: go on. Else how it ends, or that nothing is to be written. */
async function settle(
  ports: AgentsPorts,
  options: EditOptions,
  words: readonly string[],
  question: string,
): Promise<ExitCode | "dry" | null> {
  if (options.dryRun) return "dry";
  return confirmation(ports, options, question, commandText([...words, "--yes"]));
}

function dry(ports: AgentsPorts, options: EditOptions, data: object): ExitCode {
  if (options.json) ports.print(jsonLine({ ...data, written: false }));
  else ports.print(ports.paint.dim("not written: --dry-run"));
  return EXIT.ok;
}

function ended(
  ports: AgentsPorts,
  options: EditOptions,
  done: FileChangeResult<string>,
  data: object,
  message: string,
): ExitCode {
  if (done.kind === "refused") return fail(ports, options, EXIT.error, done.refusal, null);
  if (done.kind === "failed") return fail(ports, options, EXIT.error, done.message, null);
  if (options.json) ports.print(jsonLine({ ...data, written: true }));
  else ports.print(ports.paint.good(visibleText(message)));
  return EXIT.ok;
}

function presetName(text: string): string | null {
  return PRESETS.has(text) ? text : newestPreset(text);
}

function newRecord(id: string, preset: string | null): string {
  const lines = [`id: ${scalarText(id, true)}`];
  if (preset === null) lines.push("capabilities: []");
  else
    lines.push("# The folder in which the preset reads, writes and runs programs.", "sandbox: .", `extends: ${preset}`);
  return `---\n${lines.join("\n")}\n---\n\n${instructions(id)}\n`;
}

function instructions(id: string): string {
  return `Instructions for ${id}.`;
}

export function recordOf(id: string, specs: readonly string[], body: string): string {
  const list = specs.map((spec) => `  - ${scalarText(spec, false)}\n`).join("");
  return `---\nid: ${scalarText(id, true)}\ncapabilities:${specs.length === 0 ? " []\n" : `\n${list}`}---\n\n${body.trimStart()}\n`;
}

/** The id in the record follows, where the record names one. */
function withId(ports: AgentsPorts, name: string, source: Source, next: string): string {
  const { tree } = ports.editContext(name).read(source);
  const entry = tree?.kind === "map" ? entryOf(tree, "id") : null;
  if (entry === null || entry.value.kind !== "scalar" || agentIdOf(String(entry.value.value)) !== name)
    return source.text;
  const like = source.text.slice(entry.value.span.start, entry.value.span.end);
  const text =
    /^[A-Za-z0-9]/.test(like) && /^[A-Za-z][A-Za-z0-9_./-]*$/.test(next) ? next : scalarText(next, true, like);
  return applyReplacements(source.text, [{ ...entry.value.span, text }]) ?? source.text;
}

function grantsOf(ports: AgentsPorts, name: string, source: Source): readonly Grant[] {
  const context = ports.editContext(name);
  const { tree } = context.read(source);
  return tree === null ? [] : readRecord(tree, context.reading).grants;
}
