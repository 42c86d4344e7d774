// The records tools: the requests of each, what it shows, and that no text is lost, gets a wider class, or is reached by another
// path.
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/base/json.ts";
import { requestText } from "../../src/core/notation/request/request-printer.ts";
import { pause } from "../house/pause.ts";
import { RecordsFixture } from "./records-fixture.ts";

let fixture: RecordsFixture;
beforeEach(() => {
  fixture = new RecordsFixture();
});
afterEach(() => fixture.remove());

const ALL = ["records.read", "records.create", "records.update", "records.delete"];
const note = (body: string, head = "class: note"): string => `---\n${head}\n---\n\n${body}`;
const versionOf = async (id: string): Promise<string> =>
  String((await fixture.call("records_read", { id })).value["version"]);
const asks = async (tool: string, input: JsonObject): Promise<readonly string[] | string> => {
  const found = await fixture.requests(tool, input);
  return found.ok ? found.value.map(requestText) : found.message;
};

describe("the requests of a call", () => {
  test.each<readonly [string, JsonObject, readonly string[]]>([
    ["records_read", { id: "notes/a" }, ["records.read id=notes/a class=note"]],
    ["records_links", { id: "notes/a" }, ["records.read id=notes/a class=note"]],
    ["records_delete", { id: "notes/a", version: "v" }, ["records.delete id=notes/a class=note"]],
    ["records_update", { id: "notes/a", version: "v", body: "" }, ["records.update id=notes/a class=note"]],
    [
      "records_update",
      { id: "notes/a", version: "v", class: "plan" },
      ["records.update id=notes/a class=note", "records.update id=notes/a class=plan"],
    ],
    ["records_create", { id: "notes/z", class: "plan" }, ["records.create id=notes/z class=plan"]],
    ["records_create", { title: "A  Plan!", class: "plan" }, ["records.create id=plan/a-plan class=plan"]],
    // A record of unknown class is covered only by a grant for every class.
    ["records_read", { id: "notes/none" }, ["records.read id=notes/none"]],
    ["records_read", { id: "plain" }, ["records.read id=plain"]],
    // A file that names another id is that record.
    ["records_read", { id: "elsewhere" }, ["records.read id=elsewhere class=moved"]],
    ["records_read", { id: "notes/moved" }, ["records.read id=notes/moved"]],
    // An agent is never a record.
    ["records_read", { id: "agents/scout" }, ["agent.discover scout"]],
    ["records_delete", { id: "agents/scout", version: "v" }, ["agent.delete scout"]],
    ["records_update", { id: "agents/scout", body: "" }, ["agent.update scout"]],
    ["records_update", { id: "notes/a", class: " AGENT" }, ["agent.update notes/a"]],
    ["records_create", { id: "notes/b", class: "Agent" }, ["agent.create notes/b"]],
    ["records_create", { id: "AGENTS/b", class: "note" }, ["agent.create b"]],
  ])("%s %j", async (tool, input, requests) => {
    fixture.put("notes/a", note("first"));
    fixture.put("plain", "---\n---\nno class\n");
    fixture.put("notes/moved", note("x", "id: elsewhere\nclass: moved"));
    expect(await asks(tool, input)).toEqual(requests);
  });

  test.each<readonly [string, JsonObject]>([
    ["records_read", { id: "../agents/scout" }],
    ["records_read", { id: "/etc/passwd" }],
    ["records_read", { id: ".hidden/x" }],
    ["records_read", { id: "a\\b" }],
    ["records_read", { id: "a.md" }],
    ["records_read", { id: "" }],
    ["records_read", { id: "x".repeat(201) }],
    ["records_read", { id: "a", more: 1 }],
    ["records_search", { query: "?!" }],
    ["records_search", { query: Array.from({ length: 17 }, (_, at) => `w${at}`).join(" ") }],
    ["records_create", { id: "a" }],
    ["records_create", { id: "a", class: "a b\u202e" }],
    ["records_create", { id: "a", class: "note", title: "two\nlines" }],
    ["records_create", { id: "a", class: "note", tags: [""] }],
    ["records_create", { id: "a", class: "note", body: "half \ud800" }],
    ["records_create", { id: "a", class: "note", body: "zero \0" }],
    ["records_create", { id: "a", class: "agent", capabilities: ["records.reed"] }],
    ["records_update", { id: "notes/a", body: "x" }],
    ["records_update", { id: "notes/a", version: "v" }],
    ["records_delete", { id: "notes/a" }],
  ])("%s does not accept %j", async (tool, input) => {
    fixture.specs = ALL;
    expect((await fixture.call(tool, input)).said).toBe("invalid_input");
  });
});

