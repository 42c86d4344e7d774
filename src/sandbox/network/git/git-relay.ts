// The git relay of one sandbox: git inside is led to the broker's own address for hosts that a kept secret is bound to. The
// relay sends a request on over TLS as it came, and adds the secret where the host asks for one and the daemon allows it.
// INVARIANT: a credential goes to the host that it was asked for, over the connection made for it, and never into the sandbox.
import { once } from "node:events";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Destination } from "../../../core/authority/axes/destination.ts";
import type { HeaderLine } from "../../../core/authority/axes/http-request.ts";
import { isRedirect, redirectOf } from "../../../core/authority/axes/redirect.ts";
import { parseUrl, type Url } from "../../../core/authority/axes/url.ts";
import type { DenialCode } from "../../../core/authority/decision.ts";
import { requestText } from "../../../core/notation/request/request-printer.ts";
import type { ConnectionContext } from "../connection.ts";
import { exchange, type HopContext, type HopResult, reach } from "../fetch/fetch-hop.ts";
import { originText, urlText } from "../fetch/fetch-request.ts";
import { gitIdleMilliseconds } from "../limits.ts";
import { toAscii } from "../names/ascii.ts";
import { connectRequest } from "../network-grants.ts";
import type { Credential, CredentialDecision, CredentialRequest, GitHosts } from "./git-messages.ts";
import { type GitRequest, gitRequest } from "./git-request.ts";
import { LeakCheck } from "./leak-check.ts";

export interface GitRelayContext
  extends Pick<ConnectionContext, "granted" | "resolve" | "stop" | "ask" | "refused" | "connected"> {
  /** Decided, charged and logged by the daemon; null where it did not answer. */
  credential(request: CredentialRequest): Promise<CredentialDecision | null>;
}

const headerBytesMax = 32_768;
const httpsPort = 443;
/** Beyond it the first request of a repository is sent without the credential again. */
const repositoriesMax = 1_024;
/** The longest timer of Node; no sandbox lives as long. */
const timerMillisecondsMax = 2_147_483_647;

export class GitRelay {
  readonly #hosts: ReadonlySet<string>;
  readonly #authorities: string | null;
  readonly #context: GitRelayContext;
  readonly #server: http.Server;
  /** Repositories and services whose host asked for a credential. */
  readonly #asking = new Set<string>();

