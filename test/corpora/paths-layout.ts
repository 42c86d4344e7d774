// fs_layout cases: the tree is built on the real disk, and the input is read in it by a real worker.
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { tree } from "../../src/core/authority/axes/path.ts";
import type { Authority } from "../../src/core/authority/chain.ts";
import { judge } from "../../src/core/authority/judge.ts";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import type { Files } from "../../src/core/ports/files.ts";
import { makeContext } from "../../src/runtime/context/context.ts";
import type { UseResult } from "../../src/runtime/context/use-result.ts";
import type { FileToolName } from "../../src/tools/files/definitions.ts";
import { FILE_TOOLS } from "../../src/tools/files/file-tools.ts";
import { filesUnder } from "../files/reading.ts";
import { chain, grant, link, moment } from "../forge/authority.ts";
import { authorizeCall } from "../tools/carrying.ts";
import { type Data, flag, text, texts } from "./data.ts";
import { compareAnswers, type Outcome } from "./tally.ts";

const marker = "inside the root";

export async function runLayout(row: Data, must: boolean): Promise<Outcome> {
  const above = realpathSync(mkdtempSync(join(tmpdir(), "ambit-layout-")));
  try {
    const root = join(above, text(row, "root_name") ?? "ROOT");
    build(root, texts(row["fs"] ?? []) ?? [], text(row, "target"), must);
    const input = text(row, "input") ?? "";
    const found = await reach(root, input);
    if (found === "outside") return { kind: "missed", note: "something outside was read" };
    const reached = found === "inside";
    if (reached === must) return compareAnswers(must, reached, "");
    const reason = differences.find(({ holds, side }) => side === must && holds(row, input))?.reason;
    if (reason !== undefined) return { kind: "decided", reason };
    return compareAnswers(must, reached, must ? `inside, not reached: ${found}` : "error, reached");
  } finally {
    rmSync(above, { recursive: true, force: true });
  }
}

/** `a/` is a folder, `a => b` a link, anything else a file; the target is created as a file unless it exists. */
function build(root: string, entries: readonly string[], target: string | null, must: boolean): void {
  mkdirSync(root);
  for (const entry of entries) {
    const [name, link] = entry.split(" => ") as [string, string | undefined];
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    if (link !== undefined) symlinkSync(link, path);
    else if (name.endsWith("/")) mkdirSync(path, { recursive: true });
    else writeFileSync(path, marker);
  }
  if (target === null || existsSync(join(root, target))) return;
  const path = join(root, target);
  if (!path.startsWith(`${root}/`)) throw new Error(`the target ${target} is not in the root`);
  // A target that must be reached must exist; a link in its path is part of the case.
  try {
    if (must) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, marker, { flag: "wx" });
  } catch {
    // Nothing readable there: the case says whether that is right.
  }
}

const NOTHING_ELSE = {
  ...{ fetching: null, programs: null, secrets: null, storage: null, memory: null, observations: null },
};

/** With the real tools: read, or listed if it is a folder. */
async function reach(root: string, input: string): Promise<string> {
  const base = root.split("/").filter((name) => name !== "");
  const granted = [grant("fs.read", [{ kind: "sequences", of: [tree(base)] }])];
  const files = filesUnder(granted, [{ path: base, mode: "read" }], []);
  const port = Object.assign(files, {
    exclusively: <T>(_: unknown, act: (all: Files) => Promise<T>) => act(files),
    pause: async () => undefined,
  });
  const authority: Authority = [chain(link("record", granted))];
  const reading = {
    pathSettings: { home: null, base, protectedPaths: [] },
    toAscii: (name: string) => name,
    ceiling: null,
  };
  const call = async (name: FileToolName): Promise<UseResult<Json>> => {
    const tool = FILE_TOOLS.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    const requests = (given: JsonObject) =>
      tool.requests(given, { ...reading, tool: name, agent: "scout", environment: {}, notation: reading });
    const known = { name, requirement: null, requests };
    const gate = await authorizeCall(authority, { tool: name, input: { path: input } }, () => known, moment());
    if (!gate.ok) return { ok: false, code: gate.code, verb: null, message: gate.reason ?? "by the gate" };
    const open = makeContext(gate.warrant, {
      ...{ ...reading, store: null, denied: () => undefined },
      instruments: { ...NOTHING_ELSE, files: port },
      judge: (request) => judge(authority, request, moment()),
    });
    try {
      return await tool.execute(gate.warrant.arguments, open.context);
    } finally {
      open.end();
    }
  };
  try {
    const read = await call("fs_read");
    if (read.ok) return (read.value as JsonObject)["text"] === marker ? "inside" : "outside";
    if (!read.message.startsWith("it is a folder")) return `${read.code}: ${read.message}`;
    const listed = await call("fs_list");
    return listed.ok ? "inside" : `${listed.code}: ${listed.message}`;
  } finally {
    files.close();
  }
}

interface Difference {
  readonly reason: string;
  /** The answer of the case it excuses: true if it must be reached. */
  readonly side: boolean;
  readonly holds: (row: Data, input: string) => boolean;
}

/** Each is recognized from the input alone. */
const differences: readonly Difference[] = [
  {
    reason: "clamped there, refused here",
    side: true,
    holds: (row, input) =>
      flag(row, "securejoin") === true && (climbs(input) || input.startsWith("/") || linksOut(row)),
  },
  {
    reason: "`..` is taken back in the text, before links are followed",
    side: true,
    holds: (row, input) => flag(row, "securejoin") === true && /(^|\/)\.\.(\/|$)/.test(input) && links(row).length > 0,
  },
  {
    reason: "out of the root and in again: decided by where it ends",
    side: false,
    holds: (row, input) => climbs(input) || linksOut(row),
  },
  {
    reason: "a slash behind a name says nothing",
    side: false,
    holds: (_, input) => input.endsWith("/"),
  },
];

/** Above its start at some point, wherever it ends. */
function climbs(path: string): boolean {
  let depth = 0;
  for (const name of path.split("/")) {
    if (name === "" || name === ".") continue;
    depth += name === ".." ? -1 : 1;
    if (depth < 0) return true;
  }
  return false;
}

function links(row: Data): readonly (readonly [name: string, target: string])[] {
  return (texts(row["fs"] ?? []) ?? []).flatMap((entry) => {
    const [name, target] = entry.split(" => ") as [string, string | undefined];
    return target === undefined ? [] : [[name, target] as const];
  });
}

function linksOut(row: Data): boolean {
  return links(row).some(([name, target]) => target.startsWith("/") || climbs(`${posix.dirname(name)}/${target}`));
}