describe("grants", () => {
  test.each<readonly [string, JsonObject, readonly string[], string]>([
    ["records_read", { id: "notes/a" }, ["records.read{classes=[note]}"], "done"],
    ["records_read", { id: "notes/a" }, ["records.read{classes=[not]}"], "scope_violation"],
    ["records_read", { id: "notes/a" }, ["records.read{paths=[notes/*]}"], "done"],
    ["records_read", { id: "notes/a" }, ["records.read{paths=[note/*]}"], "scope_violation"],
    ["records_read", { id: "notes/a" }, ["records.update"], "capability_absent"],
    // An agent that may not read all classes does not learn whether it exists.
    ["records_read", { id: "notes/none" }, ["records.read{classes=[note]}"], "scope_violation"],
    ["records_read", { id: "notes/none" }, ["records.read"], "not_available"],
    ["records_search", { query: "first" }, [], "capability_absent"],
    ["records_create", { id: "notes/b", class: "note" }, ["records.create{classes=[note]}"], "done"],
    ["records_create", { id: "notes/b", class: "plan" }, ["records.create{classes=[note]}"], "scope_violation"],
    ["records_create", { id: "notes/b", class: "note" }, ["records.create{paths=[plans/**]}"], "scope_violation"],
    ["records_create", { id: "b", class: "agent" }, [...ALL], "capability_absent"],
    ["records_create", { id: "b", class: "agent" }, ["agent.create"], "not_available"],
    ["records_read", { id: "agents/scout" }, [...ALL], "capability_absent"],
    ["records_create", { id: "x", class: "note", access: "rw" }, [...ALL], "capability_absent"],
  ])("%s %j by %j: %s", async (tool, input, specs, said) => {
    fixture.put("notes/a", note("first"));
    fixture.specs = specs;
    expect((await fixture.call(tool, input)).said).toBe(said);
  });

  test("changing the class needs grants for both", async () => {
    fixture.put("notes/a", note("first"));
    fixture.specs = ["records.read"];
    const version = await versionOf("notes/a");
    const input = { id: "notes/a", version, class: "plan" };
    for (const specs of [["records.update{classes=[note]}"], ["records.update{classes=[plan]}"]]) {
      fixture.specs = specs;
      expect((await fixture.call("records_update", input)).said).toBe("scope_violation");
    }
    expect(fixture.text("notes/a")).toBe(note("first"));
    fixture.specs = ["records.update{classes=[note,plan]}"];
    expect((await fixture.call("records_update", input)).said).toBe("done");
    expect(fixture.text("notes/a")).toBe(note("first", 'class: "plan"'));
  });
});

