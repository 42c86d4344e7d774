// Shared stores: written by the daemon alone, read as files that are always whole, seen only by agents that may read them.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { environment, root } from "../e2e/ambit.ts";
import { Walk } from "../seeds/walk.ts";

const walk = new Walk();
const state = join(environment["XDG_STATE_HOME"] ?? "", "ambit");

const put = (...words: readonly string[]): ReturnType<Walk["ambit"]> => walk.ambit("store", "put", ...words);
const get = (...words: readonly string[]): { revision?: number; items?: readonly Item[]; item?: Item } =>
  JSON.parse(walk.ambit("store", "get", ...words, "--json").out) as never;
/** A program in the sandbox of an agent. */
const inside = (agent: string, script: string): string => {
  const { out, err } = walk.ambit("exec", agent, "--", "sh", "-c", script);
  return `${out}${err}`;
};

interface Item {
  readonly key: string;
  readonly value: unknown;
  readonly revision: number;
  readonly writer: string;
}

beforeAll(() => {
  const record = (...more: readonly string[]): readonly string[] => [
    ...["sandbox: .", "capabilities:", "  - proc.exec: { root: ro }", "  - fs.read"],
    ...more.map((one) => `  - ${one}`),
  ];
  walk.record("owner", ...record("records.read{classes=[contact]}", "records.create{classes=[contact]}"));
  walk.record("editor", ...record("records.read{classes=[contact]}", "records.update{classes=[contact]}"));
  walk.record("part", ...record("records.read{classes=[contact],paths=[crm/acme]}"));
  walk.record(
    "asker",
    ...record("records.read{classes=[contact],ask=true}", "records.update{classes=[contact],ask=true}"),
  );
  walk.record("other", ...record("records.read{classes=[goal]}"));
  walk.record("remover", ...record("records.read", "records.delete"));
  walk.write({
    "lead.schema.json": JSON.stringify({
      type: "object",
      properties: { name: { type: "string", minLength: 1 }, score: { type: "integer", minimum: 0 } },
      required: ["name"],
      additionalProperties: false,
    }),
    "remote.schema.json": JSON.stringify({ $ref: "https://example.com/schema.json" }),
    "local.schema.json": JSON.stringify({ $defs: { a: {} }, properties: { x: { $ref: "#/$defs/a" } } }),
    "broken.schema.json": JSON.stringify({ type: "objekt" }),
    "list.schema.json": "[]",
    "half.schema.json": "{",
    "strict.schema.json": JSON.stringify({ type: "object", required: ["name", "score"] }),
  });
  walk.trust();
});
afterAll(() => {
  walk.ambit("daemon", "stop");
});

