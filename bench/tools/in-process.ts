// A tool that the application passes in code: gate, warrant, context and outcome, beside calling its function.
import type { Authority, Chain } from "../../src/core/authority/chain.ts";
import { judge } from "../../src/core/authority/judge.ts";
import { readDeclarationValue } from "../../src/core/notation/tools/declaration-value.ts";
import type { KeysPort } from "../../src/core/ports/instruments.ts";
import type { Instruments } from "../../src/runtime/context/context.ts";
import type { Capabilities } from "../../src/runtime/tool/declaration.ts";
import { defineTool, type Tool } from "../../src/runtime/tool/define.ts";
import type { RegisteredTool } from "../../src/runtime/tool/registered.ts";
import { createRegistry } from "../../src/runtime/tool/registry.ts";
import { runTool } from "../../src/runtime/tool/run.ts";
import type { Row } from "../row.ts";
import { authorityOf, moment } from "../sandbox/fixture.ts";
import { byTurns } from "../sandbox/turns.ts";
import { OURS, readingIn, warrantOf } from "./fixture.ts";
import { byCpu, oneByOne } from "./one-by-one.ts";

export const BARE = "the function alone";
export const CPU = ", CPU";
export const IN_PROCESS: readonly string[] = [
  "in process: a tool that declares nothing",
  "in process: a tool with a declaration and a request",
  "in process: the same, and it uses its context once",
];

const turnsCount = 30;
const callsCount = 200;
const warmCallsCount = 10_000;
const FOLDER = "/srv/project";
const READING = readingIn(FOLDER);
/** Typical grants of an agent, and a ceiling above it. */
const GRANTS: readonly string[] = [
  `fs.read{in=${FOLDER}}`,
  `fs.write{in=${FOLDER}/src}`,
  ...["api.example.com", "registry.example.org", "docs.example.net"].map((host) => `net.get{hosts=[${host}]}`),
  "memory.read{keys=[notes/**,tool/**]}",
  "memory.write{keys=[notes/**,tool/**]}",
  "tool.invoke{tools=[plain,declared,using]}",
];

export async function measureInProcess(): Promise<readonly Row[]> {
  const authority: Authority = [[one(GRANTS), one(CEILING)]];
  const tools = registeredTools();
  const rows: Row[] = [];
  for (const [at, name] of IN_PROCESS.entries()) {
    const { registered, bare } = tools[at] as (typeof tools)[number];
    const whole: Authority = authority.map(
      (chain): Chain => (registered.requirement === null ? chain : [...chain, registered.requirement]),
    );
    const call = async (count: number): Promise<void> => {
      const text = `oslo-${count}`;
      const warrant = await warrantOf(authority, registered, { text });
      const outcome = await runTool(registered, warrant, {
        ...{ availability: { ok: true }, signal: null, instruments: INSTRUMENTS, denied: () => undefined },
        judge: (request) => judge(whole, request, moment()),
        pathSettings: READING.pathSettings,
        toAscii: READING.toAscii,
      });
      expectText(outcome.ok ? outcome.value : outcome, text);
    };
    const alone = async (count: number): Promise<void> =>
      expectText(await bare({ text: `oslo-${count}` }), `oslo-${count}`);
    // As in a process that has been running for a while: compiled, and optimized.
    for (let count = 0; count < warmCallsCount; count++) await call(count);
    rows.push(
      ...(await byTurns(name, turnsCount, [oneByOne(BARE, callsCount, alone), oneByOne(OURS, callsCount, call)])),
      ...(await byTurns(`${name}${CPU}`, turnsCount, [byCpu(BARE, callsCount, alone), byCpu(OURS, callsCount, call)])),
    );
  }
  return rows;
}

const CEILING: readonly string[] = [
  ...["fs.read{in=/}", "fs.write{in=/}", "net.get{hosts=[*.example.com,*.example.org,*.example.net]}"],
  ...["memory.read", "memory.write", "tool.invoke{tools=[tool:**]}"],
];

function one(specs: readonly string[]): Chain[number] {
  const [[link] = []] = authorityOf(specs, READING);
  if (link === undefined) throw new Error("no grants");
  return link;
}

type Said = (input: { readonly text: string }) => Promise<unknown>;

function registeredTools(): readonly { readonly registered: RegisteredTool; readonly bare: Said }[] {
  const registry = createRegistry({
    read: (declaration) => readDeclarationValue(declaration, READING),
    policy: { authority: [[one(CEILING)]], name: "the policy", holds: [], protectedPaths: [] },
    backends: { has: () => true, hasSecret: () => true },
    pathSettings: READING.pathSettings,
    toAscii: READING.toAscii,
  });
  const input = {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
    additionalProperties: false,
  } as const;
  const description = "Says it again.";
  const capabilities: Capabilities = {
    fs_reach: { read: [FOLDER] },
    storage: { scope: "tool-private", kind: "kv" },
  };
  const say: Said = async ({ text }) => ({ text });
  const requests = ({ text }: { readonly text: string }) => [{ verb: "fs.read", path: `${FOLDER}/${text}` } as const];
  const register = (tool: unknown): RegisteredTool => {
    const answer = registry.register(tool as Tool, "application");
    const found = answer.ok ? registry.find(answer.name) : null;
    if (found === null) throw new Error(answer.ok ? answer.name : answer.errors.map(({ message }) => message).join());
    return found;
  };
  return [
    { registered: register(defineTool({ name: "plain", description, input, execute: say })), bare: say },
    {
      registered: register(defineTool({ name: "declared", description, capabilities, input, requests, execute: say })),
      bare: say,
    },
    {
      registered: register(
        defineTool({
          ...{ name: "using", description, capabilities, input, requests },
          execute: async ({ text }, context) => {
            const kept = await context.storage.get("notes");
            return kept.ok ? { text } : kept;
          },
        }),
      ),
      bare: async ({ text }) => {
        const kept = await KEPT.get([]);
        return kept.ok ? { text } : kept;
      },
    },
  ];
}

/** Answers at once: the path to it is measured. */
const KEPT: KeysPort = {
  get: async () => ({ ok: true, value: { value: "kept", version: 1, at: 0, expires: null, clean: true } }),
  set: async () => ({ ok: true, value: { version: 1 } }),
  delete: async () => ({ ok: true, value: true }),
  list: async () => ({ ok: true, value: [] }),
  shown: () => undefined,
};

export const INSTRUMENTS: Instruments = {
  ...{ fetching: null, files: null, programs: null, secrets: null, observations: null },
  ...{ storage: KEPT, memory: KEPT },
};

function expectText(value: unknown, text: string): void {
  if ((value as { readonly text?: unknown } | null)?.text !== text)
    throw new Error(`another answer: ${JSON.stringify(value)?.slice(0, 200)}`);
}
