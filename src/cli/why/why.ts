// `ambit why <id>`: why something was decided as it was, from what was written down then.
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import type { ChainedEntry } from "../../core/ports/stores/log.ts";
import { askOnce, type ControlPorts, tellRefusal } from "../control-ports.ts";
import { noWorkspace } from "../log/log.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";
import { adviceOf, isCarriedOut, proposedGrant, whyText } from "./text.ts";

interface ExplainedEntry {
  readonly entry: ChainedEntry;
  readonly more: readonly ChainedEntry[];
}

export async function why(ports: ControlPorts, id: string, options: JsonOption): Promise<ExitCode> {
  if (!/^[\w.:-]{1,128}$/.test(id))
    return fail(ports, options, EXIT.usage, "an id has only letters, digits and . _ : -", "ambit log");
  const control = await ports.control();
  if (!control.ok) return tellRefusal(ports, control, options.json);
  try {
    const ask = (name: string): Promise<Answer<ExplainedEntry>> => control.value.ask("log.entry", { id: name });
    const first = await ask(id);
    if (!first.ok) return tellRefusal(ports, first, options.json);
    // What tells of another entry is explained by that one, where it is still kept.
    const { kind, of } = first.value.entry.entry;
    const isAbout = (kind === "outcome" || kind === "suppressed") && of !== null;
    const about = isAbout ? await ask(of) : first;
    show(ports, about.ok ? about.value : first.value, options);
    return EXIT.ok;
  } finally {
    control.value.close();
  }
}

export interface WhyOptions extends JsonOption {
  readonly workspace?: string;
}

export async function lastDenial(ports: ControlPorts, options: WhyOptions): Promise<string | ExitCode> {
  const workspace = options.workspace === undefined ? undefined : (ports.workspaceAt?.(options.workspace) ?? null);
  if (workspace === null) return fail(ports, options, EXIT.usage, noWorkspace(options.workspace ?? "."), null);
  const where = workspace === undefined ? {} : { workspace };
  const found = await askOnce(ports, "log.query", { outcome: "deny", ...where, count: 1 });
  if (!found.ok) return tellRefusal(ports, found, options.json);
  const [last] = found.value.entries;
  return last?.entry.id ?? fail(ports, options, EXIT.error, "no denials yet", "ambit log");
}

function show(ports: ControlPorts, { entry: placed, more }: ExplainedEntry, { json }: JsonOption): void {
  const { entry, place } = placed;
  if (!json) {
    ports.print(whyText({ entry, more }, ports.paint));
    return;
  }
  const outcomes = more.filter((one) => one.entry.kind === "outcome");
  const [means = null, doThis = null] = adviceOf(entry);
  const suggest = proposedGrant(entry);
  const outcome = outcomes.at(-1)?.entry ?? (isCarriedOut(entry) ? "unknown" : null);
  const command = suggest === null ? null : `ambit agents grant --from ${entry.id}`;
  ports.print(jsonLine({ place, entry, more, means, doThis, outcome, suggest, command }));
}
