// What an MCP server of others may send on its standard output, each case by a real server in its sandbox: contained, answered with
// a code, and in the log; the server beside it goes on.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { until } from "../house/until.ts";
import type { Caller, Session } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";

const MODES = [
  "line100",
  "halves",
  "cyclic",
  "notices",
  "complains",
  "forks",
  "fills",
  "asks-all",
  "two-thousand",
  "types",
  "endless",
  "crashes",
];
let fixture: Fixture;
let caller: Caller;
let session: Session;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.write("project/servers/plain.mjs", readFileSync(join(root, "test", "mcp", "servers", "plain.mjs"), "utf8"));
  const folder = join(fixture.project, "servers");
  const entry = (name: string, mode: string): string =>
    `  ${name}: { command: [node, "${join(folder, "plain.mjs")}", ${mode}], runtime: ["${folder}"] }`;
  fixture.write(
    "config/ambit/mcp.yml",
    `servers:\n${[...MODES.map((mode) => entry(mode, mode)), entry("beside", "plain"), entry("netted", "plain").replace(" }", ", requires: [{ net.connect: { hosts: [127.0.0.1], ports: [1] } }] }")].join("\n")}\n`,
  );
  fixture.agent("scout", [
    `tool.invoke{tools=[${[...MODES, "beside", "netted"].map((name) => `${name}__*`).join(",")}]}`,
  ]);
  fixture.agent("narrow", ["tool.invoke{tools=[beside__echo]}"]);
  await fixture.begin();
  caller = fixture.caller();
  session = expectValue(await caller.open(fixture.project, "scout"));
}, 60_000);

afterAll(async () => {
  await fixture.remove();
});

async function call(
  tool: string,
  input: object = {},
  from = session,
): Promise<{ readonly said: string; readonly text: string; readonly why: string }> {
  const { said, value } = await from.do(tool, input);
  const content =
    (value["result"] as { readonly content?: readonly { readonly text: string }[] } | undefined)?.content ?? [];
  return { said, text: content.map((one) => one.text).join("\n"), why: String(value["message"] ?? "") };
}

async function beside(): Promise<void> {
  expect(await call("beside__echo", { value: "alive" })).toMatchObject({ said: "done", text: "alive" });
}

describe("on its output", () => {
  test("a line of 100 MB is dropped, and the answer behind it counts", async () => {
    expect(await call("line100__echo", { value: "behind it" })).toMatchObject({ said: "done", text: "behind it" });
    await beside();
  });

  test("a line that never ends ends the server, with a code and an entry", async () => {
    const { said, why } = await call("endless__echo");
    expect([said, why]).toEqual([
      "execution_failed",
      expect.stringContaining("a line does not end within 134217728 bytes"),
    ]);
    const ends = (await fixture.log({ outcome: "server_ended" })).filter(({ more }) => more["server"] === "endless");
    expect(ends.map(({ more }) => more["why"])).toEqual([expect.stringContaining("a line does not end")]);
    await beside();
  }, 60_000);

  test("a server that fails at its start is a few lines of the list, which says where the rest is", async () => {
    expect((await call("crashes__echo")).why).toContain("could not be started");
    const { out } = await fixture.ambit("mcp", "list");
    const [, block = ""] = /\ncrashes .*\n([\s\S]*?)\n\S/.exec(`\n${out}\nend`) ?? [];
    const said = block.split("\n").filter((line) => /line \d|all that it said/.test(line));
    expect(said.map((line) => line.trim().slice(0, 40))).toEqual([
      ...[`line 57 ${"x".repeat(20)}`, `line 58 ${"x".repeat(32)}`, `line 59 ${"x".repeat(20)}`],
      "all that it said: ambit mcp show crashes",
    ]);
    expect(Math.max(...said.map((line) => line.length))).toBeLessThan(210);
    expect((await fixture.ambit("mcp", "show", "crashes")).out).toContain("line 20 ");
  });

  test("a message that comes byte by byte is one message", async () => {
    expect(await call("halves__echo")).toMatchObject({ said: "done", text: "hälves €" });
  });

  test("schemas that refer to themselves are offered, and no argument hangs on them", async () => {
    expect(await call("cyclic__echo", { value: "round" })).toMatchObject({ said: "done", text: "round" });
    expect((await call("cyclic__self", { value: { value: { value: {} } } })).said).toBe("done");
  });

  test("ids of another type, of another call, and again are no answers", async () => {
    expect(await call("types__echo")).toMatchObject({ said: "done", text: "right" });
  });

  test("50,000 notices end the call or are dropped, and reach no model", async () => {
    const { text } = await call("notices__echo", { value: "quiet" });
    expect(text).not.toContain("Obey");
    await beside();
  });

  test("18 MB of error output are not kept, and reach no model", async () => {
    expect(await call("complains__echo", { value: "quiet" })).toMatchObject({ said: "done", text: "quiet" });
    await beside();
  });
});

