// The official suite against a server directly and through the gateway with everything allowed. The same bridge is in front of both,
// so what differs is the gateway. Each difference is listed by name, with its reason.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { Fixture } from "../state/fixture.ts";
import { HttpBridge, type Names } from "./http-bridge.ts";
import { conformance, newerNode } from "./place.ts";
import { run } from "./run.ts";
import type { Revision } from "./scenarios.ts";
import { serverWords } from "./server-words.ts";
import type { WireMessage } from "./stdio-server.ts";

const packages = join(root, "node_modules");
const EVERYTHING = join(packages, "@modelcontextprotocol", "server-everything", "dist", "index.js");
const REFERENCE = join(root, "test", "clients", "reference-server.mjs");
/** The official reference server has no second era; a server with what the suite calls is our own, on the protocol's library. */
const SERVERS = { everything: [EVERYTHING], reference: [REFERENCE], newer: [REFERENCE, "newer"] } as const;

/** Each check of each scenario: its line says how it ended, and its evidence why. */
interface Line {
  readonly line: string;
  readonly check: string;
  readonly evidence: string;
}
type Lines = readonly Line[];

let fixture: Fixture;
let output: string;

beforeAll(async () => {
  output = mkdtempSync(join(tmpdir(), "ambit-gateway-conformance-"));
  fixture = await Fixture.make();
  const entry = (...words: readonly string[]): string =>
    `{ command: ${JSON.stringify(["node", ...words])}, runtime: ["${root}"], asks: [elicitation, sampling], requires: [{ fs.read: { in: "${fixture.project}/docs" } }] }`;
  const entries = Object.entries(SERVERS).map(([name, words]) => `  ${name}: ${entry(...words)}`);
  fixture.write("config/ambit/mcp.yml", `servers:\n${entries.join("\n")}\n`);
  fixture.write("project/docs/a.txt", "a");
  for (const server of Object.keys(SERVERS))
    fixture.agent(`all-${server}`, [
      `tool.invoke{tools=["${server}__*","resources_*"]}`,
      `mcp.resource{servers=[${server}],uris=[**]}`,
      `mcp.elicit{servers=[${server}]}`,
      `mcp.sample{servers=[${server}]}`,
    ]);
  await fixture.begin();
}, 60_000);
afterAll(async () => {
  await fixture?.remove();
  rmSync(output, { recursive: true, force: true });
});

/** Why a line that the suite has directly is another one through the gateway, and what shows it on both sides. */
interface Difference {
  readonly why: string;
  readonly direct: RegExp;
  /** Null where the suite does not come as far. */
  readonly through: RegExp | null;
}

const OWN_ROOTS = {
  why: "a server is told the roots of its entry, and the client is not asked",
  direct: /^SUCCESS /,
  through: /^FAILURE .*response: .*file:.*\/project\/docs/,
};
const NOT_ASKED = {
  why: "answers to what the client was not asked, without a note, are no answers: it is asked first",
  direct: /^SUCCESS .*Alice/,
  through: /^WARNING .*"resultType":"input_required".*The MCP server .*newer.* asks/,
};
/** The check fails directly, because the server has no such tool, and passes through the gateway. */
const denied = (tool: string): Difference => ({
  why: "the gateway denies a tool that the server does not have by a result, and not by an error",
  direct: new RegExp(`^FAILURE .*(?:Tool ${tool} not found|does not list the diagnostic tool '${tool}')`),
  through: /^SUCCESS /,
});
const OUR_FRONT = {
  why: "the check fails directly, and does not through the gateway, whose own server answers it",
  direct: /^FAILURE (?:Expected HTTP 400 Bad Request, got status code 200|Returned supported versions data layout)/,
  through: /^SUCCESS .*"code":-32022/,
};

const DIFFERENT: Readonly<Record<string, Difference>> = {
  "input-required-result-basic-list-roots: sep-2322-list-roots-complete": { ...OWN_ROOTS, through: null },
  "input-required-result-basic-list-roots: sep-2322-list-roots-incomplete": OWN_ROOTS,
  "input-required-result-ignore-extra-params: sep-2322-ignore-unexpected-params": NOT_ASKED,
  "server-stateless: sep-2575-http-server-no-independent-requests-on-stream": denied("test_streaming_elicitation"),
  "server-stateless: sep-2575-http-server-unsupported-version-400": OUR_FRONT,
  "server-stateless: sep-2575-server-no-log-without-loglevel": denied("test_logging_tool"),
  "server-stateless: sep-2575-server-unsupported-version-error": OUR_FRONT,
  "tasks-capability-negotiation: sep-2663-server-rejects-undeclared-client": denied("slow_compute"),
  "tasks-dispatch-and-envelope: sep-2663-legacy-task-param-ignored": denied("greet"),
  "tasks-dispatch-and-envelope: tasks-immediate-result-shortcut": denied("slow_compute"),
  "tasks-dispatch-and-envelope: tasks-result-type-complete-on-non-task-responses": denied("greet"),
  "tasks-lifecycle: tasks-sync-tool-call": denied("greet"),
};

