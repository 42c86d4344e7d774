// A session as tools of the Anthropic SDK, and a runner that answers the model's calls. Only types of the SDK are
// imported, so it is not loaded here.
import type Anthropic from "@anthropic-ai/sdk";
import type { ProviderToolsView } from "../core/ports/daemon/daemon-calls.ts";
import { answerText, type NamedTool, schemaCopy } from "./model-answers.ts";
import { listModelTools } from "./model-tools.ts";
import type { AdapterOptions, CallOptions, ModelSession } from "./session.ts";

export interface AnthropicTools extends Pick<ProviderToolsView, "omitted" | "notes"> {
  /** For `messages.create({ tools })`. */
  readonly tools: Anthropic.Messages.ToolUnion[];
  /** Answers every call in a message; a denial is a result with `is_error`. Empty for a message without calls. */
  answer(
    message: Pick<Anthropic.Messages.Message, "content">,
    options?: Pick<CallOptions, "signal">,
  ): Promise<Anthropic.Messages.ToolResultBlockParam[]>;
}

export async function anthropicTools(session: ModelSession, options: AdapterOptions = {}): Promise<AnthropicTools> {
  const { own: named, provider: provided } = await listModelTools(session, "anthropic", options);
  const own = named.map(
    ({ shownName, description, input }): Anthropic.Messages.Tool => ({
      name: shownName,
      description,
      input_schema: schemaCopy(input) as Anthropic.Messages.Tool.InputSchema,
    }),
  );
  const theirs = provided.tools.map(
    ({ request }) => structuredClone(request) as unknown as Anthropic.Messages.ToolUnion,
  );
  return {
    tools: [...theirs, ...own],
    omitted: provided.omitted,
    notes: provided.notes,
    answer: ({ content }, { signal } = {}) =>
      answered(session, named, content, { waitSeconds: options.waitSeconds, signal }),
  };
}

/** Concurrently: the model made these calls in one message. */
function answered(
  session: ModelSession,
  named: readonly NamedTool[],
  content: readonly Anthropic.Messages.ContentBlock[],
  options: CallOptions,
): Promise<Anthropic.Messages.ToolResultBlockParam[]> {
  const uses = content.filter((block) => block.type === "tool_use");
  return Promise.all(
    uses.map(async ({ id, name, input }): Promise<Anthropic.Messages.ToolResultBlockParam> => {
      // An unknown name is called too: the gate denies it, and the denial is logged.
      const tool = named.find(({ shownName }) => shownName === name)?.name ?? name;
      const answer = await session.call(tool, input, options);
      return {
        type: "tool_result",
        tool_use_id: id,
        content: answerText(answer),
        ...(answer.ok ? {} : { is_error: true }),
      };
    }),
  );
}

/** The part of the SDK's client that the runner uses. */
export interface MessagesClient {
  readonly messages: {
    create(
      body: Anthropic.Messages.MessageCreateParamsNonStreaming,
      options?: { readonly signal?: AbortSignal | null },
    ): PromiseLike<Anthropic.Messages.Message>;
  };
}

export interface RunOptions extends AdapterOptions, Pick<CallOptions, "signal"> {
  /** At most this many requests to the model. */
  readonly turnsMax?: number;
}

export interface MessagesRun {
  /** The model's last message. */
  readonly message: Anthropic.Messages.Message;
  readonly messages: readonly Anthropic.Messages.MessageParam[];
  /** answered: the last message has no calls. turns: the limit of requests was reached. */
  readonly ended: "answered" | "turns";
}

const turnsDefault = 32;

/** Sends requests until the model's message has no more calls; answers every call in between. */
export async function runMessages(
  client: MessagesClient,
  session: ModelSession,
  body: Omit<Anthropic.Messages.MessageCreateParamsNonStreaming, "tools">,
  { turnsMax = turnsDefault, signal, ...options }: RunOptions = {},
): Promise<MessagesRun> {
  const messages: Anthropic.Messages.MessageParam[] = [...body.messages];
  for (let turn = 1; ; turn++) {
    // Listed again for each request: the session's grants may have changed.
    const { tools, answer } = await anthropicTools(session, options);
    const asked = { ...body, messages: [...messages], ...(tools.length === 0 ? {} : { tools }) };
    const message = await client.messages.create(asked, signal === undefined ? {} : { signal });
    messages.push({ role: "assistant", content: message.content });
    const isPaused = message.stop_reason === "pause_turn";
    const results = await answer(message, { signal });
    if (results.length === 0 && !isPaused) return { message, messages, ended: "answered" };
    if (results.length > 0) messages.push({ role: "user", content: results });
    if (turn >= turnsMax) return { message, messages, ended: "turns" };
  }
}