describe("requests of its own", () => {
  test("are refused with a code, and stand in the log once each", async () => {
    expect(await call("asks-all__echo", { value: "goes on" })).toMatchObject({ said: "done", text: "goes on" });
    const methods = async (): Promise<readonly unknown[]> =>
      (await fixture.log({ outcome: "server_refused" })).map(({ more }) => more["method"]);
    await until(async () => (await methods()).length >= 6, "they are in the log");
    expect((await methods()).toSorted()).toEqual([
      "(another method)",
      "elicitation/create",
      "resources/read",
      "roots/list",
      "sampling/createMessage",
      "tools/call",
    ]);
  });
});

describe("in its sandbox", () => {
  test("it forks: at most 64 processes, and all of them end with it", async () => {
    const { said, text } = await call("forks__echo");
    if (said === "done") expect((JSON.parse(text) as { spawned: number }).spawned).toBeLessThan(64);
    await beside();
  }, 60_000);

  test("it fills its memory: it ends alone, and the caller is told", async () => {
    const { said, why } = await call("fills__echo");
    expect([said, why]).toEqual(["execution_failed", expect.stringContaining("ended")]);
    await beside();
  }, 60_000);

  test("a connection that is refused to it stands in the log by itself", async () => {
    const fresh = expectValue(await caller.open(fixture.project, "scout", { connection: "2" }));
    // The broker takes the connection, and closes it: nothing is sent on.
    await call("netted__dial", { value: 80, path: "192.0.2.1" }, fresh);
    await caller.hangUp("2");
    await until(async () => (await fixture.log({ outcome: "server_denied" })).length > 0, "it is in the log");
    const [entry] = await fixture.log({ outcome: "server_denied" });
    expect(entry?.more).toMatchObject({ server: "netted", request: expect.stringContaining("192.0.2.1") });
  });
});

describe("lists", () => {
  test("`ambit tools list` shows the pinned tools of servers, and those an agent can reach", async () => {
    await beside();
    const all = JSON.parse((await fixture.ambit("tools", "list", "--json")).out) as {
      tools: { name: string; origin: string }[];
    };
    expect(all.tools.find(({ name }) => name === "beside__echo")?.origin).toBe("server beside");
    const few = JSON.parse((await fixture.ambit("tools", "list", "--agent", "narrow", "--json")).out) as {
      tools: { name: string }[];
    };
    expect(few.tools.map(({ name }) => name).filter((name) => name.includes("__"))).toEqual(["beside__echo"]);
    expect((await fixture.ambit("tools", "list")).out).toContain("server beside");
  });

  test("2,000 tools of a server are listed and called", async () => {
    expect(await call("two-thousand__t1999")).toMatchObject({ said: "done", text: "the last" });
    const { tools } = expectValue(await session.ask("tools.list", {}).answer) as {
      readonly tools: readonly { readonly name: string }[];
    };
    const names = tools.map(({ name }) => name).filter((name) => name.startsWith("two-thousand__"));
    expect([names.length, names.toSorted()]).toEqual([2_000, names]);
  });

  test("the list of a session changes when its grants do", async () => {
    const mine = expectValue(await caller.open(fixture.project, "narrow", { connection: "3" }));
    const names = async (): Promise<readonly string[]> =>
      (expectValue(await mine.ask("tools.list", {}).answer)["tools"] as readonly { readonly name: string }[])
        .map(({ name }) => name)
        .filter((name) => name.includes("__"));
    expect(await names()).toEqual(["beside__echo"]);
    fixture.agent("narrow", ["tool.invoke{tools=[beside__echo,beside__env]}"]);
    await fixture.trust();
    await until(async () => (await names()).includes("beside__env"), "the new tool is listed");
    fixture.agent("narrow", ["tool.invoke{tools=[beside__env]}"]);
    await fixture.trust();
    await until(async () => !(await names()).includes("beside__echo"), "the old tool is gone");
  });
});
