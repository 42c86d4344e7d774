// A server without an agent: its grants are the ones its caller provides, and without any it has none.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectValue, Fixture } from "../state/fixture.ts";
import { caveats, codeOf, LineClient, type ToolResult } from "./line-client.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("scout", ["memory.read"]);
  fixture.agent("anonymous", ["memory.read", "memory.write"]);
  fixture.write("project/a.txt", "one line\n");
  fixture.write("project/in/b.txt", "another\n");
  await fixture.begin();
});
afterAll(() => fixture?.remove());

const ECHO = { argv: ["echo", "hi"], in: ".", root: "ro" };

async function serving<T>(
  words: readonly string[],
  brought: string | null,
  use: (client: LineClient) => Promise<T>,
): Promise<{ readonly used: T; readonly errors: string; readonly status: number | null }> {
  const client = new LineClient(fixture, words, brought === null ? {} : { environment: { AMBIT_CAVEATS: brought } });
  const used = await use(client);
  const status = await client.end();
  return { used, errors: client.errors, status };
}

function said(result: ToolResult): unknown {
  return result.isError === true ? codeOf(result) : "done";
}

describe("the source of its grants", () => {
  test("nothing configured: everything is denied, and the message says so", async () => {
    const { used, errors } = await serving([], null, async (client) => [
      await client.names(),
      said(await client.call("fs_read", { path: "a.txt" })),
      said(await client.call("proc_exec", ECHO)),
    ]);
    // Nothing is listed, and a call of a built-in tool still says what is missing.
    expect(used).toEqual([[], "capability_absent", "capability_absent"]);
    expect(errors).toContain("everything is denied");
  });

  test("AMBIT_CAVEATS takes precedence over the file", async () => {
    fixture.write(
      "config/ambit/caveats.toml",
      '[caveats]\nfs_read = "all"\nfs_write = { only = [] }\nexec = { only = ["true"] }\nnet = { only = [] }\nmax_calls = "unlimited"\nvalid_for_generation = "all"\n',
    );
    const run = (brought: string | null) =>
      serving([], brought, async (client) => [
        said(await client.call("proc_exec", ECHO)),
        said(await client.call("proc_exec", { argv: ["true"], in: ".", root: "ro" })),
      ]);
    expect((await run(caveats({ exec: { only: ["echo"] } }))).used).toEqual(["done", "scope_violation"]);
    const file = await run(null);
    expect(file.used).toEqual(["scope_violation", "done"]);
    expect(file.errors).toContain("caveats.toml");
  });

  test.each([
    ["a field is missing", '{"exec":"all"}', "is missing"],
    ["it is not JSON", "everything", "JSON"],
    ["it ends within a string", '{"fs_read":"al', "is not closed"],
    ["it is empty", "", "value expected"],
    ["an unknown field", caveats({ also: "all" }), "also"],
    ["a record in its place", '{"capabilities":["fs.read{in=/}"],"sandbox":"/"}', "field"],
  ])("%s: nothing is granted, and it does not fall back to the file", async (_, brought, why) => {
    const { used, errors } = await serving([], brought, async (client) => [
      said(await client.call("fs_read", { path: "a.txt" })),
      said(await client.call("proc_exec", { argv: ["true"], in: ".", root: "ro" })),
    ]);
    expect(used).toEqual(["capability_absent", "capability_absent"]);
    expect(errors).toContain("cannot be parsed, so everything is denied");
    expect(errors).toContain(why);
  });

  test.each([
    ["is not TOML", "[caveats", "caveats.toml"],
    ["has no such table", "# nothing\n", "no [caveats] table"],
  ])("a file that %s grants nothing", async (_, text, why) => {
    fixture.write("config/ambit/caveats.toml", text);
    const { used, errors } = await serving([], null, async (client) => said(await client.call("proc_exec", ECHO)));
    expect(used).toBe("capability_absent");
    expect(errors).toContain(why);
  });

  test("unconfined only by its flag, with a warning, and refused beside any other source", async () => {
    const { used, errors } = await serving(["--unconfined"], null, async (client) => [
      said(await client.call("proc_exec", ECHO)),
      said(await client.call("fs_read", { path: "a.txt" })),
      said(await client.call("memory_get", { key: "a" })),
    ]);
    expect(used).toEqual(["done", "done", "capability_absent"]);
    expect(errors).toMatch(/WARNING.*UNCONFINED/);
    for (const [words, brought] of [
      [["--unconfined"], caveats({})],
      [["--unconfined", "--agent", "scout"], null],
    ] as const) {
      const client = new LineClient(
        fixture,
        words,
        brought === null ? {} : { environment: { AMBIT_CAVEATS: brought } },
      );
      expect(await client.over).toBe(2);
    }
  });
});

