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
import { shown } from "../terminal/cells.ts";
import { commandText } from "../terminal/command-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail } from "../terminal/problems.ts";
import { renderDiagnostic } from "../terminal/render.ts";
import { notAdmitted } from "../trust/admit.ts";
import { type EditOptions, notFound } from "./edit.ts";
import { pickGrant } from "./picker.ts";
import { printLines } from "./report.ts";
import { grantLine, sortedByRisk } from "./risk.ts";
import type { AgentsWorld } from "./world.ts";

export interface NewOptions extends EditOptions {
  readonly extends?: string;
  readonly from?: string;
}

export async function agentsNew(world: AgentsWorld, id: string, options: NewOptions): Promise<ExitCode> {
  const preset = options.extends === undefined ? null : presetName(options.extends);
  if (options.extends !== undefined && preset === null)
    return fail(
      world,
      options,
      EXIT.usage,
      `no preset called ${JSON.stringify(options.extends)}`,
      [...PRESETS.keys()].join(", "),
    );
  const imported = options.from === undefined ? null : world.personality(options.from);
  if (imported?.ok === false) {
    if (!options.json)
      for (const { diagnostic, source } of imported.diagnostics)
        world.printError(renderDiagnostic(diagnostic, source, world.paint));
    return fail(world, options, EXIT.invalidPolicy, imported.message, null);
  }
  if (imported !== null && preset !== null)
    return fail(world, options, EXIT.usage, "--extends and --from cannot be combined", null);
  if (!options.json) for (const note of imported?.notes ?? []) world.print(world.paint.warn(note));
  const picked = preset === null && imported === null ? await pickedGrants(world, options) : [];
  if (picked === null) return fail(world, options, EXIT.error, "nothing was changed", null);
  const specs = imported?.specs ?? picked;
  const text = specs.length === 0 && imported === null ? newRecord(id, preset) : recordOf(id, specs, instructions(id));
  const words = [
    ...(options.extends === undefined ? [] : ["--extends", options.extends]),
    ...(options.from === undefined ? [] : ["--from", options.from]),
  ];
  return createRecord(world, id, text, { action: "new", done: `created ${id}`, words }, options);
}

