// A fetching broker process, servers on loopback as the outside world, and an owner that decides by grants.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../../src/core/authority/compiled.ts";
import type { Decision } from "../../src/core/authority/decision.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import { judge } from "../../src/core/authority/judge.ts";
import { ALWAYS } from "../../src/core/authority/link.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { readCompact } from "../../src/core/notation/compact/compact.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import { requestText } from "../../src/core/notation/request/request-printer.ts";
import { BrokerClient } from "../../src/sandbox/network/client.ts";
import type { FetchBodyEnd, FetchOptions, FetchResult } from "../../src/sandbox/network/fetch/fetch-client.ts";
import { toAscii } from "../../src/sandbox/network/names/ascii.ts";
import { CERTIFICATE, KEY } from "../broker/certificate.ts";
import { bundleBroker } from "../broker/fixture.ts";
import { NamesOutside } from "../broker/names-outside.ts";

export const LIMITS = { headerBytes: 16_384, bodyBytes: 1_000_000, milliseconds: 60_000, redirects: 10 } as const;

export interface Whole {
  readonly fetched: FetchResult;
  /** The request body as latin1 text: one character per byte. */
  readonly text: string;
  readonly end: FetchBodyEnd | null;
  /** The requests the owner was asked to decide, in order. */
  readonly asked: readonly string[];
  /** Every event the owner received from this fetch. */
  readonly all: string;
}

export class FetchFixture {
  readonly folder: string = mkdtempSync(join(tmpdir(), "ambit-fetch-"));
  readonly names: NamesOutside = new NamesOutside();
  client: BrokerClient = new BrokerClient("");
  resolver = "";
  readonly #servers: (http.Server | https.Server | net.Server)[] = [];
  readonly #sockets = new Set<net.Socket>();

  async start(): Promise<void> {
    await bundleBroker(join(this.folder, "broker.cjs"));
    this.client = new BrokerClient(join(this.folder, "broker.cjs"), CERTIFICATE);
    this.resolver = await this.names.start();
  }

  async stop(): Promise<void> {
    await this.client.stop();
    this.names.stop();
    for (const socket of this.#sockets) socket.destroy();
    for (const server of this.#servers) server.close();
    rmSync(this.folder, { recursive: true });
  }

  http(address: string, serve: http.RequestListener): Promise<number> {
    return this.#listen(http.createServer(serve), address);
  }

  https(address: string, serve: http.RequestListener): Promise<number> {
    return this.#listen(https.createServer({ cert: CERTIFICATE, key: KEY }, serve), address);
  }

  /** Writes these bytes to every client that connects, without reading the request. */
  raw(address: string, talk: (socket: net.Socket) => void): Promise<number> {
    return this.#listen(net.createServer(talk), address);
  }

  async #listen(server: net.Server, address: string): Promise<number> {
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => this.#sockets.delete(socket));
    });
    server.listen(0, address);
    await once(server, "listening");
    this.#servers.push(server);
    return (server.address() as AddressInfo).port;
  }

  fetch(specs: readonly string[], wish: Partial<FetchOptions> & Pick<FetchOptions, "url">): Promise<FetchResult> {
    return this.client.fetch({
      method: "GET",
      headers: [],
      body: null,
      limits: LIMITS,
      resolver: { servers: [this.resolver] },
      secrets: [],
      sign: null,
      stop: null,
      judge: judgeOf(specs),
      ...wish,
    });
  }

  /** The same fetch, with its body read to the end. */
  async whole(specs: readonly string[], wish: Partial<FetchOptions> & Pick<FetchOptions, "url">): Promise<Whole> {
    const asked: string[] = [];
    const decide = wish.judge ?? judgeOf(specs);
    const judged = (request: Request): Decision | Promise<Decision> => {
      asked.push(requestText(request));
      return decide(request);
    };
    const fetched = await this.fetch(specs, { ...wish, judge: judged });
    if (!fetched.ok) return { fetched, text: "", end: null, asked, all: JSON.stringify(fetched) };
    const pieces: Uint8Array[] = [];
    for await (const piece of fetched.body) pieces.push(piece);
    const end = await fetched.end;
    const text = Buffer.concat(pieces).toString("latin1");
    const { body: _, end: __, ...rest } = fetched;
    return { fetched, text, end, asked, all: `${JSON.stringify(rest)}${text}${JSON.stringify(end)}` };
  }
}

/** Decides by the given grants alone. */
export function judgeOf(specs: readonly string[]): (request: Request) => Decision {
  const grants: Grant[] = specs.map((text) => {
    const diagnostics = new Diagnostics();
    const reading = { pathSettings: { home: null, base: null, protectedPaths: [] }, toAscii, ceiling: null };
    const span = { source: "test", start: 0, end: text.length };
    const grant = readCompact(text, { reading, diagnostics, span, root: null });
    if (grant === null) throw new Error(`${text} does not parse`);
    return grant;
  });
  const link = compile({
    ...{ id: "test", role: "record", issuer: "test", holder: "test", grants, validity: ALWAYS, calls: null },
  } as never);
  const moment = { now: 0, clean: true, generation: 0, revoked: null, exhausted: null };
  return (request) => judge([[link]], request, moment);
}