  constructor({ hosts, authorities }: GitHosts, context: GitRelayContext) {
    this.#hosts = new Set(hosts);
    this.#authorities = authorities;
    this.#context = context;
    this.#server = http.createServer(
      // A push may take longer than Node's limit for a whole request; silence ends it.
      { maxHeaderSize: headerBytesMax, insecureHTTPParser: false, requestTimeout: 0 },
      (request, response) => {
        void this.#serve(request, response).catch(() => response.destroy());
      },
    );
    this.#server.on("upgrade", (_request, socket) => socket.destroy());
    this.#server.on("connect", (_request, socket) => socket.destroy());
    this.#server.on("clientError", (_error, socket) => socket.destroy());
  }

  /** A connection that a program of the sandbox opened. Resolves when it is over. */
  accept(socket: Socket): Promise<void> {
    const closed = new Promise<void>((done) => socket.once("close", () => done()));
    socket.setTimeout(gitIdleMilliseconds, () => socket.destroy());
    this.#server.emit("connection", socket);
    socket.resume();
    return closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const git = gitRequest(request.method ?? "", request.url ?? "");
    const url = git === null ? null : parseUrl(`https://${git.host}${git.path}`, toAscii);
    if (git === null || url?.ok !== true) {
      this.#context.refused("invalid_input", "secret.use", "credential");
      return answer(response, 403, "only fetch and push of git pass here, with plain names");
    }
    if (!this.#hosts.has(git.host)) {
      this.#context.refused("secret_refused", hostText(url.value.host), "credential");
      return answer(response, 403, `no secret for git is kept for ${git.host}`);
    }
    const stopping = new AbortController();
    const stop = (): void => stopping.abort();
    this.#context.stop.addEventListener("abort", stop, { once: true });
    response.once("close", stop);
    // INVARIANT: an exchange does not outlive the grant that allowed it.
    const left = this.#context.granted.millisecondsLeft(connectRequest(url.value.host, httpsPort, "sni"));
    const timer = left === null ? undefined : setTimeout(stop, Math.min(left, timerMillisecondsMax));
    try {
      await this.#relay(git, url.value, request, response, stopping.signal);
    } finally {
      clearTimeout(timer);
      this.#context.stop.removeEventListener("abort", stop);
      response.removeListener("close", stop);
    }
  }

  /** The first request goes without the credential, as git's own does: public repositories use no secret. */
  async #relay(
    git: GitRequest,
    url: Url,
    request: IncomingMessage,
    response: ServerResponse,
    stop: AbortSignal,
  ): Promise<void> {
    const key = `${git.host} ${git.repository} ${git.service}`;
    let credential: Credential | null = null;
    if (this.#asking.has(key)) {
      const decided = await this.#context.credential(git);
      if (decided?.credential == null) return answer(response, 403, denialText(decided));
      credential = decided.credential;
    }
    let sent = await this.#send(git, url, request, credential, stop);
    if (sent.ok && sent.response.statusCode === 401 && credential === null) {
      sent.response.destroy();
      if (!git.isListing) {
        this.#ask(key);
        return answer(response, 403, `${git.host} wants a credential for this: run the command again`);
      }
      const decided = await this.#context.credential(git);
      if (decided?.credential == null) return answer(response, 403, denialText(decided));
      credential = decided.credential;
      this.#ask(key);
      sent = await this.#send(git, url, request, credential, stop);
    }
    if (!sent.ok) return answer(response, 502, `${sent.message}${UNTRUSTED.test(sent.message) ? TRUST : ""}`);
    await pass(sent.response, response, { git, url, credential, stop });
  }

  #ask(key: string): void {
    if (this.#asking.size >= repositoriesMax) this.#asking.clear();
    this.#asking.add(key);
  }

  async #send(
    git: GitRequest,
    url: Url,
    request: IncomingMessage,
    credential: Credential | null,
    stop: AbortSignal,
  ): Promise<HopResult> {
    const method = git.isListing ? "GET" : "POST";
    const hop = this.#hop(url, stop);
    const reached = await reach({ url, method }, hop);
    if (!reached.ok) return reached;
    this.#context.connected(reached.socket);
    reached.socket.setTimeout(gitIdleMilliseconds, () => reached.socket.destroy());
    const own: HeaderLine[] = [["accept-encoding", "identity"]];
    if (credential !== null) own.push(["authorization", `Basic ${basicOf(credential)}`]);
    const body = git.isListing ? null : request;
    const headers = [...passedHeaders(request), ...own, ...(body === null ? [] : [framingOf(request)])];
    return exchange(reached.socket, { method, url, path: git.path, headers, body }, hop);
  }

  /** Decided like any connection of the sandbox: by name, by every address, and by what the session holds by now. */
  #hop(url: Url, stop: AbortSignal): HopContext {
    const { granted, resolve, ask } = this.#context;
    const request = connectRequest(url.host, httpsPort, "sni");
    const refuse = (code: DenialCode): DenialCode => {
      this.#context.refused(code, requestText(request), "authority");
      return code;
    };
    return {
      ...{ resolve, stop, headerBytes: headerBytesMax, authorities: this.#authorities },
      ask: async (_method, _url, addresses) => {
        const first = granted.judge(request);
        if (first.outcome !== "allow") return refuse(first.outcome === "ask" ? "approval_required" : first.code);
        if (addresses === null) return null;
        const screened = granted.screen(request, addresses);
        if (screened.decision.outcome === "deny") return refuse(screened.decision.code);
        for (const address of screened.pinned) {
          const decision = await ask({ ...url.host, address } as Destination, httpsPort, "sni");
          if (decision?.outcome === "allow") continue;
          return refuse(decision?.outcome === "deny" ? decision.code : "approval_required");
        }
        return null;
      },
    };
  }
}