describe("a person", () => {
  test("writes an item that fits the schema, and reads it", () => {
    expect(put("crm", "acme", '{"name":"Acme","stage":"lead"}').status).toBe(0);
    expect(get("crm", "acme").item).toMatchObject({ key: "acme", revision: 1, value: { name: "Acme", stage: "lead" } });
    expect(walk.ambit("store", "get", "crm").out).toContain('"stage": "lead"');
    expect(walk.ambit("store", "list").out).toMatch(/crm\s+class contact\s+1 item, revision 1/);
  });
  test.each<[string, readonly string[]]>([
    ["a missing field", ["crm", "x", "{}"]],
    ["an unknown field", ["crm", "x", '{"name":"X","admin":true}']],
    ["a wrong type", ["crm", "x", '"text"']],
    ["no JSON", ["crm", "x", "{"]],
    ["an unknown store", ["nothing", "x", "{}"]],
    ["a store of the runtime", ["tasks", "x", "{}"]],
    ["a key that leaves the store", ["crm", "../x", '{"name":"X"}']],
    ["a hidden key", ["crm", ".x", '{"name":"X"}']],
    ["an empty part", ["crm", "a//b", '{"name":"X"}']],
    ["a control character", ["crm", "a\u001b[31m", '{"name":"X"}']],
    ["a long key", ["crm", "k".repeat(300), '{"name":"X"}']],
    ["a store name of another kind", ["../crm", "x", '{"name":"X"}']],
    ["the class of another store", ["contact", "x", '{"name":"X"}']],
    ["a large value", ["goals", "x", JSON.stringify({ title: "t", notes: "é".repeat(39_000) })]],
    ["an item that is there", ["crm", "acme", '{"name":"Other"}']],
    ["a stale revision", ["crm", "acme", '{"name":"Other"}', "--revision", "7"]],
    ["a revision that is no number", ["crm", "acme", '{"name":"Other"}', "--revision", "1e3"]],
  ])("is refused %s", (_, words) => {
    const before = get("crm");
    const { status, err } = put(...words);
    expect(status).not.toBe(0);
    expect(err).toMatch(/error/);
    expect(get("crm")).toEqual(before);
  });
  test("replaces and removes by revision, and a key that is made anew has a new one", () => {
    put("crm", "temp", '{"name":"One"}');
    const { item } = get("crm", "temp");
    expect(put("crm", "temp", '{"name":"Two"}', "--revision", String(item?.revision)).status).toBe(0);
    expect(walk.ambit("store", "delete", "crm", "temp", "--revision", String(item?.revision)).status).toBe(1);
    const now = get("crm", "temp").item?.revision ?? 0;
    expect(walk.ambit("store", "delete", "crm", "temp", "--revision", String(now)).status).toBe(0);
    expect(walk.ambit("store", "get", "crm", "temp").status).toBe(1);
    put("crm", "temp", '{"name":"Three"}');
    expect(get("crm", "temp").item?.revision).toBeGreaterThan(now + 1);
  });
  test("sees who changed what, from the log", () => {
    const { out } = walk.ambit("store", "history", "crm", "temp", "--json");
    const { changes } = JSON.parse(out) as { changes: readonly { change: string; key: string; value: unknown }[] };
    expect(changes.map(({ change }) => change)).toEqual(["put", "delete", "put", "put"]);
    expect(changes[0]?.value).toEqual({ name: "Three" });
    expect(walk.ambit("log", "--text", "temp").out).toContain("store put");
  });
});

describe("a store of one's own", () => {
  test("has the schema that a person defined, and no other", () => {
    expect(walk.ambit("store", "define", "leads", "lead.schema.json").status).toBe(0);
    expect(put("leads", "a", '{"name":"A","score":3}').status).toBe(0);
    expect(put("leads", "b", '{"name":"B","score":-3}').err).toContain("score is below 0");
    // INVARIANT: every item fits.
    const stricter = walk.ambit("store", "define", "leads", "strict.schema.json");
    expect(stricter.status).toBe(0);
    put("leads", "b", '{"name":"B","score":1}');
    expect(put("leads", "c", '{"name":"C"}').status).toBe(1);
  });
  test("a schema that an item does not fit is refused", () => {
    walk.write({ "names.schema.json": JSON.stringify({ type: "object", required: ["nick"] }) });
    expect(walk.ambit("store", "define", "leads", "names.schema.json").err).toContain("nick is missing");
    expect(put("leads", "d", '{"name":"D","score":1}').status).toBe(0);
  });
  test.each(["remote", "local", "broken", "list", "half", "absent"])("a schema that is %s is refused", (name) => {
    const { status, err } = walk.ambit("store", "define", "bad", `${name}.schema.json`);
    expect(status).toBe(1);
    expect(err).toContain("error");
    expect(put("bad", "x", "{}").err).toContain("there is no store bad");
  });
  test.each(["crm", "tasks", "Leads", "a/b", "contact", "agent", ""])("cannot be called %s", (name) => {
    expect(walk.ambit("store", "define", name, "lead.schema.json").status).not.toBe(0);
  });
});

