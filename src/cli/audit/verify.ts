// `ambit audit verify`: whether the log is the one that was written; told by the daemon, or found out here with a key.

import { resolve } from "node:path";
import { isJsonList, isJsonObject, type Json } from "../../core/base/json.ts";
import type { VerifyReport } from "../../core/ports/daemon/daemon-control.ts";
import type { Refusal } from "../../core/ports/daemon/exchange.ts";
import type { DurableResult } from "../../core/ports/stores/durable.ts";
import type { SinkStatus } from "../../core/ports/stores/sink.ts";
import { isHash, ZERO_HASH } from "../../log/chain/chain.ts";
import { keyNumber, parseCheckpoint } from "../../log/chain/checkpoint.ts";
import { exportLineCharactersMax } from "../../log/verify/export.ts";
import type { ChainHead, VerifyPorts } from "../../log/verify/verify.ts";
import { ExportVerifier } from "../../log/verify/verify-export.ts";
import { askOnce, type ControlPorts, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";
import { readLines, readShort } from "./files.ts";

export interface AuditPorts extends ControlPorts {
  /** For what is verified here instead of by the daemon. */
  readonly verifying: VerifyPorts;
  /** Reads and verifies the log's own files, for a daemon that refuses to serve them and therefore does not write them. */
  verifyStored?(head: ChainHead | null, key: string | null): Promise<DurableResult<VerifyReport>>;
}

export interface VerifyOptions extends JsonOption {
  readonly head?: string;
  readonly file?: string;
  readonly key?: string;
  /** True where it is the one that is configured. */
  readonly sink?: string | true;
}

/** An answer with all the problems that are listed. */
const headFileBytesMax = 65_536;

export async function auditVerify(ports: AuditPorts, options: VerifyOptions): Promise<ExitCode> {
  const head = options.head === undefined ? null : headOf(options.head);
  if (typeof head === "string") return fail(ports, options, EXIT.usage, head, "ambit audit verify --help");
  const key = keyOf(options.key);
  if (options.key !== undefined && key === null)
    return fail(ports, options, EXIT.usage, "--key must be a public key, or a file with one", "ambit audit key");
  if (options.sink !== undefined) {
    if (options.file === undefined && head === null) return verifyCopy(ports, options, options.sink, key);
    const message = "--sink compares the log with its copy and can be combined only with --key";
    return fail(ports, options, EXIT.usage, message, "ambit audit verify --help");
  }
  if (options.file !== undefined) {
    if (key === null)
      return fail(
        ports,
        options,
        EXIT.usage,
        "verifying a file requires the first key of its log: --key",
        "ambit audit key, on the machine that wrote the log",
      );
    const verifier = new ExportVerifier(ports.verifying, { key, head });
    const read = await readLines(options.file, exportLineCharactersMax, (line) => verifier.line(line));
    return read.ok ? tell(ports, verifier.end(), options) : fail(ports, options, EXIT.error, read.message, null);
  }
  const answer = key === null ? await askOnce(ports, "audit.verify", { head }) : await verifiedHere(ports, key, head);
  if (answer.ok) return tell(ports, answer.value, options);
  const stored = answer.message.includes(DAMAGED) ? await verifiedStored(ports, answer, head, key) : null;
  return stored === null ? tellRefusal(ports, answer, options.json) : tell(ports, stored, options);
}

/** How the store begins to tell of a log that it does not go on with. */
const DAMAGED = "the log is damaged";

/** Null where the files cannot be read either. INVARIANT: what the daemon calls damaged is never told as intact. */
async function verifiedStored(
  ports: AuditPorts,
  refused: Refusal,
  head: ChainHead | null,
  key: string | null,
): Promise<VerifyReport | null> {
  if (ports.verifyStored === undefined) return null;
  const found = await ports.verifyStored(head, key);
  if (!found.ok) return null;
  const problems = [...found.value.problems, { place: found.value.head.place, what: refused.message }];
  return { ...found.value, isIntact: false, problems };
}

/** The copy by itself first, and then the log by what the copy ends with: what is written meanwhile is in the log alone. */
async function verifyCopy(
  ports: AuditPorts,
  options: VerifyOptions,
  sink: string | true,
  given: string | null,
): Promise<ExitCode> {
  // Before the file is read: what the copy had by then must be in it.
  const status = await askOnce(ports, "daemon.status", {});
  if (!status.ok) return tellRefusal(ports, status, options.json);
  const configured = status.value.sink ?? null;
  const named = sink === true ? configuredCopy(configured) : { ok: true as const, value: sink };
  if (!named.ok) return tellRefusal(ports, named, options.json);
  const keys = given === null ? await askOnce(ports, "audit.key", {}) : null;
  if (keys !== null && !keys.ok) return tellRefusal(ports, keys, options.json);
  const key = given ?? keys?.value.keys[0] ?? "";
  const verifier = new ExportVerifier(ports.verifying, { key, head: null });
  const nothing = (): void => undefined;
  // A line that is being written now is not kept yet.
  const read = await readLines(named.value, exportLineCharactersMax, (line) => verifier.line(line), nothing);
  if (!read.ok) return fail(ports, options, EXIT.error, read.message, null);
  const copy = notShorter(verifier.end(), named.value, configured);
  const head = copy.head.hash === ZERO_HASH ? null : copy.head;
  const answer =
    given === null ? await askOnce(ports, "audit.verify", { head }) : await verifiedHere(ports, given, head);
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const isIntact = answer.value.isIntact && copy.isIntact;
  if (options.json) ports.print(jsonLine({ ...answer.value, isIntact, copy: { file: named.value, ...copy } }));
  else {
    tell(ports, answer.value, options);
    ports.print(copyText(ports, copy, answer.value));
  }
  return isIntact ? EXIT.ok : EXIT.error;
}

/** A copy that ends before what it had is cut off, however whole it is by itself. */
function notShorter(copy: VerifyReport, file: string, sink: SinkStatus | null): VerifyReport {
  const { place } = copy.head;
  const kept = sink?.kept ?? 0;
  // Another file than the one that is written now may be a copy of before. What a collector writes is known by what it is named here.
  const isOther = sink?.target.startsWith("/") === true && resolve(sink.target) !== resolve(file);
  if (isOther || kept <= place) return copy;
  const what = `the copy ends here, but had entries up to ${kept}: it was truncated, or this is an older copy`;
  return { ...copy, isIntact: false, problems: [...copy.problems, { place, what }] };
}

function configuredCopy(sink: SinkStatus | null): { readonly ok: true; readonly value: string } | Refusal {
  const target = sink?.target ?? null;
  if (target?.startsWith("/") === true) return { ok: true, value: target };
  const message =
    target === null
      ? "no second copy of the log is configured"
      : `the copy is written by a collector (${target}): name its file`;
  return { ok: false, code: "invalid_input", message, fix: "ambit audit verify --sink copy.jsonl" };
}

function copyText({ paint }: ControlPorts, copy: VerifyReport, log: VerifyReport): string {
  const verdict = copy.isIntact ? paint.good("intact") : paint.bad("not intact");
  const behind = Math.max(0, log.head.place - copy.head.place);
  const { entries, from, checkpoints, problems } = copy;
  return [
    `copy  ${verdict}  ${countText(entries, "entry", "entries")} from entry ${from}, ${countText(checkpoints, "checkpoint", "checkpoints")}, ${behind} behind the log`,
    ...problems.map(({ place, what }) => `  ${paint.bad("✗")} copy, place ${place}: ${visibleText(what)}`),
  ].join("\n");
}

/** Row by row here, so that nothing the daemon says about itself has to be believed. */
async function verifiedHere(
  ports: AuditPorts,
  key: string,
  head: ChainHead | null,
): Promise<{ readonly ok: true; readonly value: VerifyReport } | Refusal> {
  const control = await ports.control();
  if (!control.ok) return control;
  try {
    const verifier = new ExportVerifier(ports.verifying, { key, head });
    const onEvent = (event: Json): void => {
      for (const line of linesIn(event)) verifier.line(line);
    };
    const answer = await control.value.ask("audit.export", { from: 1 }, { onEvent });
    return answer.ok ? { ok: true, value: verifier.end() } : answer;
  } finally {
    control.value.close();
  }
}

export function linesIn(event: Json): readonly string[] {
  const lines = isJsonObject(event) ? event["lines"] : undefined;
  // Bytes that are no UTF-8 become a line that does not parse.
  return isJsonList(lines) ? lines.map((line) => (typeof line === "string" ? line : "")) : [];
}

function tell(ports: ControlPorts, answer: VerifyReport, { json }: JsonOption): ExitCode {
  const exit = answer.isIntact ? EXIT.ok : EXIT.error;
  if (json) {
    ports.print(jsonLine(answer));
    return exit;
  }
  const { paint } = ports;
  const { entries, from, checkpoints, unsigned, head, problems } = answer;
  const verdict = answer.isIntact ? paint.good("intact") : paint.bad("not intact");
  ports.print(
    `${verdict}  ${countText(entries, "entry", "entries")} from entry ${from}, ${countText(checkpoints, "checkpoint", "checkpoints")}, ${unsigned} not yet signed`,
  );
  for (const { place, what } of problems) ports.print(`  ${paint.bad("✗")} place ${place}: ${visibleText(what)}`);
  if (answer.isIntact && entries > 0) {
    ports.print(`head  ${head.place}:${head.hash}`);
    ports.print(paint.dim("store this head elsewhere; ambit audit verify --head ... can then detect truncation"));
  }
  return exit;
}

/** `place:hash`, or a file with that, with what `--json` printed, or with a signed note. A sentence for anything else. */
function headOf(text: string): ChainHead | string {
  const found = pairOf(text) ?? headIn(readShort(text, headFileBytesMax)?.trim() ?? "");
  return found ?? "--head must be place:hash, or a file with it";
}

function headIn(text: string): ChainHead | null {
  const note = parseCheckpoint(`${text}\n`);
  if (note !== null) return { place: note.size, hash: note.hash };
  const [, pair] = /(?:^|\s)(\d+:[0-9a-f]{64})(?:\s|$)/.exec(text) ?? [];
  return pair === undefined ? headInJson(text) : pairOf(pair);
}

function headInJson(text: string): ChainHead | null {
  const value = parsed(text);
  const head = isJsonObject(value) ? value["head"] : undefined;
  return isJsonObject(head) ? pairOf(`${head["place"]}:${head["hash"]}`) : null;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function pairOf(text: string): ChainHead | null {
  const match = /^(0|[1-9]\d{0,15}):(.+)$/.exec(text);
  const [place, hash] = [Number(match?.[1]), match?.[2] ?? ""];
  return Number.isSafeInteger(place) && isHash(hash) ? { place, hash } : null;
}

function keyOf(text: string | undefined): string | null {
  if (text === undefined || keyNumber(text) !== null) return text ?? null;
  // Of several the first: it is the one the log began with.
  const [line = ""] = readShort(text, headFileBytesMax)?.split("\n") ?? [];
  return keyNumber(line.trim()) === null ? null : line.trim();
}
