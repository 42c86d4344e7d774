// The process of a trial, in a network with nothing but loopback: a scripted model, and the client that talks to it. The model calls the
// client's shell once; the result ends the trial.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type ModelProvider, PROVIDERS, shellCall, shellOf } from "../clients/trial/model-providers.ts";
import type { JsonObject } from "../core/base/json.ts";

/** Its one argument, as JSON. `{port}` in words and variables is the port of the model. */
export interface TrialRequest {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly provider: ModelProvider;
  readonly line: string;
  readonly millisecondsMax: number;
}

export interface TrialAnswer {
  readonly status: number | null;
  readonly text: string;
  readonly result: string | null;
  readonly isOutOfTime: boolean;
}

const bodyCharactersMax = 8_388_608;
const textCharactersMax = 4_000;

void main(JSON.parse(process.argv[2] ?? "") as TrialRequest);

async function main({ words, environment, provider, line, millisecondsMax }: TrialRequest): Promise<void> {
  const dialect = PROVIDERS[provider];
  let text = "";
  let answers = 0;
  const end = (answer: Omit<TrialAnswer, "text">): void => {
    const all: TrialAnswer = { ...answer, text };
    process.stdout.write(JSON.stringify(all), () => process.exit(0));
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = "";
    for await (const part of request.setEncoding("utf8")) if (body.length < bodyCharactersMax) body += part;
    const [path = ""] = (request.url ?? "").split("?");
    if (request.method !== "POST" || !dialect.isConversation(path)) return void response.writeHead(404).end("{}");
    const conversation = JSON.parse(body) as JsonObject;
    const shell = shellOf(dialect.tools(conversation));
    const result = dialect.result(conversation);
    if (shell !== null && result !== null) return end({ status: null, result, isOutOfTime: false });
    // A client also asks for titles and the like; then it offers no tools.
    const answer = shell === null ? { text: "nothing" } : shellCall(shell, line);
    response.writeHead(200, { "content-type": "text/event-stream" }).end(dialect.stream(answer, ++answers));
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = String((server.address() as AddressInfo).port);
  const filled = (one: string): string => one.replaceAll("{port}", port);
  const [program = "", ...rest] = words.map(filled);
  const variables = Object.entries(environment).map(([name, value]) => [name, filled(value)]);
  const child = spawn(program, rest, { env: Object.fromEntries(variables), stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => {
      text = (text + part).slice(-textCharactersMax);
    });
  setTimeout(() => end({ status: null, result: null, isOutOfTime: true }), millisecondsMax);
  child.on("error", (error) => {
    text += error.message;
    end({ status: null, result: null, isOutOfTime: false });
  });
  child.on("close", (status) => end({ status, result: null, isOutOfTime: false }));
}
