// A third-party tool in its sandboxed host, warm: the round trip without the store, and whole calls through the daemon.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Authority } from "../../src/core/authority/chain.ts";
import { VERSION } from "../../src/core/base/version.ts";
import type { CallMessages } from "../../src/core/ports/daemon/daemon-calls.ts";
import type { MessageClient } from "../../src/core/ports/daemon/exchange.ts";
import type { MemoryStore } from "../../src/core/ports/stores/memory-store.ts";
import { Contexts } from "../../src/daemon/contexts/contexts.ts";
import { daemonHosts } from "../../src/daemon/hosts/hosts.ts";
import { connect } from "../../src/daemon/rpc/client.ts";
import type { Session } from "../../src/daemon/session.ts";
import type { DaemonTool } from "../../src/daemon/tools/daemon-tool.ts";
import { rootFolder } from "../place.ts";
import type { Row } from "../row.ts";
import { authorityOf } from "../sandbox/fixture.ts";
import { byTurns } from "../sandbox/turns.ts";
import { expectValue } from "../state/fixture.ts";
import {
  AGENT,
  carriedValue,
  carryingOf,
  heldBy,
  OURS,
  readingIn,
  sessionIn,
  type ToolsFixture,
  warrantOf,
} from "./fixture.ts";
import { INSTRUMENTS } from "./in-process.ts";
import { oneByOne } from "./one-by-one.ts";

export const CHILD = "a bare child process";
export const MEMORY_GET = "ambit, memory_get";
export const CARRIED = "isolated: to the host and back";
export const WHOLE = "isolated: asked what it needs, decided, carried out";
export const WHOLE_USING = "isolated: the same, and it uses its context once";
export const THROUGH = "isolated: the whole call through the daemon";

const turnsCount = 25;
const callsCount = 20;

export async function measureIsolated(fixture: ToolsFixture): Promise<readonly Row[]> {
  return [...(await withoutStore(fixture)), ...(await throughDaemon(fixture))];
}

/** Answers at once: the path to it is measured. */
const MEMORY: MemoryStore = {
  get: async () => ({
    ok: true,
    value: {
      ...{ key: "k", value: "kept", version: 1, at: 0, expires: null, isClean: true },
      writer: { agent: AGENT, workspace: null },
    },
  }),
  set: async () => ({ ok: true, value: { ok: true, version: 1 } }),
  delete: async () => ({ ok: true, value: true }),
  list: async () => ({ ok: true, value: [] }),
  sweep: async () => ({ ok: true, value: 0 }),
};

async function withoutStore({ base, project, folders }: ToolsFixture): Promise<readonly Row[]> {
  const reading = readingIn(project);
  const authority = authorityOf(["memory.read", "memory.write", "tool.invoke{tools=[tool:**]}"], reading);
  const contexts = new Contexts({
    held: () => heldBy(authority, reading),
    redacting: { known: null, text: (text) => text, json: (value) => value },
    instruments: { backends: () => ({ has: () => true, hasSecret: () => true }), of: () => INSTRUMENTS },
    stores: {
      memory: MEMORY,
      observations: { append: async () => ({ ok: true, value: null }), query: async () => ({ ok: true, value: [] }) },
    },
    now: () => 0,
    id: () => "o_bench",
  });
  const hosts = daemonHosts({
    ...{ state: join(base, "hosts"), program: rootFolder, folders },
    install: () => "",
    requiresNamespaces: () => false,
    contexts: () => contexts,
    milliseconds: () => 60_000,
    elapsed: () => performance.now(),
    readingAt: () => reading,
    settings: () => ({ packages: [], isInDevelopment: false, ceiling: null }),
  });
  const session = sessionIn(project);
  const child = bareChild();
  try {
    const tools = await hosts.of(session);
    const named = (name: string): DaemonTool => {
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) throw new Error(`${name} was not loaded: ${tools.map((one) => one.name).join()}`);
      return tool;
    };
    const [echo, keeper] = [named("echo"), named("keeper")];
    const known = await wholeCall(contexts, authority, echo, session, project, "warm");
    const carrying = carryingOf(session, known, contexts);
    const bare = oneByOne(CHILD, callsCount, async (at) =>
      expectText(await child.ask({ text: `oslo-${at}` }), `oslo-${at}`),
    );
    const whole = (tool: DaemonTool) =>
      oneByOne(
        OURS,
        callsCount,
        async (at) => void (await wholeCall(contexts, authority, tool, session, project, `oslo-${at}`)),
      );
    const carried = oneByOne(OURS, callsCount, async () =>
      expectText(carriedValue(await echo.execute(carrying)), "warm"),
    );
    return [
      ...(await byTurns(CARRIED, turnsCount, [bare, carried])),
      ...(await byTurns(WHOLE, turnsCount, [bare, whole(echo)])),
      ...(await byTurns(WHOLE_USING, turnsCount, [bare, whole(keeper)])),
    ];
  } finally {
    child.end();
    session.close();
    await hosts.close();
  }
}

