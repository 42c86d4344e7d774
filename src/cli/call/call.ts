// `ambit call <agent> <tool> <json>`: any tool, as the agent would call it.

import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { jsonCharactersMax } from "../../core/base/limits.ts";
import type { Failure } from "../../core/base/result.ts";
import type { CallMessages, CallRequest, DenialView } from "../../core/ports/daemon/daemon-calls.ts";
import type { Answer, MessageClient } from "../../core/ports/daemon/exchange.ts";
import type { CallDescription } from "../../core/ports/daemon/refused-call.ts";
import { tellWaiting } from "../approvals/waiting.ts";
import { type ControlPorts, tellRefusal } from "../control-ports.ts";
import { CallOutput } from "../exec/streams.ts";
import { visibleText } from "../terminal/cells.ts";
import { commandText } from "../terminal/command-text.ts";
import { EXIT, type ExitCode, passedOn } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { isTerminal } from "../terminal/output.ts";

export interface CallCommandPorts extends ControlPorts {
  readonly cwd: string;
  /** The same as the caller's shell names it, as a variable; empty where it does not. */
  readonly namedFolder: Readonly<Record<string, string>>;
  /** Standard input; the process's own where it is not said. */
  piped?(): AsyncIterable<Uint8Array>;
  /** `lost` is called if the daemon disconnects first. `about`: the call it is for. */
  call(lost: () => void, about: CallDescription): Promise<Answer<MessageClient<CallMessages>>>;
  /** Text as the core takes it: no key twice, no number that loses digits. Null for anything else. */
  readJsonObject(text: string): JsonObject | null;
  /** A result as it is to be shown: what came from outside is made readable here, never by the daemon. */
  present(tool: string, input: JsonObject, result: Json): Promise<Json>;
}

export interface CallOptions {
  readonly json: boolean;
  readonly user?: string;
  readonly pledge?: readonly string[];
  readonly wait?: string;
  readonly token?: string;
  /** A session of a client's hook, in place of one of its own. */
  readonly session?: string;
  /** A file with the arguments; `-` is standard input. */
  readonly input?: string;
}

const BOUND = {
  ok: false,
  code: "invalid_input",
  message: "a session of a client's hook has its own user and grants: leave out --user, --pledge and --token",
  fix: null,
} as const;

const BOTH = { ok: false, message: "the arguments are given twice: leave out either --input or the text" } as const;

const waitSecondsMax = 86_400;

export async function call(
  ports: CallCommandPorts,
  agent: string,
  tool: string,
  text: string | undefined,
  options: CallOptions,
): Promise<ExitCode> {
  const from = options.input ?? (text === "-" ? text : undefined);
  const isBoth = options.input !== undefined && text !== undefined && text !== "-";
  const read = isBoth ? BOTH : from === undefined ? null : await readInput(from, ports.piped ?? (() => process.stdin));
  if (read !== null && !read.ok) {
    tellRefusal(ports, { ok: false, code: "invalid_input", message: read.message, fix: null }, options.json);
    return EXIT.usage;
  }
  const json = read?.text ?? text;
  const input = json === undefined ? {} : ports.readJsonObject(json);
  const wait = Number(options.wait ?? 0);
  if (input === null || !(wait >= 0 && wait <= waitSecondsMax)) {
    const message = input === null ? "the arguments must be one JSON object" : "--wait must be a number of seconds";
    // `@FILE` is how other programs read a file.
    const file = text?.replace(/^@/, "");
    const isFile = read === null && file !== undefined && existsSync(file);
    const fix = isFile
      ? commandText(["call", agent, tool, "--input", file])
      : commandText(input === null ? ["tools", "show", tool] : ["call", agent, tool, "--wait", "60"]);
    tellRefusal(ports, { ok: false, code: "invalid_input", message, fix }, options.json);
    return EXIT.usage;
  }
  if (options.session !== undefined && (options.user ?? options.pledge ?? options.token) !== undefined) {
    tellRefusal(ports, BOUND, options.json);
    return EXIT.usage;
  }
  let isServed = true;
  const lost = (): void => {
    isServed = false;
  };
  const connected = await ports.call(lost, { agent, tool, face: "call", cwd: ports.cwd });
  if (!connected.ok) return tellRefusal(ports, connected, options.json);
  const calls = connected.value;
  try {
    const opened = await sessionFor(ports, calls, agent, options);
    if (!opened.ok) return tellRefusal(ports, opened, options.json);
    const session = opened.value;
    const asked = { session, tool, input, requests: null, waitMilliseconds: Math.ceil(wait * 1000) };
    const exit = await carry(ports, calls, asked, options);
    // A hook's session ends with its client.
    if (isServed && options.session === undefined) await calls.ask("session.close", { session });
    // A tool that finds nothing is not available either; only a daemon that is gone has that status.
    return exit === EXIT.daemon && isServed ? EXIT.error : exit;
  } finally {
    calls.close();
  }
}

