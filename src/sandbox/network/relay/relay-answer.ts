// How an answer reaches the client: the provider's as it comes, redacted and counted, or a refusal of the relay itself.
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ModelProvider } from "../../../core/notation/config/model-setting.ts";
import type { Redactor, StreamRedactor } from "../../../log/redaction/redactor.ts";
import { errorBody } from "./relay-request.ts";
import type { UsageCounter } from "./relay-usage.ts";

const ANSWERED =
  /^(content-type|request-id|x-request-id|retry-after|retry-after-ms|x-should-retry|(anthropic|x)-ratelimit-[a-z-]+|openai-[a-z-]+)$/;

interface Passing {
  readonly redactor: Redactor;
  /** Of the body. */
  readonly clean: StreamRedactor;
  readonly usage: UsageCounter;
  readonly provider: ModelProvider;
  readonly stop: AbortSignal;
}

/** False: the answer was refused. Rejects where it breaks off or is stopped. */
export async function pass(
  from: IncomingMessage,
  to: ServerResponse,
  { redactor, clean, usage, provider, stop }: Passing,
): Promise<boolean> {
  stop.addEventListener("abort", () => from.destroy(), { once: true });
  if (stop.aborted) from.destroy();
  const status = from.statusCode ?? 502;
  const isEncoded = (from.headers["content-encoding"] ?? "identity") !== "identity";
  if (isEncoded || (status >= 300 && status < 400)) {
    from.destroy();
    refuse(to, provider, 502, isEncoded ? "the provider's answer is compressed" : "the provider redirects");
    return false;
  }
  for (const [name, value] of Object.entries(from.headers))
    if (typeof value === "string" && ANSWERED.test(name)) to.setHeader(name, redactor.redactText(value).value);
  to.writeHead(status);
  to.flushHeaders();
  for await (const piece of from as AsyncIterable<Buffer>) {
    usage.take(piece);
    if (!to.write(clean.write(piece))) await once(to, "drain", { signal: stop });
  }
  to.end(clean.end());
  return true;
}

export function refuse(response: ServerResponse, provider: ModelProvider, status: number, message: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify(errorBody(provider, status, message)));
}
