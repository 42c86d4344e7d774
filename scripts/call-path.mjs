// `npm run call-path`: how far one call travels through the sources. Runs instrumented programs and counts, for each
// process, the distinct functions, the files they are in and the changes of room. `--json` for programs; `--trace` with
// the files of each process and their functions; `--write` puts the table into ARCHITECTURE.md.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Programs } from "./call-path/programs.mjs";
import { setUp } from "./house/house.mjs";
import { prepareNative } from "./house/native.mjs";
import { root, say } from "./house/root.mjs";

/**
 * Timers of the daemon run during some measurements and not during others: a function counts if every one of these runs entered
 * it.
 */
const runsCount = 5;
/** What the daemon does after its answer (the entry of the outcome, the end of the session) belongs to the call. */
const settleMilliseconds = 250;
/** Longer than the daemon reuses parsed files without checking them again. */
const pauseMilliseconds = 1000;
const tableStart = "<!-- call-path -->";
const tableEnd = "<!-- /call-path -->";

const status = await setUp();
if (status !== 0) process.exit(status);
await prepareNative();
const roomOf = await loadRoomOf();
const programs = new Programs();
let rows;
try {
  await programs.prepare();
  rows = await measure();
} catch (problem) {
  say(problem.message);
  process.exitCode = 1;
} finally {
  await programs.close();
}
if (rows !== undefined) print(rows);

async function measure() {
  const input = { path: "notes.txt" };
  const call = ["call", "reader", "fs_read", JSON.stringify(input)];
  const exec = ["exec", "reader", "--root", "ro", "--", "uname"];
  // The first of each starts workers and fills caches.
  for (const words of [call, exec]) await programs.command(...words);
  const client = await programs.mcp();
  await client.call("fs_read", input);
  const can = await common(async () => ({ ambit: await programs.command("can", "reader", "fs.read", "notes.txt") }));
  const called = await common(() => later(["daemon"], () => programs.command(...call)));
  const served = await common(() => during(["mcp", "daemon"], () => client.call("fs_read", input)));
  const servedLater = await common(() => later(["daemon"], () => client.call("fs_read", input)));
  const executed = await common(() => later(["daemon"], () => programs.command(...exec)));
  await client.close();
  return [
    row("can", "ambit", can),
    row("call fs_read", "daemon", called),
    row("MCP tools/call fs_read", "mcp", served),
    row("MCP tools/call fs_read", "daemon", served),
    row("the same, a second later", "daemon", servedLater),
    row("exec uname", "daemon", executed),
  ];
}

function during(names, act) {
  return programs.during(names, act, settleMilliseconds);
}

/** Starts after a pause, so that the figures do not depend on the speed of the machine. */
async function later(names, act) {
  await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
  return during(names, act);
}

/** For each process the functions that every run entered, in the order of first entry in the first run. */
async function common(act) {
  const found = {};
  for (let count = 0; count < runsCount; count++)
    for (const [name, trace] of Object.entries(await act())) {
      const entered = new Set(trace);
      found[name] = (found[name] ?? [...entered]).filter((one) => entered.has(one));
    }
  return found;
}

function row(call, process, traces) {
  const functions = traces[process];
  const rooms = functions.map(({ path }) => roomOf(path));
  return {
    call,
    process,
    functions: functions.length,
    files: new Set(functions.map(({ path }) => path)).size,
    roomChanges: changes(rooms),
    trace: functions,
  };
}

function changes(rooms) {
  return rooms.filter((room, at) => at > 0 && room !== rooms[at - 1]).length;
}

/** The tidy test's table of rooms is the only one. */
async function loadRoomOf() {
  const { build } = await import("esbuild");
  const entryPoints = [join(root, "test", "tidy", "rooms.ts")];
  const { outputFiles } = await build({ entryPoints, bundle: true, write: false, format: "esm", logLevel: "error" });
  const rooms = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
  return rooms.roomOf;
}

function print(found) {
  if (process.argv.includes("--json")) {
    process.stdout.write(`${JSON.stringify({ paths: found.map(({ trace: _, ...figures }) => figures) })}\n`);
    return;
  }
  if (process.argv.includes("--trace")) for (const one of found) printTrace(one);
  const lines = table(found);
  process.stdout.write(lines);
  if (process.argv.includes("--write")) writeTable(lines);
}

function printTrace({ call, process: name, trace }) {
  process.stdout.write(`## ${call}, ${name}\n`);
  const files = new Map();
  for (const { path, line, name: own } of trace) files.set(path, [...(files.get(path) ?? []), `${own}:${line}`]);
  for (const [path, functions] of files) process.stdout.write(`${path}: ${functions.join(" ")}\n`);
}

function table(found) {
  const head = ["| call | process | functions | files | changes of room |", "|---|---|---|---|---|"];
  const body = found.map(
    ({ call, process: name, functions, files, roomChanges }) =>
      `| \`${call}\` | ${name} | ${functions} | ${files} | ${roomChanges} |`,
  );
  return `${[...head, ...body].join("\n")}\n`;
}

function writeTable(lines) {
  const path = join(root, "ARCHITECTURE.md");
  const text = readFileSync(path, "utf8");
  const [start, end] = [text.indexOf(tableStart), text.indexOf(tableEnd)];
  if (start < 0 || end < start) throw new Error(`${path} has no ${tableStart} ... ${tableEnd}`);
  writeFileSync(path, `${text.slice(0, start + tableStart.length)}\n${lines}${text.slice(end)}`);
}