/** The bridge answers these in front of both: whether there is a stream depends on what the server says before its answer. */
const ABOUT_STREAMS: readonly string[] = ["server-sse-multiple-streams", "server-sse-polling"];

describe.each([
  ["everything", "2025-11-25"],
  ["reference", "2025-11-25"],
  ["newer", "2026-07-28"],
] as const)("the server %s at %s", (server, revision) => {
  let direct: Lines;
  let through: Lines;

  beforeAll(async () => {
    direct = await linesOf(
      new HttpBridge(fixture, [process.execPath, ...SERVERS[server]]),
      revision,
      `direct-${server}`,
    );
    const bridge = new HttpBridge(fixture, serverWords(`all-${server}`), namesOf(server));
    through = await linesOf(bridge, revision, `through-${server}`);
  }, 300_000);

  test("the suite has the same lines directly and through the gateway, except for those listed", () => {
    // The suite calls tools that the official reference server does not have.
    const right = direct.filter(({ line }) => line.endsWith(" SUCCESS"));
    expect(right.length).toBeGreaterThan(server === "everything" ? 10 : 40);
    const others = new Set(through.map(({ line }) => line));
    const lost = new Set(direct.filter(({ line }) => !others.has(line)).map(({ check }) => check));
    expect([...lost].sort()).toEqual(server === "newer" ? Object.keys(DIFFERENT).sort() : []);
  });

  const different = server === "newer" ? Object.entries(DIFFERENT) : [];
  test.each(different)("%s differs because of what both sides show", (check, difference) => {
    const evidence = (lines: Lines): readonly string[] =>
      lines.filter((one) => one.check === check).map((one) => one.evidence);
    expect(evidence(direct)).toEqual([expect.stringMatching(difference.direct)]);
    const { through: shown } = difference;
    expect(evidence(through)).toEqual(shown === null ? [] : [expect.stringMatching(shown)]);
  });
});

async function linesOf(bridge: HttpBridge, revision: Revision, name: string): Promise<Lines> {
  const folder = join(output, `${name}-${revision}`);
  const address = await bridge.listen();
  try {
    const words = [newerNode, conformance, "server", "--url", address, "--requirements", revision, "-o", folder];
    await run(words, { cwd: output, env: fixture.environment });
  } finally {
    await bridge.close();
  }
  const seen = readdirSync(folder).flatMap((one) => {
    const scenario = one.replace(/^server-(.+)-\d{4}-\d\d-\d\dT.*$/, "$1");
    const checks = JSON.parse(readFileSync(join(folder, one, "checks.json"), "utf8")) as readonly Check[];
    return ABOUT_STREAMS.includes(scenario)
      ? []
      : checks.map(({ id, status, errorMessage = "", details = null }) => ({
          line: `${scenario}: ${id} ${status}`,
          check: `${scenario}: ${id}`,
          evidence: `${status} ${errorMessage} ${JSON.stringify(details).replaceAll("\\", "")}`,
        }));
  });
  return seen;
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
  readonly details?: unknown;
}

/** The gateway calls a tool `SERVER__TOOL` and a resource `SERVER+URI`; the suite knows them by their own names. */
function namesOf(server: string): Names {
  const [before, scheme] = [`${server}__`, `${server}+`];
  const sent = (method: string, params: Record<string, unknown>): Record<string, unknown> => {
    if (method === "tools/call" || method === "prompts/get") return { ...params, name: `${before}${params["name"]}` };
    if (method.startsWith("resources/") && "uri" in params) return { ...params, uri: `${scheme}${params["uri"]}` };
    const ref = params["ref"] as Record<string, unknown> | undefined;
    if (ref === undefined) return params;
    return {
      ...params,
      ref: "name" in ref ? { ...ref, name: `${before}${ref["name"]}` } : { ...ref, uri: `${scheme}${ref["uri"]}` },
    };
  };
  const own = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(own);
    if (typeof value === "string") return value.startsWith(scheme) ? value.slice(scheme.length) : value;
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, own(one)]));
  };
  const listed = (result: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(result).map(([key, value]) => [
        key,
        key === "tools" || key === "prompts"
          ? (value as { name: string }[])
              .filter(({ name }) => name.startsWith(before))
              .map((one) => ({ ...one, name: one.name.slice(before.length) }))
          : own(value),
      ]),
    );
  return {
    sent: (message) => ({
      ...message,
      ...(message.params === undefined ? {} : { params: sent(message.method ?? "", message.params) }),
    }),
    told: (message): WireMessage =>
      typeof message.result === "object" && message.result !== null
        ? { ...message, result: listed(message.result as Record<string, unknown>) }
        : {
            ...message,
            ...("error" in message ? { error: own(message.error) as NonNullable<WireMessage["error"]> } : {}),
          },
  };
}