describe("searching", () => {
  test("shows the readable records, best first, with the matching line", async () => {
    fixture.put("notes/a", note("one apple\nand a pear"));
    fixture.put("notes/b", note("something", "class: note\ntitle: Apples"));
    fixture.put("plans/c", note("apple", "class: plan"));
    fixture.specs = ["records.read{classes=[note]}"];
    const { said, value } = await fixture.call("records_search", { query: "appl" });
    expect(said).toBe("done");
    expect(value).toMatchObject({ total: 2, more: false });
    expect(value["records"]).toMatchObject([
      { id: "notes/b", title: "Apples" },
      { id: "notes/a", line: "one apple" },
    ]);
    expect((await fixture.call("records_search", { query: "appl", count: 1 })).value).toMatchObject({ more: true });
    expect((await fixture.call("records_search", { query: "appl", class: "plan" })).value).toMatchObject({ total: 0 });
  });

  test("requests exactly the records that it shows", async () => {
    fixture.put("notes/a", note("apple"));
    fixture.put("plans/c", note("apple", "class: plan"));
    fixture.specs = ["records.read{classes=[note]}"];
    expect(await asks("records_search", { query: "apple" })).toEqual(["records.read id=notes/a class=note"]);
    expect(await asks("records_search", { query: "nothing" })).toEqual([]);
  });

  test("a record that changed its class between the decision and the execution is not shown", async () => {
    fixture.put("notes/a", note("apple"));
    fixture.specs = ["records.read{classes=[note,plan]}"];
    fixture.meanwhile = () => fixture.put("notes/a", note("apple, and more", "class: plan"));
    expect(await fixture.call("records_search", { query: "apple" })).toMatchObject({
      said: "not_available",
      value: {},
    });
  });

  test("finds what was just written, and not what was deleted", async () => {
    fixture.specs = ALL;
    await fixture.call("records_create", { id: "notes/new", class: "note", body: "freshly" });
    expect((await fixture.call("records_search", { query: "freshly" })).value).toMatchObject({ total: 1 });
    await fixture.call("records_delete", { id: "notes/new", version: await versionOf("notes/new") });
    expect((await fixture.call("records_search", { query: "freshly" })).value).toMatchObject({ total: 0 });
  });
});

describe("reading", () => {
  test("continues where it ended, and never in the middle of a character", async () => {
    fixture.put("notes/a", note("ab😀cd"));
    fixture.specs = ["records.read"];
    const pieces: string[] = [];
    let offset = 0;
    for (let turn = 0; turn < 10; turn++) {
      const { value } = await fixture.call("records_read", { id: "notes/a", offset, characters: 1 });
      pieces.push(String(value["body"]));
      if (value["next"] === undefined) break;
      offset = Number(value["next"]);
    }
    expect(pieces).toEqual(["a", "b", "😀", "c", "d"]);
  });

  test("shows links only to readable records", async () => {
    fixture.put("notes/a", note("[[notes/b]] and [[plans/c]] and [[none]]"));
    fixture.put("notes/b", note("back to [[notes/a]]"));
    fixture.put("plans/c", note("also [[notes/a]]", "class: plan"));
    fixture.specs = ["records.read{classes=[note]}"];
    expect((await fixture.call("records_links", { id: "notes/a" })).value).toEqual({
      id: "notes/a",
      links: [
        { target: "notes/b", to: "notes/b" },
        { target: "plans/c", to: null },
        { target: "none", to: null },
      ],
      backlinks: ["notes/b"],
      more: false,
    });
  });

  test("an invalid record is told apart from a missing one", async () => {
    fixture.put("broken", "---\nclass: [\n---\nx");
    fixture.specs = ["records.read"];
    expect((await fixture.call("records_read", { id: "broken" })).message).toContain("not a valid record");
    expect((await fixture.call("records_read", { id: "none" })).message).toContain("no record");
  });
});

