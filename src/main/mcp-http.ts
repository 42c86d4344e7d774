// Composes the HTTP server of `ambit mcp serve --http`: the daemon, its sessions, and the signals that end it.
import { join } from "node:path";
import type { McpHttpRequest } from "../cli/mcp/mcp.ts";
import { shown } from "../cli/terminal/cells.ts";
import { EXIT, type ExitCode } from "../cli/terminal/exit.ts";
import { VERSION } from "../core/base/version.ts";
import type { CallMessages } from "../core/ports/daemon/daemon-calls.ts";
import type { Answer, MessageClient } from "../core/ports/daemon/exchange.ts";
import { type DaemonClient, daemonClient } from "../daemon/rpc/connect.ts";
import { HttpServer, httpPath } from "../mcp/http/http-server.ts";
import { HttpSessions } from "../mcp/http/http-sessions.ts";
import { ReconnectingSession } from "../mcp/reconnecting-session.ts";
import type { UserFolders } from "../platform/folders.ts";
import { WEB_FETCH } from "../tools/web/definition.ts";
import { waitingPageProcess } from "../tools/web/page-process.ts";
import { presenting } from "../tools/web/present-result.ts";

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
  const present = presenting(waitingPageProcess(join(program, "dist", "page.cjs")));
  const note = (text: string): void => printError(`ambit: ${shown(text)}`);
  const checks = new TokenChecks(daemon);
  const sessions = new HttpSessions({
    identity: { name: "ambit", version: VERSION },
    elapsed: () => performance.now(),
    holds: async (token) => (await checks.check(token)).ok,
    open: (bearer, previous) =>
      new ReconnectingSession({
        previous,
        opening: {
          // The daemon takes these three from the token.
          ...{ cwd: "/", agent: "token", user: null, bearer },
          ...{ trace: null, face: "http", token: null, environment: {}, isForParent: false, pledge: served.pledge },
        },
        waitMilliseconds: served.waitMilliseconds,
        connect: (lost) => daemon.call(lost),
        present: (tool, input, result) => (tool === WEB_FETCH ? present(tool, input, result) : result),
        note,
      }),
  });
  const server = new HttpServer({ sessions, check: (token) => checks.check(token) });
  // Before a client is answered: without a daemon there is nothing to serve.
  const first = await checks.connect();
  if (!first.ok) {
    printError(
      `error: ${first.code}: ${shown(first.message)}${first.fix === null ? "" : `\n  fix: ${shown(first.fix)}`}`,
    );
    return EXIT.daemon;
  }
  try {
    const port = await server.listen(served.host, served.port);
    const host = served.host.includes(":") ? `[${served.host}]` : served.host;
    note(`listening at http://${host}:${port}${httpPath}; clients need a token: ambit tokens add AGENT`);
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

/** One connection that asks the daemon whether tokens hold: nothing is remembered, so a revoked token ends at once. */
class TokenChecks {
  readonly #daemon: Pick<DaemonClient, "call">;
  #calls: Promise<Answer<MessageClient<CallMessages>>> | null = null;

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

  async check(bearer: string): Promise<Answer<object>> {
    const calls = await this.connect();
    return calls.ok ? calls.value.ask("token.check", { bearer }) : calls;
  }

  close(): void {
    void this.#calls?.then((calls) => calls.ok && calls.value.close());
  }
}
