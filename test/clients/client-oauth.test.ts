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

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** Scenarios that do not apply, and why. */
const ABSENT: Readonly<Record<string, string>> = {
  "pre-registration": "a client secret that was given out beforehand is not supported",
  "scope-step-up": "a sign-in asks for the scopes that the server names at the beginning, and for no more later",
  "scope-retry-limit": "the same",
  "authorization-server-migration": "this test does not sign in a second time",
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
    const address = new URL(request.url ?? "/", "http://127.0.0.1").searchParams.get("address") ?? "";
    void use(address).then(
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

/** What a user does with a server at this address: adds it, signs in, and lets an agent use it. */
async function use(address: string): Promise<string> {
  const bridge = new LocalhostBridge();
  const name = `suite-${++number}`;
  const caller = fixture.caller();
  try {
    fixture.write(
      "config/ambit/mcp.yml",
      `servers:\n  ${name}: { url: ${JSON.stringify(await bridge.inward(address))} }\n`,
    );
    const login = await signIn(name);
    const session = expectValue(await caller.open(fixture.project, "scout"));
    const listed = JSON.stringify(await session.ask("tools.list", {}).answer);
    const tool = new RegExp(`"(${name}__[A-Za-z0-9_-]+)"`).exec(listed)?.[1] ?? `${name}__none`;
    const { said } = await session.do(tool, {});
    await session.close();
    return JSON.stringify({ login, said });
  } finally {
    await caller.end();
    bridge.close();
  }
}

async function signIn(name: string): Promise<string> {
  const hosts: string[] = [];
  for (let round = 0; round < 4; round++) {
    const words = [
      join(root, "bin", "ambit"),
      "mcp",
      "login",
      name,
      "--json",
      ...hosts.flatMap((one) => ["--host", one]),
    ];
    const child = spawn(process.execPath, words, {
      cwd: fixture.project,
      env: fixture.environment,
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
  test.each(SCENARIOS.filter((scenario) => !(scenario in ABSENT)))("%s passes", async (scenario) => {
    const checks = await checksOf(scenario);
    expect(checks.some(({ status }) => status === "SUCCESS")).toBe(true);
    const failed = checks.filter(({ status }) => status === "FAILURE");
    expect([failed, failed.length === 0 ? "" : told]).toEqual([[], ""]);
  });

  test.each(Object.entries(ABSENT))("%s does not pass: %s", async (scenario) => {
    const checks = await checksOf(scenario);
    const isPassed =
      checks.some(({ status }) => status === "SUCCESS") && checks.every(({ status }) => status !== "FAILURE");
    expect(isPassed).toBe(false);
  });
});
