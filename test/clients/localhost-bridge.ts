// The suite's servers call themselves `localhost`. ambit speaks without TLS to 127.0.0.1 alone, so a bridge stands before each of them and
// writes the one address in the place of the other, in both directions.
import { once } from "node:events";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";

const bytesMax = 4_194_304;
const NAMED = /(https?(?::\/\/|%3A%2F%2F))localhost(:|%3A)(\d+)/gi;
const NUMBERED = /(https?(?::\/\/|%3A%2F%2F))127\.0\.0\.1(:|%3A)(\d+)/gi;

export class LocalhostBridge {
  /** By the port of the suite's server. */
  readonly #servers = new Map<number, { readonly server: Server; readonly port: number }>();

  /** The address as ambit is given it. */
  async inward(text: string): Promise<string> {
    for (const [, , , port] of text.matchAll(NAMED)) await this.#listen(Number(port));
    return text.replaceAll(NAMED, (_, scheme: string, colon: string, port: string) => {
      return `${scheme}127.0.0.1${colon}${this.#servers.get(Number(port))?.port}`;
    });
  }

  close(): void {
    for (const { server } of this.#servers.values()) {
      server.close();
      server.closeAllConnections();
    }
    this.#servers.clear();
  }

  /** The address as the suite knows it; other addresses stay as they are. */
  #outward(text: string): string {
    return text.replaceAll(NUMBERED, (whole: string, scheme: string, colon: string, port: string) => {
      const known = [...this.#servers].find(([, one]) => one.port === Number(port));
      return known === undefined ? whole : `${scheme}localhost${colon}${known[0]}`;
    });
  }

  async #listen(target: number): Promise<void> {
    if (this.#servers.has(target)) return;
    const server = createServer((request, response) => {
      void this.#pass(request, response, target).catch(() => response.destroy());
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    this.#servers.set(target, { server, port: (server.address() as { readonly port: number }).port });
  }

  async #pass(request: IncomingMessage, response: ServerResponse, target: number): Promise<void> {
    const body = Buffer.from(this.#outward((await bytesOf(request)).toString("utf8")));
    const { "content-length": _, ...given } = request.headers;
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, this.#outward(String(value))]),
    );
    const sent = httpRequest({
      // A connection of its own: the suite's servers close some, and what comes next on them is lost.
      agent: false,
      ...{ host: "localhost", port: target, method: request.method, path: this.#outward(request.url ?? "/") },
      headers: {
        ...headers,
        host: `localhost:${target}`,
        ...(body.length === 0 ? {} : { "content-length": body.length }),
      },
    });
    sent.end(body);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    const text = await this.inward((await bytesOf(answer)).toString("utf8"));
    for (const [name, value] of Object.entries(answer.headers))
      if (value !== undefined && !["content-length", "transfer-encoding", "connection"].includes(name))
        response.setHeader(name, await Promise.all([value].flat().map((one) => this.inward(one))));
    response.writeHead(answer.statusCode ?? 502).end(text);
  }
}

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > bytesMax) throw new Error("too many bytes");
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
