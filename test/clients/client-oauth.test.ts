// The official suite's servers against our upstream side: its scenarios about OAuth, with the real daemon, the real broker, and
// `ambit mcp login` with a person's browser. Each scenario starts a command with an address; this test is what the command asks.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { browse } from "../mcp/authorization-server.ts";
import { expectValue, Fixture } from "../state/fixture.ts";
import { LocalhostBridge } from "./localhost-bridge.ts";
import { conformance, newerNode } from "./place.ts";
import { run } from "./run.ts";

/** A client that was registered beforehand. */
interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** A person does not go on for ever. */
const loginsMax = 2;

/** What the suite would rather see, and why it is otherwise. */
const OTHERWISE: Readonly<Record<string, string>> = {
  "cimd-client-id-used": "ambit has no address on the network at which its metadata could be: it registers itself",
};

const SCENARIOS: readonly string[] = [
  ...["metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "basic-cimd"],
  ...["scope-from-www-authenticate", "scope-from-scopes-supported", "scope-omitted-when-undefined", "scope-step-up"],
  ...["scope-retry-limit", "token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none"],
  ...["pre-registration", "2025-03-26-oauth-metadata-backcompat", "2025-03-26-oauth-endpoint-fallback"],
  ...["resource-mismatch", "offline-access-scope", "offline-access-not-supported", "authorization-server-migration"],
  ...["iss-supported", "iss-not-advertised", "iss-supported-missing", "iss-wrong-issuer", "iss-unexpected"],
  ...["iss-normalized", "metadata-issuer-mismatch"],
];

let fixture: Fixture;
let door: Server;
let output: string;
let number = 0;
let told = "";

beforeAll(async () => {
  output = mkdtempSync(join(tmpdir(), "ambit-conformance-"));
  fixture = await Fixture.make();
  const names = SCENARIOS.map((_, at) => `suite-${at + 1}__*`);
  fixture.agent("scout", [`tool.invoke{tools=[${names.join(",")}]}`]);
  await fixture.begin();
  door = createServer((request, response) => {
    const given = new URL(request.url ?? "/", "http://127.0.0.1").searchParams;
    const context = JSON.parse(given.get("context") ?? "{}") as Context;
    void use(given.get("address") ?? "", context).then(
      (said) => {
        told = said;
        response.end(said);
      },
      (error: unknown) => {
        told = String(error);
        response.writeHead(500).end(told);
      },
    );
  }).listen(0, "127.0.0.1");
  await once(door, "listening");
}, 60_000);

afterAll(async () => {
  door?.close();
  await fixture?.remove();
  rmSync(output, { recursive: true, force: true });
});

/** What a user does with a server at this address: adds it, signs in, lets an agent use it, and signs in again where that is wanted. */
async function use(address: string, context: Context): Promise<string> {
  const bridge = new LocalhostBridge();
  const name = `suite-${++number}`;
  const caller = fixture.caller();
  try {
    fixture.write(
      "config/ambit/mcp.yml",
      `servers:\n  ${name}: { url: ${JSON.stringify(await bridge.inward(address))} }\n`,
    );
    const session = expectValue(await caller.open(fixture.project, "scout"));
    const steps: string[] = [];
    for (let round = 0; round < loginsMax; round++) {
      steps.push(await signIn(name, context));
      // The server describes itself at a call, whatever that is of.
      const described = (await session.do(`${name}__none`, {})).said;
      const listed = JSON.stringify(await session.ask("tools.list", {}).answer);
      const tool = new RegExp(`"(${name}__[A-Za-z0-9_-]+)"`).exec(listed)?.[1];
      const said = tool === undefined ? described : (await session.do(tool, {})).said;
      steps.push(said);
      if (said !== "sign_in_required") break;
    }
    await session.close();
    return JSON.stringify(steps);
  } finally {
    await caller.end();
    bridge.close();
  }
}

async function signIn(name: string, context: Context): Promise<string> {
  const hosts: string[] = [];
  for (let round = 0; round < 4; round++) {
    const words = [
      join(root, "bin", "ambit"),
      "mcp",
      "login",
      name,
      "--json",
      ...hosts.flatMap((one) => ["--host", one]),
      ...(context.client_id === undefined ? [] : ["--client-id", context.client_id]),
      ...(context.client_secret === undefined ? [] : ["--client-secret-from", "env:CLIENT_SECRET"]),
    ];
    const child = spawn(process.execPath, words, {
      cwd: fixture.project,
      env: { ...fixture.environment, CLIENT_SECRET: context.client_secret },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    child.stderr.on("data", (text: Buffer) => {
      out += text.toString();
    });
    createInterface({ input: child.stdout }).on("line", (line) => {
      out += `${line}\n`;
      const { page } = JSON.parse(line) as { readonly page?: string };
      if (page === undefined) return;
      const redirect = new URL(page).searchParams.get("redirect_uri") ?? "";
      void browse(page, redirect).then(
        (end) => fetch(end),
        () => child.kill("SIGTERM"),
      );
    });
    await once(child, "close");
    const host = / needs (127\.0\.0\.1:\d+)/.exec(out)?.[1];
    if (host === undefined || hosts.includes(host)) return out;
    hosts.push(host);
  }
  return "too many hosts";
}

/** The checks of one scenario. */
async function checksOf(scenario: string): Promise<readonly Check[]> {
  const { port } = door.address() as { readonly port: number };
  const script = join(root, "test", "clients", "oauth-client.mjs");
  const folder = join(output, scenario);
  const command = `${process.execPath} ${script} ${port}`;
  const words = [
    newerNode,
    conformance,
    "client",
    "--command",
    command,
    "--scenario",
    `auth/${scenario}`,
    "-o",
    folder,
  ];
  await run([...words, "--timeout", "60000"], { cwd: output, env: fixture.environment });
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((path) => path.endsWith("checks.json"));
  return JSON.parse(readFileSync(join(folder, found ?? ""), "utf8")) as readonly Check[];
}

describe("the suite's scenarios about OAuth", () => {
  test.each(SCENARIOS)("%s passes", async (scenario) => {
    const checks = await checksOf(scenario);
    expect(checks.some(({ status }) => status === "SUCCESS")).toBe(true);
    const failed = checks.filter(
      ({ id, status }) => status === "FAILURE" || (status === "WARNING" && !(id in OTHERWISE)),
    );
    expect([failed, failed.length === 0 ? "" : told]).toEqual([[], ""]);
  });
});
