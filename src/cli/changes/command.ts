// `ambit changes` and `ambit undo`: what programs wrote and has not reached the project, and taking back what has.
import type { Command } from "commander";
import type { DraftView } from "../../core/ports/drafts.ts";
import { askWidening } from "../approvals/presence-question.ts";
import { askOnce, type ControlPorts, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { fail } from "../terminal/problems.ts";
import { draftText, summaryLine } from "./render.ts";

interface Options {
  readonly json: boolean;
}

interface ConfirmOptions extends Options {
  readonly yes: boolean;
  readonly presence?: string;
}

const JSON_OPTION = ["--json", "print one JSON object", false] as const;

export function addChanges(program: Command, ports: ControlPorts, end: (exit: ExitCode) => void): void {
  const changes = program.command("changes").description("list, show, land or discard what agents' programs wrote");
  changes
    .command("list")
    .description("list drafts with changes that have not reached the project")
    .option("--all", "also list drafts that landed or were undone", false)
    .option(...JSON_OPTION)
    .action(async (options: Options & { readonly all: boolean }) => end(await list(ports, options)));
  changes
    .command("show")
    .description("show the changes of one draft, and why they have not landed")
    .argument("<id>", "a draft id, or the id of the call that created it")
    .option(...JSON_OPTION)
    .action(async (id: string, options: Options) => end(await show(ports, id, options)));
  changes
    .command("land")
    .description("apply the changes of a draft that need approval")
    .argument("<id>", "a draft id, or the id of the call that created it")
    .option("--yes", "do not ask for confirmation", false)
    .option("--presence <name>", "confirm as this person; asks for the passphrase")
    .option(...JSON_OPTION)
    .action(async (id: string, options: ConfirmOptions) => end(await landDraft(ports, id, options)));
  changes
    .command("discard")
    .description("delete a draft; the project stays as it is")
    .argument("<id>", "a draft id, or the id of the call that created it")
    .option("--yes", "do not ask for confirmation", false)
    .option("--presence <name>", "confirm as this person; asks for the passphrase")
    .option(...JSON_OPTION)
    .action(async (id: string, options: ConfirmOptions) => end(await discard(ports, id, options)));
  program
    .command("undo")
    .description("restore the files, commits and refs a call changed, unless they were changed since")
    .argument("<call>", "a call id from the log, or a draft id")
    .option("--presence <name>", "confirm as this person; asks for the passphrase")
    .option(...JSON_OPTION)
    .addHelpText("after", UNDO_EXAMPLES)
    .action(async (id: string, options: ConfirmOptions) => end(await undo(ports, id, options)));
  for (const one of [changes, ...changes.commands]) one.addHelpText("after", EXAMPLES);
}

async function list(ports: ControlPorts, { all, json }: Options & { readonly all: boolean }): Promise<ExitCode> {
  const answer = await askOnce(ports, "changes.list", { all });
  if (!answer.ok) return tellRefusal(ports, answer, json);
  const { drafts } = answer.value;
  if (json) ports.print(JSON.stringify({ drafts }));
  else if (drafts.length === 0) ports.print("no drafts: everything that programs wrote has landed or was discarded");
  else for (const draft of drafts) ports.print(summaryLine(draft, ports.now(), ports.paint));
  return EXIT.ok;
}

async function show(ports: ControlPorts, id: string, { json }: Options): Promise<ExitCode> {
  const answer = await askOnce(ports, "changes.show", { id });
  if (!answer.ok) return tellRefusal(ports, answer, json);
  ports.print(json ? JSON.stringify(answer.value) : draftText(answer.value, ports.now(), ports.paint));
  return EXIT.ok;
}

/** The person agrees to what is shown: the answer carries the digest of exactly that. */
export async function landDraft(ports: ControlPorts, id: string, options: ConfirmOptions): Promise<ExitCode> {
  const found = await askOnce(ports, "changes.show", { id });
  if (!found.ok) return tellRefusal(ports, found, options.json);
  const isAgreed = await confirmed(
    ports,
    found.value,
    options,
    "Apply these changes?",
    `ambit changes land ${id} --yes`,
  );
  if (typeof isAgreed === "number") return isAgreed;
  const { digest } = found.value;
  const answer = await askWidening(ports, "changes.land", { id, digest }, options);
  if (typeof answer === "number") return answer;
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { landed, summary } = answer.value;
  if (options.json) ports.print(JSON.stringify(answer.value));
  else {
    ports.print(
      `${ports.paint.good("landed")} ${countText(landed, "change", "changes")} of ${visibleText(summary.draft)}`,
    );
    if (summary.kept.length > 0)
      ports.print(`  changes left in the draft: ambit changes show ${visibleText(summary.draft)}`);
  }
  return summary.kept.length > 0 ? EXIT.ask : EXIT.ok;
}

async function discard(ports: ControlPorts, id: string, options: ConfirmOptions): Promise<ExitCode> {
  const found = await askOnce(ports, "changes.show", { id });
  // One whose project is gone cannot be shown, and can be discarded all the same.
  if (!found.ok && found.code !== "not_landed") return tellRefusal(ports, found, options.json);
  const draft = found.ok ? found.value : null;
  if (!found.ok && !options.json) ports.printError(`${ports.paint.warn("warning")}: ${visibleText(found.message)}`);
  const isAgreed = await confirmed(ports, draft, options, "Delete this draft?", `ambit changes discard ${id} --yes`);
  if (typeof isAgreed === "number") return isAgreed;
  const answer = await askWidening(ports, "changes.discard", { id }, options);
  if (typeof answer === "number") return answer;
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  if (options.json) ports.print(JSON.stringify(answer.value));
  else ports.print(`discarded ${visibleText(answer.value.summary.draft)}`);
  return EXIT.ok;
}

/** True, or how the command ends. */
async function confirmed(
  ports: ControlPorts,
  draft: DraftView | null,
  options: ConfirmOptions,
  question: string,
  fix: string,
): Promise<true | ExitCode> {
  if (!options.json && draft !== null) ports.print(draftText(draft, ports.now(), ports.paint));
  if (options.yes) return true;
  if (options.json || !ports.terminal.isInteractive)
    return fail(ports, options, EXIT.usage, "confirmation needed, and no terminal to ask at", fix);
  if (await ports.terminal.confirm(question)) return true;
  ports.print("nothing was changed");
  return EXIT.ask;
}

async function undo(ports: ControlPorts, id: string, options: ConfirmOptions): Promise<ExitCode> {
  const answer = await askWidening(ports, "changes.undo", { id }, options);
  if (typeof answer === "number") return answer;
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { summary, notes } = answer.value;
  if (options.json) ports.print(JSON.stringify(answer.value));
  else {
    ports.print(
      `${ports.paint.good("undone")} ${visibleText(summary.draft)}: ${countText(summary.landed, "change", "changes")} reverted`,
    );
    for (const note of notes) ports.print(`  ${visibleText(note)}`);
  }
  return EXIT.ok;
}

const EXAMPLES = `
Examples:
  ambit changes list
  ambit changes show d-m3k2x1-9f2c
  ambit changes land d-m3k2x1-9f2c
  ambit changes discard d-m3k2x1-9f2c --yes

Programs write to a draft. When a program ends, its changes land in the project, except for those that no grant
covers, that need approval, or that would run code on this machine later.`;

const UNDO_EXAMPLES = `
Examples:
  ambit undo c-8x2k            a call id from \`ambit log\`
  ambit undo d-m3k2x1-9f2c     a draft id from \`ambit changes list --all\``;
