// Kinds of standard input: clients give pipes and sockets, people also give files. Every line is answered, and the server exits
// at the end.
import { spawn } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { Fixture } from "../state/fixture.ts";
import { AS_CLIENT, type Message } from "./line-client.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("keeper", ["memory.read", "memory.write"]);
  await fixture.begin();
});
afterAll(() => fixture?.remove());

const LONG = "x".repeat(200_000);
const call = (id: number, name: string, input: object): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: input } })}\n`;
/** Short lines, one longer than any read, and one without a newline. */
const LINES = [
  ...Array.from({ length: 20 }, (_, at) => call(at, "memory_set", { key: `k/${at}`, value: "é".repeat(at) })),
  call(20, "memory_set", { key: "long", value: LONG }),
  call(21, "memory_get", { key: "nothing" }).trimEnd(),
].join("");

/** Its status and output; `input` is its standard input, or the bytes for a pipe. */
async function served(input: number | string): Promise<{ status: number | null; told: readonly Message[] }> {
  const server = [process.execPath, join(root, "bin", "ambit"), "mcp", "serve", "--agent", "keeper"];
  const child = spawn("perl", [...AS_CLIENT, ...server], {
    cwd: fixture.project,
    env: fixture.environment,
    stdio: [typeof input === "number" ? input : "pipe", "pipe", "inherit"],
  });
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  if (typeof input === "string") child.stdin?.end(input);
  const status = await new Promise<number | null>((over) => child.once("close", over));
  const lines = text.split("\n").filter((line) => line !== "");
  return { status, told: lines.map((line) => JSON.parse(line) as Message) };
}

function ids(told: readonly Message[]): readonly unknown[] {
  return told.map(({ id }) => Number(id)).sort((one, other) => one - other);
}

const ALL = Array.from({ length: 22 }, (_, at) => at);

test("from a pipe", async () => {
  const { status, told } = await served(LINES);
  expect([status, ids(told)]).toEqual([0, ALL]);
  expect(told.filter(({ result }) => result?.["isError"] === true)).toEqual([]);
});

test("from a file", async () => {
  const file = join(fixture.project, "lines");
  writeFileSync(file, LINES);
  const descriptor = openSync(file, "r");
  const { status, told } = await served(descriptor);
  closeSync(descriptor);
  expect([status, ids(told)]).toEqual([0, ALL]);
});

test("from /dev/null", async () => {
  const descriptor = openSync("/dev/null", "r");
  expect(await served(descriptor)).toEqual({ status: 0, told: [] });
  closeSync(descriptor);
});