describe("writing", () => {
  const HAND = "---\n# why\nclass: note # kept\ntitle: Old\ntags:\n  - a\n  - b\nown: { x: 1 }\n---\nbody\n";

  test.each<readonly [JsonObject, string]>([
    [{ title: 'New "one": x' }, HAND.replace("title: Old", 'title: "New \\"one\\": x"')],
    [{ tags: ["c"] }, HAND.replace("tags:\n  - a\n  - b", 'tags: ["c"]')],
    [{ body: "" }, HAND.replace("body\n", "\n")],
    [{ body: "---\nclass: agent\n---\n" }, HAND.replace("body\n", "\n---\nclass: agent\n---\n")],
    [{ class: "plan" }, HAND.replace("class: note", 'class: "plan"')],
  ])("changes %j and nothing else", async (parts, after) => {
    fixture.put("notes/a", HAND);
    fixture.specs = ALL;
    const version = await versionOf("notes/a");
    const { said, value } = await fixture.call("records_update", { id: "notes/a", version, ...parts });
    expect([said, fixture.text("notes/a")]).toEqual(["done", after]);
    expect(value["version"]).toBe(await versionOf("notes/a"));
  });

  test.each(["{ class: note, title: Old }", "class: note\ntitle: |\n  Old\n  one", "class: note\ntitle:"])(
    "a front matter written as %j is changed correctly or not at all",
    async (head) => {
      fixture.put("notes/a", note("body", head));
      fixture.specs = ALL;
      const version = await versionOf("notes/a");
      const { said } = await fixture.call("records_update", { id: "notes/a", version, title: "New", tags: ["t"] });
      const after = fixture.text("notes/a");
      if (said !== "done") expect(after).toBe(note("body", head));
      else
        expect((await fixture.call("records_read", { id: "notes/a" })).value).toMatchObject({
          title: "New",
          class: "note",
          tags: ["t"],
          body: "body",
        });
    },
  );

  test("no change is lost: of two that read the same version one is written", async () => {
    fixture.put("notes/a", note("zero"));
    fixture.specs = ALL;
    const version = await versionOf("notes/a");
    const both = await Promise.all(
      ["one", "two"].map((body) => fixture.call("records_update", { id: "notes/a", version, body })),
    );
    expect(both.map(({ said }) => said).sort()).toEqual(["done", "version_conflict"]);
    const written = both.findIndex(({ said }) => said === "done");
    expect(fixture.text("notes/a")).toBe(note(["one", "two"][written] as string));
    expect((await fixture.call("records_delete", { id: "notes/a", version })).said).toBe("version_conflict");
    expect(fixture.text("notes/a")).not.toBe("");
  });

  test("a person's edit between the decision and the execution is kept", async () => {
    fixture.put("notes/a", note("zero"));
    fixture.specs = ALL;
    const version = await versionOf("notes/a");
    fixture.meanwhile = () => fixture.put("notes/a", note("by hand"));
    expect((await fixture.call("records_update", { id: "notes/a", version, body: "x" })).said).toBe("version_conflict");
    fixture.meanwhile = () => undefined;
    const now = await versionOf("notes/a");
    fixture.meanwhile = () => fixture.put("notes/a", note("by hand", "class: plan"));
    expect((await fixture.call("records_delete", { id: "notes/a", version: now })).said).toBe("not_available");
    expect(fixture.text("notes/a")).toBe(note("by hand", "class: plan"));
  });

  test("a new record is never written over another, wherever that is stored", async () => {
    fixture.put("notes/a", note("zero", "id: other/name\nclass: note"));
    fixture.specs = ALL;
    for (const id of ["notes/a", "other/name"])
      expect((await fixture.call("records_create", { id, class: "note", body: "x" })).said).toBe("not_available");
    expect(fixture.text("notes/a")).toContain("zero");
    const many = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        fixture.call("records_create", { id: "n", class: "note", body: String(at) }),
      ),
    );
    expect(many.filter(({ said }) => said === "done")).toHaveLength(1);
  });

  test("no other file is left beside the written one", async () => {
    fixture.specs = ALL;
    await fixture.call("records_create", { id: "notes/a", class: "note" });
    await fixture.call("records_update", { id: "notes/a", version: await versionOf("notes/a"), body: "x" });
    expect(readdirSync(dirname(fixture.path("notes/a")))).toEqual(["a.md"]);
  });
});

