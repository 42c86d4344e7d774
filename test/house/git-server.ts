// git's own server program behind HTTP: anonymous reading, writing with one credential. A repository whose name begins with
// `closed` wants the credential for reading, too.
import { spawn } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";

export interface ServedRepositories {
  /** The folder of the bare repositories. */
  readonly folder: string;
  readonly user: string;
  readonly token: string;
  /** The credentials the server received. */
  readonly shown: Set<string>;
}

export function serveGit(
  { folder, user, token, shown }: ServedRepositories,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const url = new URL(request.url ?? "/", "https://git.example.test");
  const { authorization } = request.headers;
  if (authorization !== undefined) shown.add(authorization);
  const isPush = url.pathname.endsWith("git-receive-pack") || url.searchParams.get("service") === "git-receive-pack";
  const isClosed = url.pathname.startsWith("/closed");
  if ((isPush || isClosed) && authorization !== `Basic ${Buffer.from(`${user}:${token}`).toString("base64")}`) {
    response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end();
    return;
  }
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_USER: user,
      REQUEST_METHOD: request.method,
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers["content-type"],
      CONTENT_LENGTH: request.headers["content-length"],
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"],
      GIT_PROTOCOL: request.headers["git-protocol"]?.toString(),
    },
  });
  request.pipe(child.stdin);
  const parts: Buffer[] = [];
  child.stdout.on("data", (part: Buffer) => parts.push(part));
  child.on("close", () => {
    const all = Buffer.concat(parts);
    const end = all.indexOf("\r\n\r\n");
    const headers = all.subarray(0, Math.max(end, 0)).toString("latin1").split("\r\n");
    const status = headers.find((line) => /^status:/i.test(line));
    for (const line of headers) {
      const [, name, value] = /^([^:]+): (.*)$/.exec(line) ?? [];
      if (name !== undefined && value !== undefined && name.toLowerCase() !== "status") response.setHeader(name, value);
    }
    response.writeHead(status === undefined ? 200 : Number(status.split(" ")[1])).end(all.subarray(end + 4));
  });
}