/** At a terminal a person chooses grants one after another, from low risk to high. Null: the person went away. */
async function pickedGrants(world: AgentsWorld, { yes, json, dryRun }: NewOptions): Promise<readonly string[] | null> {
  const specs: string[] = [];
  if (!world.terminal.isInteractive || yes || json || dryRun) return specs;
  while (specs.length < grantsPickedMax) {
    const spec = await pickGrant(world, { folder: ".", isOptional: true });
    if (spec === null) return null;
    if (spec === "") break;
    if (!specs.includes(spec)) specs.push(spec);
    world.print(world.paint.dim(`  ${shown(spec)}`));
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
  world: AgentsWorld,
  id: string,
  text: string,
  { action, done, words = [] }: NewRecord,
  options: EditOptions,
): Promise<ExitCode> {
  const grants = grantsOf(world, id, { name: id, text });
  if (!options.json) {
    for (const grant of sortedByRisk(grants)) world.print(grantLine(world.paint, grant, world.moment.now));
  }
  // An agent that may do nothing is no reason for a question.
  const isEmpty = grants.length === 0;
  const question = action === "new" ? "Create this agent?" : "Keep this agent?";
  const stop = await settle(
    world,
    isEmpty ? { ...options, yes: true } : options,
    ["agents", action, id, ...words],
    question,
  );
  if (stop !== null) return stop === "dry" ? dry(world, options, { agent: id, action, text }) : stop;
  const refused = isEmpty ? null : await notAdmitted(world, `agents ${action}`, id, options);
  if (refused !== null) return refused;
  return ended(world, options, world.files.create(id, text), { agent: id, action }, done);
}

export async function agentsRename(
  world: AgentsWorld,
  name: string,
  next: string,
  options: EditOptions,
): Promise<ExitCode> {
  const found = world.files.read(name);
  if (!found.ok) return notFound(world, name, found.message, options);
  if (world.agentIds().includes(next)) return fail(world, options, EXIT.error, `${next} already exists`, null);
  const text = withId(world, name, found.value, next);
  if (!options.json)
    world.print(
      `rename ${shown(name)} to ${shown(next)}; references to ${shown(name)} in other records are not changed`,
    );
  const stop = await settle(world, options, ["agents", "rename", name, next], "Rename this agent?");
  const data = { agent: next, action: "rename", from: name };
  if (stop !== null) return stop === "dry" ? dry(world, options, data) : stop;
  const refused = await notAdmitted(world, "agents rename", `${name} ${next}`, options);
  if (refused !== null) return refused;
  const created = world.files.create(next, text);
  if (created.kind !== "done") return ended(world, options, created, data, "");
  return ended(world, options, world.files.remove(name, found.value.text), data, `renamed ${name} to ${next}`);
}

export async function agentsDelete(world: AgentsWorld, name: string, options: EditOptions): Promise<ExitCode> {
  const found = world.files.read(name);
  if (!found.ok) return notFound(world, name, found.message, options);
  const grants = grantsOf(world, name, found.value);
  if (!options.json) {
    world.print(`${world.paint.strong(shown(name))}  ${world.paint.dim(shown(found.value.name))}`);
    for (const grant of sortedByRisk(grants)) world.print(grantLine(world.paint, grant, world.moment.now));
  }
  const stop = await settle(world, options, ["agents", "delete", name], "Delete this agent?");
  const data = { agent: name, action: "delete", file: found.value.name };
  if (stop !== null) return stop === "dry" ? dry(world, options, data) : stop;
  return ended(world, options, world.files.remove(name, found.value.text), data, `deleted ${name}`);
}

export async function agentsUndo(world: AgentsWorld, name: string, options: EditOptions): Promise<ExitCode> {
  const step = world.files.step(name);
  if (step === null)
    return fail(world, options, EXIT.error, `no edit of ${name} to undo, or the record changed since`, null);
  const [now, before] = [step.now, step.before].map((source) => (source === null ? [] : grantsOf(world, name, source)));
  const { protectedPaths } = world.reading.ground;
  const gained = more(now ?? [], before ?? [], protectedPaths).flatMap(({ grant }) =>
    grant === null ? [] : [compactText(grant)],
  );
  const lines = changedLines(step.now?.text ?? "", step.before?.text ?? "");
  const { paint } = world;
  if (!options.json) {
    printLines(world, lines);
    for (const grant of gained) world.print(`${paint.warn("grants again")} ${shown(grant)}`);
    if (step.before === null) world.print("the record was new and is removed");
  }
  const stop = await settle(world, options, ["agents", "undo", name], "Undo the last edit?");
  const data = { agent: name, action: "undo", lines, gained };
  if (stop !== null) return stop === "dry" ? dry(world, options, data) : stop;
  const refused = gained.length === 0 ? null : await notAdmitted(world, "agents undo", name, options);
  if (refused !== null) return refused;
  return ended(world, options, world.files.undo(name, step), data, `undid the last edit of ${name}`);
}

/** Null: go on. Else how it ends, or that nothing is to be written. */
async function settle(
  world: AgentsWorld,
  options: EditOptions,
  words: readonly string[],
  question: string,
): Promise<ExitCode | "dry" | null> {
  if (options.dryRun) return "dry";
  if (options.yes) return null;
  if (!world.terminal.isInteractive || options.json)
    return fail(
      world,
      options,
      EXIT.usage,
      "confirmation needed, and no terminal to ask at",
      commandText([...words, "--yes"]),
    );
  if (await world.terminal.confirm(question)) return null;
  return fail(world, options, EXIT.error, "nothing was changed", null);
}

function dry(world: AgentsWorld, options: EditOptions, data: object): ExitCode {
  if (options.json) world.print(jsonLine({ ...data, written: false }));
  else world.print(world.paint.dim("not written: --dry-run"));
  return EXIT.ok;
}

function ended(
  world: AgentsWorld,
  options: EditOptions,
  done: FileChangeResult<string>,
  data: object,
  message: string,
): ExitCode {
  if (done.kind === "refused") return fail(world, options, EXIT.error, done.refusal, null);
  if (done.kind === "failed") return fail(world, options, EXIT.error, done.message, null);
  if (options.json) world.print(jsonLine({ ...data, written: true }));
  else world.print(world.paint.good(shown(message)));
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
function withId(world: AgentsWorld, name: string, source: Source, next: string): string {
  const { tree } = world.editGround(name).read(source);
  const entry = tree?.kind === "map" ? entryOf(tree, "id") : null;
  if (entry === null || entry.value.kind !== "scalar" || agentIdOf(String(entry.value.value)) !== name)
    return source.text;
  const like = source.text.slice(entry.value.span.start, entry.value.span.end);
  const text =
    /^[A-Za-z0-9]/.test(like) && /^[A-Za-z][A-Za-z0-9_./-]*$/.test(next) ? next : scalarText(next, true, like);
  return applyReplacements(source.text, [{ ...entry.value.span, text }]) ?? source.text;
}

function grantsOf(world: AgentsWorld, name: string, source: Source): readonly Grant[] {
  const ground = world.editGround(name);
  const { tree } = ground.read(source);
  return tree === null ? [] : readRecord(tree, ground.reading).grants;
}