describe("its authority", () => {
  test("never gets the grants of another user's record of the same name", async () => {
    const { used } = await serving([], caveats({}), async (client) =>
      said(await client.call("memory_get", { key: "a" })),
    );
    expect(used).toBe("capability_absent");
  });

  test("is limited by the user's ceiling, by the user's own record, and by its pledge", async () => {
    const read = async (words: readonly string[]) =>
      (
        await serving(words, caveats({}), async (client) => [
          said(await client.call("fs_read", { path: "a.txt" })),
          said(await client.call("fs_read", { path: "in/b.txt" })),
        ])
      ).used;
    expect(await read([])).toEqual(["done", "done"]);
    expect(await read(["--pledge", "fs.read{in=./in}"])).toEqual(["scope_violation", "done"]);
    fixture.user("ann", [`fs.read{in=${fixture.project}/in}`]);
    expect(await read(["--user", "ann"])).toEqual(["scope_violation", "done"]);
    fixture.write("config/ambit/config.yml", `ceiling:\n  - "fs.read{in=${fixture.project}/in}"\n`);
    try {
      expect(await read([])).toEqual(["scope_violation", "done"]);
    } finally {
      fixture.write("config/ambit/config.yml", "");
    }
  });

  test("is charged per call; denied calls cost nothing", async () => {
    const brought = caveats({ exec: { only: ["echo"] }, max_calls: { at_most: 2 } });
    const { used } = await serving([], brought, async (client) => [
      said(await client.call("proc_exec", { argv: ["rm", "x"], in: ".", root: "ro" })),
      said(await client.call("proc_exec", ECHO)),
      said(await client.call("proc_exec", ECHO)),
      said(await client.call("proc_exec", ECHO)),
    ]);
    expect(used).toEqual(["scope_violation", "done", "done", "budget_exhausted"]);
  });

  test("keeps its count across a restart of the daemon", async () => {
    const brought = caveats({ max_calls: { at_most: 2 } });
    const { used } = await serving([], brought, async (client) => {
      const read = async (): Promise<unknown> => said(await client.call("fs_read", { path: "a.txt" }));
      const first = await read();
      await fixture.killDaemon();
      // A call may be sent before the server notices that its daemon is gone: it says so, and is not counted.
      const second = await read();
      return [first, second === "no_daemon" ? await read() : second, await read()];
    });
    expect(used).toEqual(["done", "done", "budget_exhausted"]);
  });

  test("is valid for the generations it names", async () => {
    const run = async (only: readonly number[]) =>
      (
        await serving([], caveats({ valid_for_generation: { only } }), async (client) =>
          said(await client.call("fs_read", { path: "a.txt" })),
        )
      ).used;
    expect(await run([0])).toBe("done");
    expect(await run([7])).toBe("generation_stale");
    const denied = await fixture.log({ kind: "decision", outcome: "deny" });
    expect(denied.map(({ code }) => code)).toContain("generation_stale");
  });
});

describe("callers that may provide their own grants:", () => {
  const OPENING = {
    ...{ agent: "scout", user: null, trace: null, face: "mcp", pledge: null, token: null },
    ...{ environment: {}, isForParent: false, caveats: caveats({}) },
  };

  test("no process that a session started", async () => {
    const caller = fixture.caller();
    expectValue(await caller.open(fixture.project, "scout"));
    const ran = await caller.spawn(fixture.project, ...fixture.words("mcp", "serve", "--unconfined"));
    expect(ran.status).toBe(4);
    expect(ran.out).toContain("control_refused");
  });

  test("nor a client with an agent's session", async () => {
    const caller = fixture.caller();
    expectValue(await caller.open(fixture.project, "scout", {}));
    expect(
      await caller.ask("session.open", { ...OPENING, cwd: fixture.project, agent: "anonymous" }).answer,
    ).toMatchObject({
      ok: false,
      code: "control_refused",
    });
  });

  test("and no client under another name, or with a token", async () => {
    const caller = fixture.caller();
    const opening = { ...OPENING, cwd: fixture.project };
    for (const wrong of [opening, { ...opening, agent: "anonymous", token: "t" }, { ...opening, caveats: 7 }])
      expect(await caller.ask("session.open", wrong).answer).toMatchObject({ ok: false, code: "invalid_input" });
  });

  test("the provided grants are in the log", async () => {
    const brought = caveats({ net: { only: ["meadow.test"] } });
    await serving([], brought, (client) => client.names());
    const opened = await fixture.log({ kind: "session", outcome: "opened" });
    expect(opened.some(({ agent, more }) => agent === "anonymous" && more["caveats"] === brought)).toBe(true);
  });
});
