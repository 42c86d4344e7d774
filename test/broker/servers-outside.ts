// Servers of the outside world, for tests. They listen on loopback addresses of the test's own.
import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import { CERTIFICATE, KEY } from "./certificate.ts";

/** Returns the requested host, and acts as git's server for clients with the right password. */
function page(request: http.IncomingMessage, response: http.ServerResponse): void {
  if (request.url?.startsWith("/repository/info/refs") !== true) {
    response.end(`hello ${request.headers.host}`);
    return;
  }
  if (request.headers.authorization !== `Basic ${Buffer.from("someone:secret").toString("base64")}`) {
    response.writeHead(401, { "WWW-Authenticate": 'Basic realm="x"' }).end();
    return;
  }
  const line = (text: string): string => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`;
  const commit = "1234567890".repeat(4);
  response.writeHead(200, { "Content-Type": "application/x-git-upload-pack-advertisement" });
  response.end(
    `${line("# service=git-upload-pack\n")}0000${line(`${commit} HEAD\0symref=HEAD:refs/heads/main\n`)}${line(`${commit} refs/heads/main\n`)}0000`,
  );
}

export class ServersOutside {
  readonly #servers: (net.Server | http.Server | https.Server)[] = [];
  /** Connections that any of the servers accepted. */
  taken = 0;

  http(address: string, port: number): Promise<number> {
    return this.#start(http.createServer(page), address, port);
  }

  https(address: string, port: number): Promise<number> {
    return this.#start(https.createServer({ cert: CERTIFICATE, key: KEY }, page), address, port);
  }

  /** Reads until the client half-closes, then responds with the number of bytes, and as many bytes of its own as configured. */
  counting(address: string, port: number, answerBytes = 0): Promise<number> {
    const server = net.createServer({ allowHalfOpen: true }, (socket) => {
      let bytes = 0;
      socket.on("data", (chunk) => {
        bytes += chunk.length;
      });
      socket.on("error", () => undefined);
      socket.on("end", () => {
        socket.write(Buffer.alloc(answerBytes, 0x61));
        socket.end(`took ${bytes}\n`);
      });
    });
    return this.#start(server, address, port);
  }

  /** Sends a greeting first, and then reads forever. */
  greeting(address: string, port: number): Promise<number> {
    return this.#start(
      net.createServer((socket) => {
        socket.on("error", () => undefined);
        socket.write("welcome\n");
        socket.resume();
      }),
      address,
      port,
    );
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) {
      if ("closeAllConnections" in server) server.closeAllConnections();
      server.close();
    }
  }

  async #start(server: net.Server, address: string, port: number): Promise<number> {
    server.on("connection", () => this.taken++);
    server.listen(port, address);
    await once(server, "listening");
    this.#servers.push(server);
    return (server.address() as AddressInfo).port;
  }
}
