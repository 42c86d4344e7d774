// A scripted model on loopback that records every request.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface ModelRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Record<string, unknown>;
}

const bodyBytesMax = 1_000_000;

export class ModelServer {
  readonly asked: ModelRequest[] = [];
  readonly #server: Server;

  /** One response for each request, in order; a request too many is an error of the test. */
  static async start(answers: readonly object[]): Promise<ModelServer> {
    const server = new ModelServer(answers);
    await new Promise<void>((done) => server.#server.listen(0, "127.0.0.1", done));
    return server;
  }

  private constructor(answers: readonly object[]) {
    this.#server = createServer((request, response) => {
      let text = "";
      request.on("data", (piece: Buffer) => {
        text += piece.toString("utf8");
        if (text.length > bodyBytesMax) request.destroy();
      });
      request.on("end", () => {
        const { url = "", headers } = request;
        const answer = answers[this.asked.length];
        this.asked.push({ path: url, headers, body: JSON.parse(text || "{}") as Record<string, unknown> });
        response.writeHead(answer === undefined ? 400 : 200, { "content-type": "application/json" });
        response.end(
          JSON.stringify(answer ?? { error: { type: "invalid_request_error", message: "no more answers" } }),
        );
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The nth request to the model. */
  body(at: number): Record<string, unknown> {
    const asked = this.asked[at];
    if (asked === undefined) throw new Error(`the model got ${this.asked.length} requests`);
    return asked.body;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}
