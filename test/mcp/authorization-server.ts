// Starts the authorization server of these tests as a process of its own, and acts as a person's browser.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../e2e/ambit.ts";

interface AskedRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | null;
}

export class AuthorizationServer {
  readonly issuer: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, issuer: string) {
    this.#child = child;
    this.issuer = issuer;
  }

  /** `seconds`: how long an access token is valid. */
  static async start(
    options: { readonly seconds?: number; readonly revocation?: boolean } = {},
  ): Promise<AuthorizationServer> {
    const program = join(root, "test", "mcp", "servers", "authorization-server.mjs");
    const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ["pipe", "pipe", "ignore"] });
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    return new AuthorizationServer(child, (JSON.parse(line) as { readonly issuer: string }).issuer);
  }

  /** What it was asked, the oldest first. */
  async asked(path: string): Promise<readonly AskedRequest[]> {
    const all = (await (await fetch(`${this.issuer}/test/asked`)).json()) as readonly AskedRequest[];
    return all.filter((one) => one.path === path);
  }

  /** Every access token and refresh token that it gave. */
  async tokens(): Promise<readonly string[]> {
    return (await (await fetch(`${this.issuer}/test/tokens`)).json()) as readonly string[];
  }

  /** All of them. */
  async revoke(): Promise<void> {
    await fetch(`${this.issuer}/test/revoke`);
  }

  /** Answers at its token endpoint come this much later. */
  async delay(milliseconds: number): Promise<void> {
    await fetch(`${this.issuer}/test/delay?milliseconds=${milliseconds}`);
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end();
    if (this.#child.exitCode === null) await once(this.#child, "exit");
  }
}

const pagesMax = 16;

/** Follows the pages of a sign-in to an address that starts with `end`, which is not opened. */
export async function browse(address: string, end: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let next = address;
  for (let page = 0; page < pagesMax; page++) {
    if (next.startsWith(end)) return new URL(next);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(next, { redirect: "manual", headers: cookie === "" ? {} : { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`${response.status}: ${(await response.text()).slice(0, 500)}`);
    next = new URL(location, next).href;
  }
  throw new Error("the sign-in has no end");
}