const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|CERT_UNTRUSTED/;
const TRUST = "; the user can name its authority: `certificates` in config.yml";

function hostText(host: Destination): string {
  return requestText(connectRequest(host, httpsPort, "sni"));
}

function basicOf({ username, password }: Credential): string {
  return Buffer.from(`${username}:${password}`).toString("base64");
}

function denialText(decided: CredentialDecision | null): string {
  if (decided === null || decided.credential !== null) return "the daemon did not answer";
  return `${decided.message} (${decided.code})`;
}

/** INVARIANT: none that can carry a credential is on the list. */
const PASSED = /^(accept|accept-language|cache-control|content-encoding|content-type|git-protocol|pragma|user-agent)$/;

function passedHeaders(request: IncomingMessage): readonly HeaderLine[] {
  const lines: HeaderLine[] = [];
  for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
    const [name, value] = [request.rawHeaders[at] as string, request.rawHeaders[at + 1] as string];
    if (PASSED.test(name.toLowerCase())) lines.push([name.toLowerCase(), value]);
  }
  return lines;
}

function framingOf({ headers }: IncomingMessage): HeaderLine {
  const length = headers["content-length"];
  return length === undefined ? ["transfer-encoding", "chunked"] : ["content-length", length];
}

const ANSWERED = /^(content-type|cache-control|expires|pragma)$/;

interface Passing {
  readonly git: GitRequest;
  readonly url: Url;
  readonly credential: Credential | null;
  readonly stop: AbortSignal;
}

async function pass(from: IncomingMessage, to: ServerResponse, passing: Passing): Promise<void> {
  const { git, credential, stop } = passing;
  stop.addEventListener("abort", () => from.destroy(), { once: true });
  if (stop.aborted) from.destroy();
  const status = from.statusCode ?? 502;
  const refused = refusalOf(from, passing);
  if (refused !== null) {
    from.destroy();
    return answer(to, status === 401 ? 403 : 502, refused);
  }
  if (isRedirect(status)) to.setHeader("location", locationOf(from, passing) as string);
  for (const [name, value] of Object.entries(from.headers))
    if (typeof value === "string" && ANSWERED.test(name)) to.setHeader(name, value);
  to.writeHead(status);
  const leaks = credential === null ? null : new LeakCheck([credential.password, basicOf(credential)]);
  for await (const piece of from as AsyncIterable<Buffer>) {
    // A host that sends the secret back is cut off: what it sent is no pack.
    if (leaks?.isIn(piece) === true) {
      from.destroy();
      return void to.destroy(new Error(`${git.host} sent the secret back`));
    }
    if (!to.write(piece)) await once(to, "drain", { signal: stop });
  }
  to.end();
}

function refusalOf(from: IncomingMessage, { git, credential, ...passing }: Passing): string | null {
  const status = from.statusCode ?? 502;
  if (status === 401) {
    const fix = `ambit secrets set NAME --tool git --host ${git.host}`;
    return credential === null ? `${git.host} wants a credential` : `${git.host} refuses the kept secret; ${fix}`;
  }
  if ((from.headers["content-encoding"] ?? "identity") !== "identity") return "the answer is compressed";
  const isLost = isRedirect(status) && locationOf(from, { git, credential, ...passing }) === null;
  return isLost ? "the redirect does not lead to an https address" : null;
}

/** At the same host it leads through the relay again; elsewhere git goes by itself, without the secret. */
function locationOf(from: IncomingMessage, { git, url }: Passing): string | null {
  const target = redirectOf(from.headers.location ?? "", url, toAscii);
  if (!target.ok) return null;
  if (originText(target.value) !== originText(url)) return urlText(target.value);
  return `/${git.host}${urlText(target.value).slice(originText(url).length)}`;
}

/** git prints plain text of an answer that fails, each line behind `remote:`. */
function answer(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { "content-type": "text/plain", connection: "close" });
  response.end(`ambit: ${message}\n`);
}