describe("an agent", () => {
  test("writes through tools, each write decided by its class and its verb", () => {
    const value = { name: "Beta" };
    expect(walk.call("owner", "store_put", { store: "crm", key: "beta", value }).code).toBe(null);
    expect(get("crm", "beta").item).toMatchObject({ writer: "owner", value });
    const { revision = 0 } = get("crm", "beta").item ?? {};
    const again = { store: "crm", key: "beta", value: { name: "Gamma" }, revision };
    expect(walk.call("owner", "store_put", again).code).toBe("capability_absent");
    expect(walk.call("other", "store_put", again).code).not.toBe(null);
    expect(walk.call("asker", "store_put", again).code).toBe("approval_required");
    expect(get("crm", "beta").item?.value).toEqual(value);
    expect(walk.call("editor", "store_put", again).code).toBe(null);
    expect(walk.call("editor", "store_put", again).code).toBe("version_conflict");
    expect(walk.call("editor", "store_put", { ...again, revision: revision + 1, value: { nick: 1 } }).code).toBe(
      "invalid_input",
    );
    expect(walk.call("editor", "store_delete", { store: "crm", key: "beta", revision: revision + 1 }).code).toBe(
      "capability_absent",
    );
    expect(walk.call("remover", "store_delete", { store: "crm", key: "beta", revision: revision + 1 }).code).toBe(null);
  });
  test("reads the items it may read", () => {
    const keys = (agent: string): unknown => {
      const { result } = walk.call(agent, "store_get", { store: "crm" });
      return (result as { items: readonly Item[] } | null)?.items.map(({ key }) => key);
    };
    expect(keys("owner")).toEqual(["acme", "temp"]);
    expect(keys("part")).toEqual(["acme"]);
    expect(keys("other")).toEqual([]);
    expect(walk.call("part", "store_get", { store: "crm", key: "temp" }).code).toBe("scope_violation");
  });
});

describe("programs of an agent", () => {
  const FILE = "/run/ambit/stores/crm/crm.json";
  test("read a store as a file", () => {
    const file = JSON.parse(inside("owner", 'cat "$AMBIT_STORES/crm/crm.json"')) as { items: Record<string, Item> };
    expect(file.items["acme"]?.value).toEqual({ name: "Acme", stage: "lead" });
  });
  test("read a store that has no items any more as an empty one", () => {
    const put = walk.ambit("store", "put", "artifacts", "owner/a", '{"title": "A", "body": "a"}', "--json");
    const { revision } = JSON.parse(put.out) as { revision: number };
    expect(walk.ambit("store", "delete", "artifacts", "owner/a", "--revision", String(revision)).status).toBe(0);
    const file = JSON.parse(inside("remover", 'cat "$AMBIT_STORES/artifacts/artifacts.json"')) as { items: object };
    expect(file.items).toEqual({});
  });
  test("are stopped by the kernel when they write it", () => {
    const script = [
      `echo x > ${FILE}; echo "write $?"`,
      `rm -f ${FILE}; echo "remove $?"`,
      `mv ${FILE} /tmp/x; echo "move $?"`,
      'touch /run/ambit/stores/crm/new; echo "create $?"',
      'mkdir /run/ambit/stores/goals; echo "folder $?"',
      `test -s ${FILE} && echo whole`,
    ].join("; ");
    const out = inside("owner", script);
    for (const act of ["write", "remove", "move", "create", "folder"])
      expect(out, act).toMatch(new RegExp(`^${act} [1-9]`, "m"));
    expect(out).toContain("whole");
    expect(get("crm", "acme").item).toBeDefined();
  });
  test.each(["other", "part", "asker"])("of %s do not see a store that it may not read as a whole", (agent) => {
    const out = inside(
      agent,
      "ls /run/ambit/stores/crm 2>&1; cat /run/ambit/stores/crm/crm.json 2>&1; find / -name crm.json 2>/dev/null; echo end",
    );
    expect(out).not.toContain("Acme");
    expect(out).not.toMatch(/^\/.*crm\.json$/m);
    expect(out).toContain("end");
  });
  test("see the newest file while they run, and always a whole one", async () => {
    const reading = spawn(
      process.execPath,
      [
        join(root, "bin", "ambit"),
        "exec",
        "owner",
        "--",
        "sh",
        "-c",
        `for i in $(seq 400); do cat ${FILE}; echo; sleep 0.02; done`,
      ],
      { cwd: walk.folder, env: environment },
    );
    let out = "";
    reading.stdout.on("data", (bytes: Buffer) => {
      out += bytes.toString();
    });
    const ended = new Promise((done) => reading.on("close", done));
    for (let at = 0; at < 5; at++) put("crm", `many/${at}`, JSON.stringify({ name: "n".repeat(300) }));
    await ended;
    const texts = out.split("\n}\n").filter((text) => text.trim() !== "");
    expect(texts.length).toBeGreaterThan(100);
    const counts = texts.map((text) => Object.keys((JSON.parse(`${text}\n}`) as { items: object }).items).length);
    expect(Math.max(...counts)).toBeGreaterThan(Math.min(...counts));
  }, 120_000);
});