/** As the daemon does, but for the store: the tool says what it needs, the gate decides, the host carries it out. */
async function wholeCall(
  contexts: Contexts,
  authority: Authority,
  tool: DaemonTool,
  session: Session,
  folder: string,
  text: string,
) {
  const derived = await tool.derive?.({ text }, session, readingIn(folder));
  if (derived?.ok === false) throw new Error(derived.message);
  const requests = () => ({ ok: true as const, value: derived?.value ?? [] });
  const requirement = tool.foreign?.requirement ?? null;
  const warrant = await warrantOf(authority, { name: tool.name, requirement, requests }, { text });
  expectText(carriedValue(await tool.execute(carryingOf(session, warrant, contexts))), text);
  return warrant;
}

async function throughDaemon({ project, folders }: ToolsFixture): Promise<readonly Row[]> {
  const calls: MessageClient<CallMessages> = expectValue(
    await connect("call", { folder: join(folders.state, "daemon"), version: VERSION }),
  );
  try {
    const { session } = expectValue(
      await calls.ask("session.open", {
        ...{ cwd: project, agent: AGENT, user: null, trace: null, face: "library" },
        ...{ pledge: null, token: null, environment: {}, isForParent: false },
      }),
    );
    const call = async (tool: string, input: Readonly<Record<string, string>>): Promise<unknown> => {
      const done = expectValue(
        await calls.ask("call.do", { session, tool, input, requests: null, waitMilliseconds: 0 }),
      );
      if (done.outcome !== "done") throw new Error(`${tool} is denied: ${done.code} ${done.reason ?? ""}`);
      return done.result;
    };
    await call("memory_set", { key: "notes/today", value: "rain" });
    return await byTurns(THROUGH, turnsCount, [
      oneByOne(MEMORY_GET, callsCount, async () => {
        const got = JSON.stringify(await call("memory_get", { key: "notes/today" }));
        if (!got.includes("rain")) throw new Error(`another answer: ${got}`);
      }),
      oneByOne(OURS, callsCount, async (at) => expectText(await call("echo", { text: `oslo-${at}` }), `oslo-${at}`)),
    ]);
  } finally {
    calls.close();
  }
}

const ECHOING = `require("node:readline").createInterface({ input: process.stdin })
  .on("line", (line) => process.stdout.write(line + "\\n"));`;

/** The cost of two pipes and another Node, with nothing around them. */
function bareChild() {
  const child = spawn(process.execPath, ["-e", ECHOING], { stdio: ["pipe", "pipe", "inherit"], env: {} });
  let give: (line: string) => void = () => undefined;
  createInterface({ input: child.stdout }).on("line", (line) => give(line));
  return {
    ask: (message: object): Promise<unknown> =>
      new Promise((done) => {
        give = (line) => done(JSON.parse(line));
        child.stdin.write(`${JSON.stringify(message)}\n`);
      }),
    end: () => child.stdin.end(),
  };
}

/** The daemon returns a tool's result under `result`. */
function expectText(value: unknown, text: string): void {
  if ((value as { readonly text?: unknown } | null)?.text !== text)
    throw new Error(`another answer: ${JSON.stringify(value)?.slice(0, 200)}`);
}
