// Composes the HTTP server of `ambit mcp serve --http`: the daemon, its sessions, and the signals that end it.
import { join } from "node:path";
import type { McpHttpRequest } from "../cli/mcp/mcp.ts";
import { visibleText } from "../cli/terminal/cells.ts";
import { EXIT, type ExitCode } from "../cli/terminal/exit.ts";
import { VERSION } from "../core/base/version.ts";
import type { CallMessages, ResourceView } from "../core/ports/daemon/daemon-calls.ts";
import type { Answer, MessageClient } from "../core/ports/daemon/exchange.ts";
import { type DaemonClient, daemonClient } from "../daemon/rpc/connect.ts";
import { HttpServer, httpPath } from "../mcp/http/http-server.ts";
import { HttpSessions } from "../mcp/http/http-sessions.ts";
import { ReconnectingSession } from "../mcp/reconnecting-session.ts";
import type { UserFolders } from "../platform/folders.ts";
import { WEB_FETCH } from "../tools/web/definition.ts";
import { waitingPageProcess } from "../tools/web/page-process.ts";
import { presentWith } from "../tools/web/present-result.ts";

/** More than the sessions there can be. */
const clientsMax = 4_096;

export interface HttpMachine {
  readonly home: string | null;
  readonly folders: UserFolders;
  /** The folder of our own package. */
  readonly program: string;
  printError(text: string): void;
}

export async function serveHttp(served: McpHttpRequest, machine: HttpMachine): Promise<ExitCode> {
  const { home, folders, program, printError } = machine;
  const daemon = daemonClient({ home, folders, program, isPresenceNeeded: () => false });
  const present = presentWith(waitingPageProcess(join(program, "dist", "page.cjs")));
  const note = (text: string): void => printError(`ambit: ${visibleText(text)}`);
  const checks = new TokenChecks(daemon);
  const sessions = new HttpSessions({
    identity: { name: "ambit", version: VERSION },
    elapsed: () => performance.now(),
    holds: async (client) => (await checks.check(checks.latest(client))).ok,
    open: (client, previous) =>
      new ReconnectingSession({
        previous,
        opening: {
          // The daemon takes these three from the token.
          ...{ cwd: "/", agent: "token", user: null },
          // A session that is opened again later, is opened with the token that the client has by then.
          get bearer(): string {
            return checks.latest(client);
          },
          ...{ trace: null, face: "http", token: null, environment: {}, isForParent: false, pledge: served.pledge },
        },
        waitMilliseconds: served.waitMilliseconds,
        connect: (lost) => daemon.call(lost),
        present: (tool, input, result) => (tool === WEB_FETCH ? present(tool, input, result) : result),
        note,
      }),
  });
  const server = new HttpServer({
    sessions,
    check: (token) => checks.check(token),
    clientOf: (token) => checks.clientOf(token),
    metadata: () => checks.metadata(),
  });
  // Before a client is answered: without a daemon there is nothing to serve.
  const first = await checks.connect();
  if (!first.ok) {
    printError(
      `error: ${first.code}: ${visibleText(first.message)}${first.fix === null ? "" : `\n  fix: ${visibleText(first.fix)}`}`,
    );
    return EXIT.daemon;
  }
  try {
    const port = await server.listen(served.host, served.port);
    const host = served.host.includes(":") ? `[${served.host}]` : served.host;
    note(`listening at http://${host}:${port}${httpPath}; clients need a token: ambit tokens add AGENT`);
    const oauth = await checks.metadata();
    if (oauth !== null)
      note(
        new URL(oauth.resource).port === String(port)
          ? `access tokens for ${oauth.resource} are accepted, of ${oauth.issuers.join(", ")}`
          : `access tokens are not accepted here: \`oauth.resource\` in your configuration is ${oauth.resource}`,
      );
  } catch (error) {
    const why = error instanceof Error && "code" in error ? String(error.code) : "it cannot be opened";
    printError(`error: cannot listen at ${served.host}:${served.port}: ${why}`);
    checks.close();
    return EXIT.error;
  }
  await new Promise<void>((end) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => end());
  });
  await server.close();
  checks.close();
  return EXIT.ok;
}

/**
 * One connection that asks the daemon whether tokens hold: no answer is remembered, so a revoked token ends at once. The latest token
 * of each client is, to open its session again.
 */
class TokenChecks {
  readonly #daemon: Pick<DaemonClient, "call">;
  #calls: Promise<Answer<MessageClient<CallMessages>>> | null = null;
  readonly #latest = new Map<string, { readonly bearer: string; readonly expires: number }>();

  constructor(daemon: Pick<DaemonClient, "call">) {
    this.#daemon = daemon;
  }

  connect(): Promise<Answer<MessageClient<CallMessages>>> {
    if (this.#calls !== null) return this.#calls;
    const forget = (): void => {
      if (this.#calls === mine) this.#calls = null;
    };
    const mine = this.#daemon.call(forget);
    this.#calls = mine;
    // A daemon that was not there is looked for again.
    void mine.then(({ ok }) => (ok ? undefined : forget()));
    return mine;
  }

  async check(bearer: string): Promise<Answer<{ readonly id: string }>> {
    const calls = await this.connect();
    if (!calls.ok) return calls;
    const checked = await calls.value.ask("token.check", { bearer });
    if (checked.ok) this.#keep(checked.value.id, bearer, checked.value.expires);
    return checked;
  }

  /** Empty for a client that is not known. */
  latest(client: string): string {
    return this.#latest.get(client)?.bearer ?? "";
  }

  clientOf(bearer: string): string | null {
    for (const [client, known] of this.#latest) if (known.bearer === bearer) return client;
    return null;
  }

  async metadata(): Promise<ResourceView | null> {
    const calls = await this.connect();
    const answer = calls.ok ? await calls.value.ask("token.metadata", {}) : calls;
    return answer.ok ? answer.value.metadata : null;
  }

  /** An older token may still hold; it does not take the place of one that holds longer. */
  #keep(client: string, bearer: string, expires: number): void {
    const before = this.#latest.get(client);
    if (before !== undefined && before.expires > expires) return;
    this.#latest.delete(client);
    this.#latest.set(client, { bearer, expires });
    for (const oldest of this.#latest.keys()) if (this.#latest.size > clientsMax) this.#latest.delete(oldest);
  }

  close(): void {
    void this.#calls?.then((calls) => calls.ok && calls.value.close());
  }
}