describe("the file", () => {
  const fileOf = (): string => {
    const stores = join(state, "stores");
    for (const workspace of readdirSync(stores)) {
      const path = join(stores, workspace, "crm", "crm.json");
      if (existsSync(path)) return path;
    }
    throw new Error("no file");
  };
  test("is a copy: what a person writes there is not in the store, and is gone before a program reads it", () => {
    const path = fileOf();
    writeFileSync(path, '{"items":{}}');
    expect(get("crm", "acme").item).toBeDefined();
    expect(inside("owner", `cat /run/ambit/stores/crm/crm.json`)).toContain("Acme");
    expect(readFileSync(path, "utf8")).toContain("Acme");
  });
});

test("of many writers with the same revision one wins", async () => {
  put("crm", "race", '{"name":"0"}');
  const { item } = get("crm", "race");
  const writers = Array.from({ length: 8 }, (_, at) => {
    const words = [
      "store",
      "put",
      "crm",
      "race",
      JSON.stringify({ name: `w${at}` }),
      "--revision",
      String(item?.revision),
    ];
    const child = spawn(process.execPath, [join(root, "bin", "ambit"), ...words], {
      cwd: walk.folder,
      env: environment,
    });
    return new Promise<number | null>((done) => child.on("close", done));
  });
  const codes = await Promise.all(writers);
  expect(codes.filter((code) => code === 0)).toHaveLength(1);
  const { changes } = JSON.parse(walk.ambit("store", "history", "crm", "race", "--json").out) as {
    changes: readonly object[];
  };
  expect(changes).toHaveLength(2);
}, 60_000);

test("after kill -9 during writes the store, its file and the log agree", async () => {
  const { pid } = JSON.parse(walk.ambit("daemon", "status", "--json").out) as { pid: number };
  const writers = Array.from({ length: 12 }, (_, at) => {
    const words = ["store", "put", "goals", `g${at}`, JSON.stringify({ title: `goal ${at}` })];
    const child = spawn(process.execPath, [join(root, "bin", "ambit"), ...words], {
      cwd: walk.folder,
      env: environment,
    });
    let out = "";
    child.stdout.on("data", (bytes: Buffer) => {
      out += bytes.toString();
      // In the middle of the others.
      if (at < 6)
        try {
          process.kill(pid, "SIGKILL");
        } catch {}
    });
    return new Promise<readonly [string, boolean]>((done) =>
      child.on("close", (code) => done([`g${at}`, code === 0 && out.includes("wrote")])),
    );
  });
  const told = (await Promise.all(writers)).filter(([, isWritten]) => isWritten).map(([key]) => key);
  const { items = [] } = get("goals");
  const { changes } = JSON.parse(walk.ambit("store", "history", "goals", "--json").out) as {
    changes: readonly { key: string; revision: number }[];
  };
  expect(told.length).toBeGreaterThan(0);
  for (const key of told) expect(items.map((item) => item.key)).toContain(key);
  expect(items.map(({ key, revision }) => `${key} ${revision}`).sort()).toEqual(
    changes.map(({ key, revision }) => `${key} ${revision}`).sort(),
  );
  const file = JSON.parse(inside("other", "cat /run/ambit/stores/goals/goals.json")) as { items: object };
  expect(Object.keys(file.items).sort()).toEqual(items.map(({ key }) => key).sort());
  expect(walk.ambit("audit", "verify").status).toBe(0);
}, 120_000);
