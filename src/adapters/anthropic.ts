// A session as tools of the Anthropic SDK, and a runner that answers what the model calls. Of the SDK only types are
// needed, so nothing of it is loaded here.
import type Anthropic from "@anthropic-ai/sdk";
import type { ProviderToolsView } from "../core/ports/daemon/daemon-calls.ts";
import { gathered } from "./gathered.ts";
import type { AdapterOptions, CallOptions, ModelSession } from "./session.ts";
import { answerText, type NamedTool, schemaCopy } from "./told.ts";

export type { AdapterOptions, CallAnswer, CallRefused, ModelSession, SessionTool } from "./session.ts";

export interface AnthropicTools extends Pick<ProviderToolsView, "omitted" | "notes"> {
  /** For `messages.create({ tools })`. */
  readonly tools: Anthropic.Messages.ToolUnion[];
  /** Answers every call in a message; a denial is a result with `is_error`. Empty where it calls nothing. */
  answer(
    message: Pick<Anthropic.Messages.Message, "content">,
    options?: Pick<CallOptions, "signal">,
  ): Promise<Anthropic.Messages.ToolResultBlockParam[]>;
}

export async function anthropicTools(session: ModelSession, options: AdapterOptions = {}): Promise<AnthropicTools> {
  const { own: named, provider: provided } = await gathered(session, "anthropic", options);
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

/** All at once: they were asked for at once. */
function answered(
  session: ModelSession,
  named: readonly NamedTool[],
  content: readonly Anthropic.Messages.ContentBlock[],
  options: CallOptions,
): Promise<Anthropic.Messages.ToolResultBlockParam[]> {
  const uses = content.filter((block) => block.type === "tool_use");
  return Promise.all(
    uses.map(async ({ id, name, input }): Promise<Anthropic.Messages.ToolResultBlockParam> => {
      // A name that was not shown is called all the same: the answer to it is the gate's, and is written down.
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

/** The part of the SDK's client that the runner needs. */
export interface MessagesClient {
  readonly messages: {
    create(
      body: Anthropic.Messages.MessageCreateParamsNonStreaming,
      options?: { readonly signal?: AbortSignal | null },
    ): PromiseLike<Anthropic.Messages.Message>;
  };
}

export interface RunOptions extends AdapterOptions, Pick<CallOptions, "signal"> {
  /** Requests to the model at most. */
  readonly turnsMax?: number;
}

export interface MessagesRun {
  /** What the model said last. */
  readonly message: Anthropic.Messages.Message;
  readonly messages: readonly Anthropic.Messages.MessageParam[];
  /** answered: it calls nothing any more. turns: there were too many. */
  readonly ended: "answered" | "turns";
}

const turnsDefault = 32;

/** From the first message to the last: what the model calls is answered until it calls nothing more. */
export async function runMessages(
  client: MessagesClient,
  session: ModelSession,
  body: Omit<Anthropic.Messages.MessageCreateParamsNonStreaming, "tools">,
  { turnsMax = turnsDefault, signal, ...options }: RunOptions = {},
): Promise<MessagesRun> {
  const messages: Anthropic.Messages.MessageParam[] = [...body.messages];
  for (let turn = 1; ; turn++) {
    // Anew for each request: what the session holds may have changed.
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