/** One of its own, or the hook's. */
async function sessionFor(
  ports: CallCommandPorts,
  calls: MessageClient<CallMessages>,
  agent: string,
  { user, pledge, token, session, json }: CallOptions,
): Promise<Answer<string>> {
  if (session !== undefined) {
    const joined = await calls.ask("session.join", { session, agent });
    return joined.ok ? { ok: true, value: session } : joined;
  }
  const opened = await calls.ask("session.open", {
    ...{ cwd: ports.cwd, agent, user: user ?? null, pledge: pledge ?? null, token: token ?? null },
    ...{ trace: null, face: "call", environment: ports.namedFolder, isForParent: false },
  });
  if (!opened.ok) return opened;
  if (!json)
    for (const note of opened.value.notes) ports.printError(`${ports.paint.warn("warning")}: ${visibleText(note)}`);
  return { ok: true, value: opened.value.session };
}

async function carry(
  ports: CallCommandPorts,
  calls: MessageClient<CallMessages>,
  asked: CallRequest,
  { json, session }: CallOptions,
): Promise<ExitCode> {
  const output = json || asked.tool !== "shell" ? null : new CallOutput();
  const answer = await calls.ask("call.do", output === null ? asked : { ...asked, isStreamed: true }, {
    onEvent: (event) => tellWaiting(ports, event),
    onBytes: (channel, bytes) => output?.write(channel === 2 ? 2 : 1, bytes),
  });
  output?.end();
  if (!answer.ok) {
    const exit = tellRefusal(ports, answer, json);
    return HELD.has(answer.code) ? EXIT.deny : exit;
  }
  if (answer.value.outcome === "denied") return tellDenial(ports, answer.value, json);
  const { receipt, enforcement } = answer.value;
  const result = await ports.present(asked.tool, asked.input, answer.value.result);
  const ran = RUNNING.has(asked.tool) ? ranIn(result) : null;
  // What a program wrote is for a pipe as it stands; a terminal would obey it.
  const written = (text: string, descriptor: 1 | 2): string =>
    (isTerminal(descriptor) ? lines(text) : text).replace(/\n$/, "");
  if (json) ports.print(jsonLine({ ok: true, receipt, result, enforcement: enforcement.map((one) => ({ ...one })) }));
  else if (ran === null) ports.print(resultText(result));
  else {
    if (ran.stdout !== "") ports.print(written(ran.stdout, 1));
    if (ran.stderr !== "") ports.printError(written(ran.stderr, 2));
    for (const line of ran.notes) ports.printError(`ambit: ${visibleText(line)}`);
  }
  if (ran === null || ran.status === 0) return EXIT.ok;
  // In the place of a client's own command its status is that command's.
  if (session === undefined) return EXIT.error;
  return ran.status === null ? EXIT.refused : passedOn(ran.status);
}

/** Refused by whatever holds the tool, behind the gate: denied all the same. */
const HELD: ReadonlySet<string> = new Set([
  "address_refused",
  "scope_violation",
  "secret_refused",
  "self_modification",
]);

/** What is told by its own status. */
const ENDS: Partial<Readonly<Record<DenialView["code"], ExitCode>>> = {
  approval_required: EXIT.ask,
  expired: EXIT.expired,
  untrusted_policy: EXIT.notTrusted,
};

