// `ambit log` and `ambit why` with a fake daemon: the requests, the output, the exit status.
import { Command } from "commander";
import type { ControlPorts } from "../../src/cli/control-ports.ts";
import { addLog } from "../../src/cli/log/command.ts";
import type { ExitCode } from "../../src/cli/terminal/exit.ts";
import { type Paint, PLAIN } from "../../src/cli/terminal/paint.ts";
import { addWhy } from "../../src/cli/why/command.ts";
import type { ControlMessages } from "../../src/core/ports/daemon/daemon-control.ts";
import type { Answer, MessageClient, Refusal, RequestOptions } from "../../src/core/ports/daemon/exchange.ts";
import type { ChainedEntry, LogEntry, LogQuery } from "../../src/core/ports/stores/log.ts";

export const GONE: Refusal = { ok: false, code: "not_available", message: "the daemon went away", fix: null };
export const NOW: number = Date.parse("2026-11-15T12:00:00Z");

export interface Fake {
  readonly entries?: readonly ChainedEntry[];
  /** Events for followers. */
  readonly later?: readonly ChainedEntry[];
  readonly control?: Refusal;
  /** Answers before the connection breaks. */
  readonly answers?: number;
  readonly paint?: Paint;
  /** Absent for a pipe. */
  readonly columns?: number;
}

export interface CommandRun {
  readonly exit: ExitCode | null;
  readonly out: string;
  readonly err: string;
  readonly asked: readonly { readonly name: string; readonly value: LogQuery & { readonly id?: string } }[];
  readonly closed: number;
}

export function chainedEntries(...entries: readonly LogEntry[]): readonly ChainedEntry[] {
  return entries.map((entry, at) => ({ place: at + 1, entry }));
}

function queried(
  entries: readonly ChainedEntry[],
  { after, before, count, ...filter }: LogQuery,
): readonly ChainedEntry[] {
  const fits = entries.filter(
    ({ place, entry }) =>
      place > (after ?? 0) &&
      place < (before ?? Number.POSITIVE_INFINITY) &&
      (filter.session === undefined || filter.session === entry.session) &&
      (filter.agent === undefined || filter.agent === entry.agent),
  );
  return (after === undefined ? fits.toReversed() : fits).slice(0, count);
}

export async function run(fake: Fake, ...argv: readonly string[]): Promise<CommandRun> {
  const spoken = { out: "", err: "" };
  const asked: { name: string; value: LogQuery & { id?: string } }[] = [];
  let [closed, left, exit] = [0, fake.answers ?? Number.POSITIVE_INFINITY, null as ExitCode | null];
  const entries = fake.entries ?? [];
  const ask = async (
    name: string,
    value: LogQuery & { id?: string },
    along?: RequestOptions,
  ): Promise<Answer<unknown>> => {
    asked.push({ name, value });
    if (left-- <= 0) return GONE;
    if (name === "log.query") return { ok: true, value: { entries: queried(entries, value) } };
    if (name === "log.follow") {
      along?.onEvent?.({ entries: (fake.later ?? []) as never });
      return GONE;
    }
    const entry = entries.find((one) => one.entry.id.startsWith(value.id as string));
    if (entry === undefined) return { ok: false, code: "unknown_entry", message: "there is none", fix: null };
    return { ok: true, value: { entry, more: entries.filter((one) => one.entry.of === entry.entry.id) } };
  };
  const asking = { ask, close: () => closed++ } as unknown as MessageClient<ControlMessages>;
  const ports: ControlPorts = {
    paint: fake.paint ?? PLAIN,
    terminal: {
      isInteractive: false,
      ...(fake.columns === undefined ? {} : { columns: fake.columns }),
    } as ControlPorts["terminal"],
    now: () => NOW,
    control: async () => fake.control ?? { ok: true, value: asking },
    running: async () => ({ ok: true, value: null }),
    print: (text) => {
      spoken.out += `${text}\n`;
    },
    printError: (text) => {
      spoken.err += `${text}\n`;
    },
  };
  const program = new Command("ambit").exitOverride().configureOutput({
    writeOut: (text) => ports.print(text),
    writeErr: (text) => ports.printError(text),
  });
  const end = (code: ExitCode): void => {
    exit = code;
  };
  addLog(program, ports, end);
  addWhy(program, ports, end);
  await program.parseAsync([...argv], { from: "user" });
  return { exit, ...spoken, asked, closed };
}
