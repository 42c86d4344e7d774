// Lines sent to the real server, with a new state for each row: its answers, and whether it keeps running.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isJsonObject, type Json, type JsonObject, member } from "../../src/core/base/json.ts";
import { lineBytesMax } from "../../src/mcp/limits.ts";
import { prepareState } from "../house/daemon-state.ts";
import { wholeCaveats } from "./caveats.ts";
import { type Compared, type Family, notRun, type Outcome, pendingOutcome } from "./outcome.ts";
import { has, mapAt, mapOr, type Row, textAt, textsAt } from "./row.ts";

/** The runner and the tests start in our own folder. */
const program = join(process.cwd(), "bin", "ambit");
const isBuilt = (): boolean => existsSync(join(process.cwd(), "dist", "mcp.cjs"));

export const served: Family = {
  answers: ["expect"],
  run: async (row) => {
    if (!["request", "raw", "shell_args", "sequence"].some((key) => has(row, key)))
      return notRun("nothing is said in it");
    return isBuilt() ? compared(row) : pendingOutcome("served");
  },
};

async function compared(row: Row): Promise<Outcome> {
  const said = saidIn(row);
  const { told, isOver } = await answers(wholeCaveats(mapOr(row, "caveats")), said);
  if (has(row, "sequence")) return sequence(row, told);
  if (has(row, "shell_args")) return prose(row, codeOf(told.get(2)) === "invalid_input" ? "hard error" : told);
  const expect = member(row, "expect");
  if (typeof expect === "string") {
    const isSilent = !told.has(2);
    const got = isOver ? "server stops; later lines ignored" : isSilent ? "no response" : told;
    return prose(row, got);
  }
  return answered(mapAt(row, "expect"), has(row, "raw") ? told.get(null) : told.get(2));
}

/** The lines of a row, after the initializing one; each with the id of its answer. */
function saidIn(row: Row): readonly string[] {
  const call = (id: number, input: JsonObject): string =>
    JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "shell", arguments: input } });
  if (has(row, "raw"))
    return [/longer than the cap/.test(textAt(row, "raw")) ? "x".repeat(lineBytesMax + 1) : textAt(row, "raw")];
  if (has(row, "shell_args")) return [call(2, mapAt(row, "shell_args"))];
  if (has(row, "sequence")) return textsAt(row, "sequence").map((text, at) => call(2 + at, wordsOf(text)));
  const request = mapAt(row, "request");
  const isNotice = String(request["method"]).startsWith("notifications/");
  return [JSON.stringify({ jsonrpc: "2.0", ...(isNotice ? {} : { id: 2 }), ...request })];
}

/** "cmd: rm x -> isError": the tool and its arguments. */
function wordsOf(text: string): JsonObject {
  const [, key = "", what = ""] = /^(\w+): (.+?) ->/.exec(text) ?? [];
  return { [key]: what };
}

function sequence(row: Row, told: ReadonlyMap<Json, JsonObject>): Compared {
  const wanted = textsAt(row, "sequence").map((text) => /-> (.+)$/.exec(text)?.[1] ?? "");
  const got = wanted.map((_, at) => (member(resultOf(told.get(2 + at)), "isError") === true ? "isError" : "ok"));
  const isWider = wanted.some((one, at) => one !== "ok" && got[at] === "ok");
  return { kind: "compared", expected: { sequence: wanted }, got: { sequence: got }, wider: isWider };
}

function prose(row: Row, got: unknown): Compared {
  const expect = textAt(row, "expect");
  const text = typeof got === "string" ? got : JSON.stringify(got instanceof Map ? [...got.values()] : got);
  return { kind: "compared", expected: { expect }, got: { expect: text }, wider: false };
}

function answered(expect: JsonObject, told: JsonObject | undefined): Compared {
  const result = resultOf(told);
  const isError = member(result, "isError") === true;
  const text = JSON.stringify(member(result, "content") ?? null);
  const wanted = member(expect, "text_contains");
  const error = member(told ?? {}, "error");
  const got: JsonObject = {
    isError: told === undefined ? null : isError,
    ...(typeof wanted === "string" ? { text_contains: text.includes(wanted) ? wanted : text } : {}),
    ...(isJsonObject(error) ? { error: { code: member(error, "code") ?? null } } : {}),
  };
  return { kind: "compared", expected: expect, got, wider: member(expect, "isError") === true && !isError };
}

function resultOf(told: JsonObject | undefined): JsonObject {
  return told === undefined ? {} : mapOr(told, "result");
}

function codeOf(told: JsonObject | undefined): Json {
  return mapOr(resultOf(told), "structuredContent")["code"] ?? null;
}

const BEGIN = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}';
const AFTER = '{"jsonrpc":"2.0","id":"after","method":"ping"}';
const millisecondsMax = 60_000;

/** Answers by their ids. One line at a time, and one more that shows whether it still responds. */
async function answers(
  caveats: JsonObject,
  lines: readonly string[],
): Promise<{ readonly told: ReadonlyMap<Json, JsonObject>; readonly isOver: boolean }> {
  const folder = mkdtempSync(join(tmpdir(), "ambit-vectors-mcp-"));
  const [state, config, project] = ["state", "config", "project"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(project);
  prepareState(state, config);
  const child = spawn(process.execPath, [program, "mcp", "serve"], {
    cwd: project,
    env: {
      PATH: process.env["PATH"],
      XDG_STATE_HOME: state,
      XDG_CONFIG_HOME: config,
      AMBIT_CAVEATS: JSON.stringify(caveats),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const late = setTimeout(() => child.kill("SIGKILL"), millisecondsMax);
  const over = once(child, "close");
  const told = new Map<Json, JsonObject>();
  try {
    const ear = hearing(child, told);
    child.stdin?.on("error", () => undefined);
    for (const line of [BEGIN, ...lines]) {
      child.stdin?.write(`${line}\n`);
      await ear(idOf(line));
    }
    child.stdin?.write(`${AFTER}\n`);
    await ear("after");
    child.stdin?.end();
    await over;
  } finally {
    clearTimeout(late);
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
  return { told, isOver: !told.has("after") };
}

/** Undefined for a line that has no answer of its own. */
function idOf(line: string): Json | undefined {
  try {
    return (JSON.parse(line) as { readonly id?: Json }).id;
  } catch {
    return null;
  }
}

/** Waits for the answer with an id, or for the end. */
function hearing(child: ChildProcess, told: Map<Json, JsonObject>): (id: Json | undefined) => Promise<void> {
  let rest = "";
  let isOver = false;
  let ring = (): void => undefined;
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as JsonObject;
      told.set(member(message, "id") ?? null, message);
    }
    ring();
  });
  child.on("close", () => {
    isOver = true;
    ring();
  });
  return async (id) => {
    while (id !== undefined && !told.has(id) && !isOver)
      await new Promise<void>((go) => {
        ring = go;
      });
  };
}
