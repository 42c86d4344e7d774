// Init without a terminal: what it writes, what it keeps, and when its own files count as trusted.
import { describe, expect, test } from "vitest";
import type { Surroundings } from "../../core/ports/surroundings.ts";
import { EXIT } from "../terminal/exit.ts";
import { PLAIN } from "../terminal/paint.ts";
import { type ConnectClient, type InitFileResult, type InitOptions, type InitPorts, init } from "./init.ts";

const found: Surroundings = { isGit: true, clients: [], servers: [], toolchains: [], sample: "go.mod" };

function fixtureOf(more: Partial<InitPorts>, there: readonly string[] = []) {
  const files = new Map(there.map((path) => [path, "mine"]));
  const said: string[] = [];
  const complained: string[] = [];
  let trusted = 0;
  const ports: InitPorts = {
    paint: PLAIN,
    isTerminal: false,
    project: "/work",
    isWorkspace: false,
    look: () => found,
    write: (path, text): InitFileResult => {
      if (files.has(path)) return { ok: true, kind: "kept" };
      files.set(path, text);
      return { ok: true, kind: "written" };
    },
    trust: () => {
      trusted++;
      return true;
    },
    terminal: {
      isInteractive: false,
      confirm: async () => false,
      choose: async () => null,
      enter: async () => null,
      typed: async () => null,
      secret: async () => null,
    },
    admit: async () => ({ ok: true, value: {} }),
    print: (text) => said.push(text),
    printError: (text) => complained.push(text),
    ...more,
  };
  return { ports, files, said, complained, trusted: () => trusted };
}

const yes: InitOptions = { yes: true, json: false };
const none: ConnectClient = async () => {
  throw new Error("no client is connected here");
};

test("with --yes a reader is written, trusted, and tested", async () => {
  const { ports, files, said, trusted } = fixtureOf({});
  expect(await init(ports, yes, none)).toBe(EXIT.ok);
  expect([...files.keys()]).toContain(".ambit/agents/reader.md");
  expect([...files.keys()]).not.toContain(".ambit/agents/coder.md");
  expect(trusted()).toBe(1);
  expect(said.at(-1)).toBe("\nNow try:\n  ambit can reader fs.read go.mod");
});

describe("--preset", () => {
  const rows: readonly (readonly [string, readonly string[] | null])[] = [
    ["coder", ["coder"]],
    ["ambit:coder@2", ["coder"]],
    ["ambit:coder@1", null],
    ["coder, reader", ["reader", "coder"]],
    ["code", null],
    ["coder,", null],
    ["../coder", null],
  ];
  test.each(rows)("%s", async (preset, names) => {
    const { ports, files, complained } = fixtureOf({});
    expect(await init(ports, { ...yes, preset }, none)).toBe(names === null ? EXIT.usage : EXIT.ok);
    const agents = [...files.keys()].filter((path) => path.includes("/agents/"));
    expect(agents).toEqual((names ?? []).map((name) => `.ambit/agents/${name}.md`));
    expect(complained.length).toBe(names === null ? 1 : 0);
  });
});

describe("existing files are kept and not trusted", () => {
  test.each([
    ["a record of that name", {}, [".ambit/agents/reader.md"]],
    ["another workspace", { isWorkspace: true }, []],
  ] as const)("%s", async (_title, more, there) => {
    const { ports, files, said, trusted } = fixtureOf(more, there);
    expect(await init(ports, yes, none)).toBe(EXIT.ok);
    for (const path of there) expect(files.get(path)).toBe("mine");
    expect(trusted()).toBe(0);
    expect(said.at(-1)).toContain("ambit trust\n");
  });

  test("nor is anything if a file could not be written", async () => {
    const { ports, complained, trusted } = fixtureOf({
      write: () => ({ ok: false, message: "cannot be written (EROFS)" }),
    });
    expect(await init(ports, yes, none)).toBe(EXIT.error);
    expect(complained[0]).toContain("EROFS");
    expect(trusted()).toBe(0);
  });
});

describe("it fails before it writes", () => {
  test.each([
    ["without a terminal and without --yes", {}, { yes: false, json: false }, /--yes/],
    ["in a home folder", { project: null }, yes, /cd into a project/],
  ] as const)("%s", async (_title, more, options, says) => {
    const { ports, files, complained } = fixtureOf(more);
    expect(await init(ports, options, none)).toBe(EXIT.usage);
    expect(files.size).toBe(0);
    expect(complained.join()).toMatch(says);
  });
});

test("--json is one object", async () => {
  const { ports, said } = fixtureOf({});
  await init(ports, { ...yes, json: true }, none);
  expect(said.length).toBe(1);
  expect(JSON.parse(said[0] ?? "")).toMatchObject({
    project: "/work",
    kept: [],
    failed: [],
    trusted: true,
    next: ["ambit can reader fs.read go.mod"],
  });
});

describe("clients that were found", () => {
  const clients: Surroundings["clients"] = [
    { client: "claude", because: [".claude"] },
    { client: "gemini", because: [".gemini"] },
  ];
  const ask = async (options: InitOptions, more: Partial<InitPorts> = {}, isFailing = false) => {
    const asked: (readonly [string, string, boolean])[] = [];
    const { ports, said } = fixtureOf({ look: () => ({ ...found, clients }), ...more });
    const exit = await init(ports, options, async (...one) => {
      asked.push(one);
      return isFailing ? "failed" : one[0] === "claude" ? "connected" : "declined";
    });
    return { exit, asked, said: said.at(-1) ?? "" };
  };

  test("are connected with --connect, and only then where no person is asked", async () => {
    const { asked, said } = await ask({ ...yes, preset: "reader,coder", connect: true });
    expect(asked).toEqual([
      ["claude", "coder", true],
      ["gemini", "coder", true],
    ]);
    expect(said).not.toContain("connect claude");
    expect(said).toContain("ambit connect gemini --agent coder");
    expect((await ask({ ...yes, json: true })).asked).toEqual([]);
    expect((await ask(yes)).asked).toEqual([]);
  });

  test("are not connected to an agent that is not trusted", async () => {
    const { asked, said } = await ask({ ...yes, connect: true }, { isWorkspace: true });
    expect(asked).toEqual([]);
    expect(said).toContain("ambit trust\n");
  });

  test("that cannot be connected are an error", async () => {
    const { exit } = await ask({ ...yes, connect: true }, {}, true);
    expect(exit).toBe(EXIT.error);
  });
});
