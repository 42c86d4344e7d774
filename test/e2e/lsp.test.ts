// `ambit lsp` with a real client of the Language Server Protocol, over standard input and output.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type CodeAction,
  createProtocolConnection,
  type Diagnostic,
  type Hover,
  type ProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node.js";
import { writeFiles } from "../house/files.ts";
import { root } from "./ambit.ts";

let base = "";
let child: ChildProcess;
let client: ProtocolConnection;
const waiting = new Map<string, (diagnostics: readonly Diagnostic[]) => void>();

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "ambit-lsp-"));
  writeFiles(base, { ".ambit/agents/scout.md": "" });
  child = spawn(process.execPath, [join(root, "bin", "ambit"), "lsp", "--stdio"], {
    cwd: "/",
    env: { PATH: process.env["PATH"], XDG_CONFIG_HOME: join(base, "config"), XDG_STATE_HOME: join(base, "state") },
    stdio: ["pipe", "pipe", "inherit"],
  });
  client = createProtocolConnection(
    new StreamMessageReader(child.stdout as NodeJS.ReadableStream),
    new StreamMessageWriter(child.stdin as NodeJS.WritableStream),
  );
  client.onNotification("textDocument/publishDiagnostics", ({ uri, diagnostics }) => waiting.get(uri)?.(diagnostics));
  client.listen();
  const started = await client.sendRequest<{ serverInfo: { name: string } }>("initialize", {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
  });
  expect(started.serverInfo.name).toBe("ambit");
  await client.sendNotification("initialized", {});
});

afterAll(() => {
  client?.dispose();
  child?.kill();
  rmSync(base, { recursive: true, force: true });
});

let version = 0;
const uriOf = (path: string): string => pathToFileURL(join(base, path)).href;

/** Opens the text in the editor, and waits for what is wrong with it. */
async function open(path: string, text: string): Promise<readonly Diagnostic[]> {
  const uri = uriOf(path);
  const found = new Promise<readonly Diagnostic[]>((give) => waiting.set(uri, give));
  await client.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "markdown", version: ++version, text },
  });
  return found;
}

const SCOUT = ".ambit/agents/scout.md";
const record = (...lines: readonly string[]): string => ["---", "sandbox: .", ...lines, "---", ""].join("\n");

async function hover(path: string, line: number, character: number): Promise<string> {
  const about = await client.sendRequest<Hover | null>("textDocument/hover", {
    textDocument: { uri: uriOf(path) },
    position: { line, character },
  });
  return about === null ? "" : (about.contents as { value: string }).value;
}

async function completions(path: string, line: number, character: number): Promise<readonly string[]> {
  const items = await client.sendRequest<readonly { label: string }[]>("textDocument/completion", {
    textDocument: { uri: uriOf(path) },
    position: { line, character },
  });
  return items.map(({ label }) => label);
}

/** The text after the first quick fix at a place. */
async function fixed(path: string, text: string, line: number): Promise<string | null> {
  const position = { line, character: 0 };
  const actions = await client.sendRequest<readonly CodeAction[]>("textDocument/codeAction", {
    textDocument: { uri: uriOf(path) },
    range: { start: position, end: { line, character: 200 } },
    context: { diagnostics: [] },
  });
  const [edit] = actions[0]?.edit?.changes?.[uriOf(path)] ?? [];
  if (edit === undefined) return null;
  const lines = text.split("\n");
  const written = lines[edit.range.start.line] ?? "";
  lines[edit.range.start.line] =
    written.slice(0, edit.range.start.character) + edit.newText + written.slice(edit.range.end.character);
  return lines.join("\n");
}

describe("a record in an editor", () => {
  test("has no diagnostics where it is right", async () => {
    expect(await open(SCOUT, record("capabilities:", "  - fs.read"))).toEqual([]);
  });

  test("has our codes at the place of the mistake", async () => {
    const [found] = await open(SCOUT, record("capabilities:", "  - net.gte{hosts=[x.com]}"));
    expect(found).toMatchObject({ source: "ambit", code: "unknown_verb", range: { start: { line: 3 } } });
  });

  test("is mended by a quick fix, and then has no such diagnostic", async () => {
    const text = record("capabilities:", "  - net.gte{hosts=[x.com]}");
    await open(SCOUT, text);
    const mended = await fixed(SCOUT, text, 3);
    expect(mended).toBe(record("capabilities:", "  - net.get{hosts=[x.com]}"));
    expect(await open(SCOUT, mended ?? "")).toEqual([]);
  });

  test("offers no quick fix that leaves the mistake", async () => {
    const text = record("capabilities: [");
    expect(await open(SCOUT, text)).not.toEqual([]);
    expect(await fixed(SCOUT, text, 2)).toBe(null);
  });

  test("explains verbs with effect and risk, scope keys and its own keys", async () => {
    await open(SCOUT, record("capabilities:", "  - net.get{hosts=[x.com]}", "  - proc.exec:", "      cmds: [git]"));
    expect(await hover(SCOUT, 3, 6)).toContain("fetch from the network. Risk: medium");
    expect(await hover(SCOUT, 3, 13)).toContain("`hosts` of `net.get`");
    expect(await hover(SCOUT, 5, 8)).toContain("`cmds` of `proc.exec`");
    expect(await hover(SCOUT, 1, 2)).toContain("`sandbox`: the folder the agent works in");
    expect(await hover(SCOUT, 0, 1)).toBe("");
  });

  test("completes verbs in a list and the keys of the verb around", async () => {
    await open(SCOUT, record("capabilities:", "  - ", "  - net.get{", "  - proc.exec:", "      c"));
    expect(await completions(SCOUT, 3, 4)).toEqual(expect.arrayContaining(["net.get", "fs.read", "proc.exec"]));
    expect(await completions(SCOUT, 4, 12)).toEqual(expect.arrayContaining(["hosts", "ports", "ask", "calls"]));
    expect(await completions(SCOUT, 4, 12)).not.toContain("cmds");
    expect(await completions(SCOUT, 6, 7)).toEqual(expect.arrayContaining(["cmds", "patterns"]));
  });

  test("follows what is typed", async () => {
    await open(SCOUT, record("capabilities:", "  - fs.read"));
    const uri = uriOf(SCOUT);
    const found = new Promise<readonly Diagnostic[]>((give) => waiting.set(uri, give));
    await client.sendNotification("textDocument/didChange", {
      textDocument: { uri, version: ++version },
      contentChanges: [{ text: record("capabilities:", "  - fs.raed") }],
    });
    expect(await found).toMatchObject([{ code: "unknown_verb" }]);
  });
});

test("config.yml is read as a configuration", async () => {
  expect(await open(".ambit/config.yml", "agnets: {}\n")).toMatchObject([{ code: "unknown_key" }]);
});

test("other files, huge texts and addresses that are no files have no diagnostics", async () => {
  expect(await open("README.md", "---\ncapabilities: [x]\n---\n")).toEqual([]);
  expect(await open(SCOUT, `---\ncapabilities: [${"x".repeat(2_000_000)}]\n---\n`)).toEqual([]);
  const uri = "untitled:one";
  const found = new Promise<readonly Diagnostic[]>((give) => waiting.set(uri, give));
  await client.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "markdown", version: ++version, text: record("x") },
  });
  expect(await found).toEqual([]);
});

test("the server ends with the editor", async () => {
  await client.sendRequest("shutdown");
  await client.sendNotification("exit");
  const [status] = (await once(child, "exit")) as [number];
  expect(status).toBe(0);
});
