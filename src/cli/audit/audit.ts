// `ambit audit`: the log's own proof. Keys, exports, a new key, and how long entries are kept.

import { askWidening } from "../approvals/presence-question.ts";
import { askOnce, type ControlPorts, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { confirmation, fail, type JsonOption } from "../terminal/problems.ts";
import { NewFile } from "./files.ts";
import { linesIn } from "./verify.ts";

export interface ChangeOptions extends JsonOption {
  readonly yes: boolean;
  readonly presence?: string;
}

export interface RetainOptions extends ChangeOptions {
  readonly days: string;
}

const daysMax = 36_500;

export async function auditKey(ports: ControlPorts, options: JsonOption): Promise<ExitCode> {
  const answer = await askOnce(ports, "audit.key", {});
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { keys } = answer.value;
  if (options.json) ports.print(jsonLine({ keys }));
  else for (const key of keys) ports.print(visibleText(key));
  return EXIT.ok;
}

/** To a new file, or to the terminal or pipe where none is named. */
export async function auditExport(
  ports: ControlPorts,
  path: string | undefined,
  options: JsonOption,
): Promise<ExitCode> {
  const control = await ports.control();
  if (!control.ok) return tellRefusal(ports, control, options.json);
  const file = path === undefined ? null : new NewFile(path);
  let entries = 0;
  try {
    const answer = await control.value.ask(
      "audit.export",
      { from: 1 },
      {
        onEvent: (event) => {
          for (const line of linesIn(event)) {
            if (line.includes('"kind":"entry"')) entries++;
            if (file === null) ports.print(line);
            else file.write(`${line}\n`);
          }
        },
      },
    );
    const written = file?.end(answer.ok) ?? { ok: true };
    if (!answer.ok) return tellRefusal(ports, answer, options.json);
    if (!written.ok) return fail(ports, options, EXIT.error, written.message, null);
    if (path === undefined) return EXIT.ok;
    const { place, hash } = answer.value;
    if (options.json) ports.print(jsonLine({ file: path, entries, head: { place, hash } }));
    else
      ports.print(
        `${ports.paint.good("written")} ${visibleText(path)}  ${countText(entries, "entry", "entries")}, head ${place}:${hash}`,
      );
    return EXIT.ok;
  } finally {
    file?.end(false);
    control.value.close();
  }
}

export async function auditRotate(ports: ControlPorts, options: ChangeOptions): Promise<ExitCode> {
  const refused = await confirmation(
    ports,
    options,
    "Delete the private key and sign with a new one?",
    "ambit audit rotate --yes",
    EXIT.ask,
  );
  if (refused !== null) return refused;
  const answer = await askWidening(ports, "audit.rotate", {}, options);
  if (typeof answer === "number") return answer;
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { key } = answer.value;
  ports.print(options.json ? jsonLine({ key }) : `${ports.paint.good("new key")} ${visibleText(key)}`);
  return EXIT.ok;
}

export async function auditRetain(ports: ControlPorts, options: RetainOptions): Promise<ExitCode> {
  const days = /^[1-9]\d{0,4}$/.test(options.days) ? Number(options.days) : 0;
  if (days < 1 || days > daysMax)
    return fail(
      ports,
      options,
      EXIT.usage,
      `--days must be a number from 1 to ${daysMax}`,
      "ambit audit retain --days 90",
    );
  const question = `Delete entries older than ${countText(days, "day", "days")}? This cannot be undone; export them first to keep them.`;
  const refused = await confirmation(ports, options, question, `ambit audit retain --days ${days} --yes`, EXIT.ask);
  if (refused !== null) return refused;
  const answer = await askWidening(ports, "audit.retain", { days }, options);
  if (typeof answer === "number") return answer;
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { removed, first } = answer.value;
  if (options.json) ports.print(jsonLine({ removed, first }));
  else if (removed === 0) ports.print("nothing was removed: no older entries before a signed checkpoint");
  else
    ports.print(
      `${ports.paint.good("removed")} ${countText(removed, "entry", "entries")}; the log now begins at entry ${first}`,
    );
  return EXIT.ok;
}