/** Tools of ours that run programs. */
const RUNNING: ReadonlySet<string> = new Set(["proc_exec", "proc_eval", "sandbox_exec", "shell", "git"]);

function lines(text: string): string {
  return text.split("\n").map(visibleText).join("\n");
}

interface RanPrograms {
  /** Empty where it was sent as it came. */
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | null;
  /** What the programs cannot know: changes that were not applied, and how to make a failed one work. */
  readonly notes: readonly string[];
}

function ranIn(result: Json): RanPrograms | null {
  const [stdout, stderr, ending] = ["stdout", "stderr", "ending"].map((key) =>
    isJsonObject(result) ? member(result, key) : undefined,
  );
  if (typeof stdout !== "string" || typeof stderr !== "string" || !isJsonObject(ending)) return null;
  const status = member(ending, "status");
  return { stdout, stderr, status: typeof status === "number" ? status : null, notes: notesIn(result) };
}

function notesIn(result: Json): readonly string[] {
  if (!isJsonObject(result)) return [];
  const [hint, kept] = [member(result, "hint"), member(result, "notApplied")];
  const changes = kept !== undefined && isJsonObject(kept) ? member(kept, "changes") : undefined;
  const paths = changes !== undefined && isJsonList(changes) ? changes.filter(isJsonObject) : [];
  return [
    ...(typeof hint === "string" ? [hint] : []),
    ...(kept !== undefined && isJsonObject(kept) ? [String(member(kept, "message"))] : []),
    ...paths.map((one) => `not applied: ${String(member(one, "path"))} (${String(member(one, "code"))})`),
  ];
}

function tellDenial(ports: CallCommandPorts, denial: DenialView, json: boolean): ExitCode {
  const { code, need, hint, approval, id, reason } = denial;
  if (json) ports.print(jsonLine({ ok: false, code, need, hint, approval, id, reason }));
  else {
    const lines = [
      `${ports.paint.bad("denied")}  ${code}${need === null ? "" : `: ${visibleText(need)}`}`,
      `  ${visibleText(hint)}`,
      ...(reason === null || reason === "" ? [] : [`  reason: ${visibleText(reason)}`]),
      // What was refused or has expired can no longer be approved.
      ...(code !== "approval_required" || approval === null
        ? []
        : [`  approve: ambit approve ${visibleText(approval)}`]),
      ...(code === "unknown_tool" ? ["  tools: ambit tools list"] : []),
      ...(id === "" ? [] : [`  why: ambit why ${visibleText(id)}`]),
    ];
    ports.printError(lines.join("\n"));
  }
  return ENDS[code] ?? EXIT.deny;
}

function resultText(result: Json): string {
  if (typeof result === "string") return lines(result.replace(/\n$/, ""));
  // What a terminal would obey, or show in another order, is spelled out.
  return JSON.stringify(result, null, 2).replace(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

type InputText = { readonly ok: true; readonly text: string } | Failure;

/** What is too long for a command line comes from a file or standard input. `from`: a path, or `-` for standard input. */
async function readInput(from: string, piped: () => AsyncIterable<Uint8Array>): Promise<InputText> {
  try {
    return textOf(from === "-" ? await whole(piped()) : fileBytes(from));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    return { ok: false, message: `cannot read ${from === "-" ? "standard input" : from} (${code})` };
  }
}

async function whole(input: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of input) {
    pieces.push(piece);
    length += piece.length;
    if (length > jsonCharactersMax) break;
  }
  return Buffer.concat(pieces);
}

/** Neither a pipe without a writer nor a folder is waited for. */
function fileBytes(path: string): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw Object.assign(new Error("not a file"), { code: "not a regular file" });
    const bytes = Buffer.alloc(jsonCharactersMax + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null);
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

function textOf(bytes: Buffer): InputText {
  if (bytes.length > jsonCharactersMax)
    return { ok: false, message: `the arguments are longer than ${jsonCharactersMax} bytes` };
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) ? { ok: true, text } : { ok: false, message: "the arguments are not UTF-8" };
}