describe("no way around", () => {
  const agents = (): string => join(fixture.workspace, ".ambit", "agents");
  const agent = "---\ncapabilities: []\n---\nsecret words\n";
  beforeEach(() => {
    mkdirSync(agents());
    writeFileSync(join(agents(), "scout.md"), agent);
    fixture.specs = ALL;
  });

  test("through a link to a folder", async () => {
    symlinkSync("../agents", join(fixture.workspace, ".ambit", "records", "link"));
    const version = "v";
    for (const [tool, input] of [
      ["records_read", { id: "link/scout" }],
      ["records_delete", { id: "link/scout", version }],
      ["records_update", { id: "link/scout", version, body: "x" }],
      ["records_create", { id: "link/new", class: "note" }],
    ] as const)
      expect((await fixture.call(tool, input)).said).toBe("not_available");
    expect((await fixture.call("records_search", { query: "secret" })).value).toMatchObject({ total: 0 });
    expect(readdirSync(agents())).toEqual(["scout.md"]);
    expect(readFileSync(join(agents(), "scout.md"), "utf8")).toBe(agent);
  });

  test("through a link to a file, also one made between the decision and the execution", async () => {
    symlinkSync("../agents/scout.md", fixture.path("linked"));
    expect((await fixture.call("records_read", { id: "linked" })).said).toBe("not_available");
    fixture.put("mine", note("x"));
    const version = await versionOf("mine");
    fixture.meanwhile = () => {
      rmSync(fixture.path("mine"));
      symlinkSync("../agents/scout.md", fixture.path("mine"));
    };
    expect((await fixture.call("records_update", { id: "mine", version, body: "y" })).said).toBe("not_available");
    expect(readFileSync(join(agents(), "scout.md"), "utf8")).toBe(agent);
  });

  test("through a hard link; the other name keeps its content", async () => {
    linkSync(join(agents(), "scout.md"), fixture.path("second"));
    const version = await versionOf("second");
    await fixture.call("records_update", { id: "second", version, body: "y" });
    expect(readFileSync(join(agents(), "scout.md"), "utf8")).toBe(agent);
  });

  test("when the whole folder is a link", async () => {
    const folder = join(fixture.workspace, ".ambit", "records");
    rmSync(folder, { recursive: true });
    symlinkSync("agents", folder);
    expect((await fixture.call("records_read", { id: "scout" })).said).toBe("not_available");
    expect((await fixture.call("records_create", { id: "new", class: "note" })).said).toBe("not_available");
    expect(readdirSync(agents())).toEqual(["scout.md"]);
  });

  test("an agent record among the records is not a record", async () => {
    fixture.put("hidden", note("x", "class: Agent"));
    expect((await fixture.call("records_read", { id: "hidden" })).said).toBe("not_available");
    expect((await fixture.call("records_delete", { id: "hidden", version: "v" })).said).toBe("not_available");
    expect(fixture.text("hidden")).toContain("Agent");
  });
});

describe("labels", () => {
  test("what a clean session wrote is clean until another process writes", async () => {
    fixture.specs = ALL;
    const session = fixture.session();
    await fixture.call("records_create", { id: "notes/a", class: "note", body: "mine" }, session);
    expect((await fixture.call("records_read", { id: "notes/a" }, session)).isUntrusted).toBe(false);
    expect((await fixture.call("records_search", { query: "mine" }, session)).isUntrusted).toBe(false);
    fixture.put("notes/a", note("mine, by hand"));
    expect((await fixture.call("records_search", { query: "mine" })).isUntrusted).toBe(true);
    expect((await fixture.call("records_read", { id: "notes/a" })).isUntrusted).toBe(true);
  });

  test("what a tainted session wrote is not clean", async () => {
    fixture.specs = ALL;
    const session = fixture.session();
    session.taint("test");
    await fixture.call("records_create", { id: "notes/a", class: "note", body: "theirs" }, session);
    expect((await fixture.call("records_read", { id: "notes/a" })).isUntrusted).toBe(true);
  });

  test("a clean session does not make a text clean by changing its title", async () => {
    fixture.specs = ALL;
    fixture.put("notes/a", note("by a person"));
    const version = await versionOf("notes/a");
    expect((await fixture.call("records_update", { id: "notes/a", version, title: "New" })).said).toBe("done");
    expect((await fixture.call("records_read", { id: "notes/a" })).isUntrusted).toBe(true);
  });
});

test("requests are answered while a large folder is being scanned", async () => {
  fixture.specs = ALL;
  const many = 3_000;
  mkdirSync(dirname(fixture.path("many/0")), { recursive: true });
  for (let at = 0; at < many; at++) writeFileSync(fixture.path(`many/${at}`), note("one"));
  const turn = (): Promise<void> => new Promise((next) => setImmediate(next));
  // Old enough not to be read again: scanning the folder is the only work.
  await pause(200, "files as recent as their last reading are read again");
  expect((await fixture.call("records_search", { query: "one", count: 1 })).said).toBe("done");
  const order: string[] = [];
  const searching = fixture.requests("records_search", { query: "one", count: 1 }).then(() => order.push("searched"));
  for (let at = 0; at < 10; at++) await turn();
  order.push("another");
  await searching;
  expect(order).toEqual(["another", "searched"]);
}, 60_000);
