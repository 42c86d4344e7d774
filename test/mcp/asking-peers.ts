// Clients that can be asked: the protocol's newer library in both eras, and the older one. Each writes down what it was asked.
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ProgressNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { root } from "../e2e/ambit.ts";
import type { Fixture } from "../state/fixture.ts";
import { AS_CLIENT } from "./line-client.ts";

export type PeerKind = "older library" | "newer library, older era" | "newer library, newer era";
export const PEERS: readonly PeerKind[] = ["older library", "newer library, older era", "newer library, newer era"];
export const NEWER = "2026-07-28";

export interface AskingPeer {
  /** Parameters of what it was asked, in order. */
  readonly asked: Record<string, unknown>[];
  /** The libraries drop progress that they read together with the answer, so it is written down as it comes. */
  readonly progress: Record<string, unknown>[];
  readonly logs: { readonly level: string; readonly logger?: string; readonly data: unknown }[];
  /** What it answers a form with. */
  answer: (asked: Record<string, unknown>) => Record<string, unknown> | Promise<Record<string, unknown>>;
  call(name: string, input?: Record<string, unknown>, more?: CallMore): Promise<string>;
  /** The text of a resource, or of a prompt. */
  read(uri: string): Promise<string>;
  prompt(name: string): Promise<string>;
  setLevel(level: "debug" | "error"): Promise<void>;
  close(): Promise<void>;
}

export interface CallMore {
  readonly signal?: AbortSignal;
  /** The token under which it wants progress. */
  readonly progressToken?: string;
}

const WHO = { name: "test", version: "0" };
const CAPABILITIES = { elicitation: { form: {} }, sampling: {}, roots: {} };
const SAMPLED = { role: "assistant", model: "tested", content: { type: "text", text: "the model's words" } };

export async function askingPeer(
  fixture: Fixture,
  agent: string,
  kind: PeerKind,
  capabilities: object = CAPABILITIES,
): Promise<AskingPeer> {
  const words = [process.execPath, join(root, "bin", "ambit"), "mcp", "serve", "--agent", agent];
  const env = Object.fromEntries(Object.entries(fixture.environment).map(([name, value]) => [name, value ?? ""]));
  const server = {
    command: "perl",
    args: [...AS_CLIENT, ...words],
    env,
    cwd: fixture.project,
    stderr: "ignore" as const,
  };
  const asked: Record<string, unknown>[] = [];
  const logs: AskingPeer["logs"] = [];
  const progress: AskingPeer["progress"] = [];
  const elicited = async ({ params }: { params: unknown }): Promise<never> => {
    asked.push(params as Record<string, unknown>);
    return (await peer.answer(params as Record<string, unknown>)) as never;
  };
  const sampled = async ({ params }: { params: unknown }): Promise<never> => {
    asked.push(params as Record<string, unknown>);
    return SAMPLED as never;
  };
  const common = { asked, logs, progress, answer: () => ({ action: "accept", content: { name: "Ada" } }) };
  const has = (name: string): boolean => name in capabilities;
  let peer: AskingPeer;
  if (kind === "older library") {
    const client = new OlderClient(WHO, { capabilities: capabilities as never });
    if (has("elicitation")) client.setRequestHandler(ElicitRequestSchema, elicited);
    if (has("sampling")) client.setRequestHandler(CreateMessageRequestSchema, sampled);
    client.setNotificationHandler(ProgressNotificationSchema, ({ params }) => void progress.push(params));
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logs.push(params as never));
    peer = {
      ...common,
      call: async (name, input = {}, { progressToken, ...more } = {}) => {
        const meta = progressToken === undefined ? {} : { _meta: { progressToken } };
        return textOf(await client.callTool({ name, arguments: input, ...meta }, undefined, more as never));
      },
      read: async (uri) => JSON.stringify(await client.readResource({ uri })),
      prompt: async (name) => JSON.stringify(await client.getPrompt({ name })),
      setLevel: async (level) => void (await client.setLoggingLevel(level)),
      close: () => client.close(),
    };
    await client.connect(new OlderTransport(server));
    return peer;
  }
  const isNewer = kind === "newer library, newer era";
  const client = new Client(WHO, {
    capabilities: capabilities as never,
    versionNegotiation: { mode: isNewer ? { pin: NEWER } : "legacy" },
  });
  if (has("elicitation")) client.setRequestHandler("elicitation/create", elicited);
  if (has("sampling")) client.setRequestHandler("sampling/createMessage", sampled);
  client.setNotificationHandler("notifications/progress", ({ params }) => void progress.push(params));
  client.setNotificationHandler("notifications/message", ({ params }) => void logs.push(params as never));
  let level: string | null = null;
  peer = {
    ...common,
    call: async (name, input = {}, { progressToken, ...more } = {}) => {
      const meta = {
        ...(isNewer && level !== null ? { "io.modelcontextprotocol/logLevel": level } : {}),
        ...(progressToken === undefined ? {} : { progressToken }),
      };
      return textOf(await client.callTool({ name, arguments: input, _meta: meta }, more as never));
    },
    read: async (uri) => JSON.stringify(await client.readResource({ uri })),
    prompt: async (name) => JSON.stringify(await client.getPrompt({ name })),
    setLevel: async (wanted) => {
      level = wanted;
      if (!isNewer) await client.setLoggingLevel(wanted);
    },
    close: () => client.close(),
  };
  await client.connect(new StdioClientTransport(server));
  return peer;
}

function textOf(result: unknown): string {
  const { content } = result as { readonly content: readonly { readonly text?: string }[] };
  return content.map(({ text = "" }) => text).join("\n");
}
