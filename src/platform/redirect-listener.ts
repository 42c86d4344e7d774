// Waits at a loopback address for the redirect that ends a sign-in in a browser. Requests of other pages of the browser reach it, too:
// only one with the state of the sign-in counts.
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

const path = "/callback";
const headersMilliseconds = 10_000;
const connectionsMax = 16;
const urlCharactersMax = 16_384;

export class RedirectListener {
  /** The address that the browser is sent to. */
  readonly address: string;
  readonly #server: Server;
  #state = "";
  #give: (found: URLSearchParams | null) => void = () => undefined;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.address = `http://127.0.0.1:${port}${path}`;
    server.on("request", (request, response) => this.#answer(request, response));
  }

  static async open(): Promise<RedirectListener> {
    const server = createServer({ headersTimeout: headersMilliseconds, requestTimeout: headersMilliseconds });
    server.maxConnections = connectionsMax;
    await new Promise<void>((ready, failed) => {
      server.once("error", failed);
      server.listen(0, "127.0.0.1", ready);
    });
    const address = server.address();
    return new RedirectListener(server, typeof address === "object" && address !== null ? address.port : 0);
  }

  /** What the browser was sent back with; null where it was not in time. */
  async wait(state: string, milliseconds: number): Promise<URLSearchParams | null> {
    this.#state = state;
    const found = new Promise<URLSearchParams | null>((give) => {
      this.#give = give;
    });
    const late = setTimeout(() => this.#give(null), milliseconds);
    try {
      return await found;
    } finally {
      clearTimeout(late);
    }
  }

  close(): void {
    this.#give(null);
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const found = this.#paramsOf(request);
    const text = found === null ? "ambit is not waiting for this sign-in." : "Go back to your terminal.";
    response.writeHead(found === null ? 400 : 200, {
      "content-type": "text/plain; charset=utf-8",
      "content-security-policy": "default-src 'none'",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      connection: "close",
    });
    response.end(`${text}\n`, () => found !== null && this.#give(found));
  }

  #paramsOf({ method, url = "", headers }: IncomingMessage): URLSearchParams | null {
    const { host } = new URL(this.address);
    if (method !== "GET" || headers.host !== host || url.length > urlCharactersMax || !url.startsWith(`${path}?`))
      return null;
    const params = new URLSearchParams(url.slice(path.length + 1));
    const [given, known] = [Buffer.from(params.get("state") ?? ""), Buffer.from(this.#state)];
    return known.length > 0 && given.length === known.length && timingSafeEqual(given, known) ? params : null;
  }
}
