// Records and skills as a user meets them: the built program, real files, and thousands of them.
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeFiles } from "../house/files.ts";
import { sizeFor } from "../house/long.ts";
import { pauseThread } from "../house/pause.ts";
import { removeState } from "../house/remove-state.ts";
import { type Ran, root } from "./ambit.ts";

const makePipe = "mkfifo";
let base = "";
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "ambit-e2e-records-"));
});
afterAll(() => removeState(base));

/** With its own state and configuration, so that the user's real ones are not touched. */
function ambit(cwd: string, ...words: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "bin", "ambit"), ...words], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1", XDG_STATE_HOME: join(base, "state"), XDG_CONFIG_HOME: join(base, "config") },
    timeout: 120_000,
    maxBuffer: 256 * 1024 * 1024,
  });
  return { status, out: stdout, err: stderr };
}

function workspace(name: string, files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = join(base, name);
  mkdirSync(join(folder, ".ambit", "records"), { recursive: true });
  writeFiles(folder, files);
  return folder;
}

/** Waits until a change to these files would show in their modification times. */
function settle(): void {
  pauseThread(200, "files as recent as their last reading are read again");
}

const RECORDS = ".ambit/records";

describe("thousands of records", () => {
  const count = sizeFor(5_000, 10_000);
  let folder = "";
  const path = (number: number): string => `${RECORDS}/n${number % 100}/r${number}.md`;
  const text = (number: number): string =>
    [
      "---",
      `class: ${number % 2 === 0 ? "note" : "task"}`,
      `title: Record ${number}`,
      `tags: [t${number % 10}]`,
      "---",
      `Body with word${number} and common. Next is [[n${(number + 1) % 100}/r${number + 1}]].`,
    ].join("\n");
  beforeAll(() => {
    folder = workspace("many", {});
    for (let number = 0; number < 100; number++) mkdirSync(join(folder, RECORDS, `n${number}`));
    for (let number = 0; number < count; number++) writeFileSync(join(folder, path(number)), text(number));
    settle();
  });
  const files = (): unknown => JSON.parse(ambit(folder, "records", "list", "--json").out).files;

  test("are read once, then only changed ones, and all of them without the cache", () => {
    expect(files()).toEqual({ files: count, read: count, kept: 0 });
    expect(files()).toEqual({ files: count, read: 0, kept: count });
    writeFileSync(join(folder, path(7)), text(7).replace("Record 7", "Changed"));
    settle();
    expect(files()).toEqual({ files: count, read: 1, kept: count - 1 });
    expect(JSON.parse(ambit(folder, "records", "search", "changed", "--json").out).records).toMatchObject([
      { id: "n7/r7" },
    ]);
    const cache = join(base, "state", "ambit", "records");
    for (const name of readdirSync(cache))
      truncateSync(join(cache, name), Math.floor(statSync(join(cache, name)).size / 2));
    expect(files()).toEqual({ files: count, read: count, kept: 0 });
    expect(files()).toEqual({ files: count, read: 0, kept: count });
  });

  test("are searched by words, prefixes and classes", () => {
    const found = (...words: readonly string[]): { readonly total: number; readonly ids: readonly string[] } => {
      const { total, records } = JSON.parse(ambit(folder, "records", "search", ...words, "--json").out);
      return { total, ids: records.map(({ id }: { id: string }) => id) };
    };
    expect(found("word4242")).toEqual({ total: 1, ids: ["n42/r4242"] });
    expect(found("WORD424").total).toBe(11);
    expect(found("common", "t3").total).toBe(count / 10);
    expect(found("common", "--class", "task").total).toBe(count / 2);
    expect(found("common", "nowhere")).toEqual({ total: 0, ids: [] });
  });

  test("are shown by the matching line, marked, in the same order as before", () => {
    const asked = ["records", "search", "WORD424", "common"];
    const { records } = JSON.parse(ambit(folder, ...asked, "--json").out);
    expect(records[0]).toMatchObject({
      id: "n24/r424",
      snippet: {
        line: 6,
        column: 11,
        text: "Body with word424 and common. Next is [[n25/r425]].",
        marks: [
          { start: 10, end: 17 },
          { start: 22, end: 28 },
        ],
        cutBefore: false,
        cutAfter: false,
      },
    });
    const lines = ambit(folder, ...asked)
      .out.trimEnd()
      .split("\n");
    expect(lines.filter((_, at) => at % 2 === 0).map((line) => line.split("  ")[0])).toEqual(
      records.map(({ id }: { id: string }) => id),
    );
    expect(lines[1]).toBe("  6: Body with «word424» and «common». Next is [[n25/r425]].");
  });

  test("know which records link to them", () => {
    const { links, backlinks } = JSON.parse(ambit(folder, "records", "show", "n5/r205", "--json").out);
    expect(links).toEqual([{ kind: "wiki", target: "n6/r206", to: "n6/r206" }]);
    expect(backlinks).toEqual(["n4/r204"]);
  });

  test("do not affect `can`", () => {
    writeFileSync(join(folder, "agent.md"), "---\ncapabilities: [records.read]\n---\n");
    expect(ambit(folder, "can", "agent.md", "records.read", "id=a").status).toBe(0);
  });
});

describe("each hostile file gives one clear diagnostic, and the others are listed", () => {
  const rows: readonly (readonly [string, (path: string) => void, RegExp])[] = [
    [
      "huge",
      (path) => {
        writeFileSync(path, "");
        truncateSync(path, 2_000_000_000);
      },
      /too_large[\s\S]*bad\.md/,
    ],
    [
      "too long for a record",
      (path) => writeFileSync(path, `---\n---\n${"x".repeat(1_100_000)}`),
      /too_large[\s\S]*bad\.md/,
    ],
    [
      "binary",
      (path) => writeFileSync(path, Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0xff, 0, 1])),
      /syntax[\s\S]*UTF-8[\s\S]*bad\.md/,
    ],
    [
      "half-written",
      (path) => writeFileSync(path, "---\nclass: note\ntitle: h"),
      /syntax[\s\S]*no closing line[\s\S]*bad\.md/,
    ],
    ["without frontmatter", (path) => writeFileSync(path, "# Hello\n"), /syntax[\s\S]*bad\.md:1:1[\s\S]*class: note/],
    ["symlinked out", (path) => symlinkSync("/etc/passwd", path), /escapes_root[\s\S]*bad\.md/],
    ["a link to itself", (path) => symlinkSync("bad.md", path), /escapes_root[\s\S]*bad\.md/],
    ["a pipe", (path) => spawnSync(makePipe, [path]), /not_understood[\s\S]*bad\.md/],
    [
      "an agent",
      (path) => writeFileSync(path, "---\nclass: agent\ncapabilities: [records.read]\n---\n"),
      /bad_value[\s\S]*bad\.md:2:8[\s\S]*\.ambit\/agents/,
    ],
    [
      "a second record with its id",
      (path) => writeFileSync(path, "---\nid: good\n---\n"),
      /bad_value[\s\S]*good[\s\S]*bad\.md/,
    ],
    [
      "with escape codes in its title",
      (path) => writeFileSync(path, '---\nclass: ["\\e[31m"]\n---\n'),
      /wrong_type[\s\S]*bad\.md/,
    ],
  ];
  for (const [title, make, pattern] of rows) {
    test(title, () => {
      const folder = workspace(`hostile ${title}`, { [`${RECORDS}/good.md`]: "---\nclass: note\n---\n" });
      make(join(folder, RECORDS, "bad.md"));
      const ran = ambit(folder, "records", "list");
      expect(ran.err).toMatch(pattern);
      expect(ran.err.match(/^(error|warning)\[/gm)).toHaveLength(1);
      expect(ran.out).toMatch(/^good {2}note/m);
      expect(ran.status).toBe(1);
      expect(ran.out + ran.err).not.toContain("root:x:");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none may reach the terminal
      expect(ran.out + ran.err).not.toMatch(/\u001b/);
      const { problems, records } = JSON.parse(ambit(folder, "records", "list", "--json").out);
      expect([problems.length, records.length >= 1]).toEqual([1, true]);
    });
  }

  test("a line full of escape codes is found and escaped", () => {
    const folder = workspace("escapes", {
      [`${RECORDS}/a.md`]: "---\nclass: note\n---\n\nred \u001b[31mword\u001b]0;x\u0007\u202e here\n",
    });
    const { out, status } = ambit(folder, "records", "search", "here");
    expect(out.split("\n")[1]).toBe("  5: red \\u{1b}[31mword\\u{1b}]0;x\\u{7}\\u{202e} «here»");
    expect(status).toBe(0);
  });

  test("a cycle of links between records", () => {
    const folder = workspace("ring", {
      [`${RECORDS}/a.md`]: "---\nclass: note\n---\n[[b]] [[a]]",
      [`${RECORDS}/b.md`]: "---\nclass: note\n---\n[a](a.md)",
    });
    symlinkSync(".", join(folder, RECORDS, "loop"));
    expect(ambit(folder, "records", "list")).toMatchObject({ status: 0, err: "" });
    expect(JSON.parse(ambit(folder, "records", "show", "a", "--json").out)).toMatchObject({ backlinks: ["b"] });
  });
});

describe("new", () => {
  test("writes once, and never over an existing file", () => {
    const folder = workspace("new", {});
    const first = ambit(
      folder,
      "records",
      "new",
      "notes/first",
      "--class",
      "note",
      "--title",
      'A "title": with #signs',
    );
    expect(first).toMatchObject({ status: 0, err: "" });
    const file = join(folder, RECORDS, "notes", "first.md");
    const written = readFileSync(file, "utf8");
    expect(ambit(folder, "records", "new", "notes/first", "--class", "task")).toMatchObject({ status: 1 });
    expect(readFileSync(file, "utf8")).toBe(written);
    const shown = JSON.parse(ambit(folder, "records", "show", "notes/first", "--json").out);
    expect(shown).toMatchObject({ class: "note", title: 'A "title": with #signs' });
  });

  const folders = [
    "../out",
    "/etc/x",
    "a/../../x",
    "a/.hidden",
    ".x",
    "",
    "a//b",
    "a\\b",
    "a\0b",
    "x".repeat(2000),
    "a*",
  ];
  for (const id of folders.filter((one) => !one.includes("\0"))) {
    test(`refuses ${JSON.stringify(id.slice(0, 20))}`, () => {
      const folder = workspace(`refused-${folders.indexOf(id)}`, {});
      expect(ambit(folder, "records", "new", id, "--class", "note").status).toBe(2);
      expect(readdirSync(join(folder, RECORDS))).toEqual([]);
    });
  }

  test("creates no agent, and nothing without a class or a workspace", () => {
    const folder = workspace("no-agent", {});
    expect(ambit(folder, "records", "new", "x", "--class", "Agent")).toMatchObject({
      status: 2,
      err: expect.stringContaining("agents new"),
    });
    expect(ambit(folder, "records", "new", "x").status).toBe(2);
    mkdirSync(join(base, "bare"));
    expect(ambit(join(base, "bare"), "records", "list")).toMatchObject({
      status: 1,
      err: expect.stringContaining("ambit init"),
    });
  });

  test("eight concurrent ones create one file", async () => {
    const folder = workspace("race", {});
    const { spawn } = await import("node:child_process");
    const statuses = await Promise.all(
      Array.from(
        { length: 8 },
        (_, number) =>
          new Promise<number | null>((resolve) => {
            const env = { ...process.env, XDG_STATE_HOME: join(base, "state"), XDG_CONFIG_HOME: join(base, "config") };
            const words = ["records", "new", "one", "--class", "note", "--title", `number ${number}`];
            spawn(process.execPath, [join(root, "bin", "ambit"), ...words], { cwd: folder, env, stdio: "ignore" }).on(
              "exit",
              resolve,
            );
          }),
      ),
    );
    expect(statuses.filter((status) => status === 0)).toHaveLength(1);
    expect(readdirSync(join(folder, RECORDS))).toEqual(["one.md"]);
  });
});

describe("skills", () => {
  const skill = (name: string, tools: string): string =>
    `---\nname: ${name}\ndescription: About ${name}.\nallowed-tools: ${tools}\n---\nDo ${name}.\n`;
  let folder = "";
  let scout = "";
  beforeAll(() => {
    folder = workspace("skills", {
      ".ambit/skills/log/SKILL.md": skill("log", "Bash(git log:*), Read"),
      ".ambit/skills/push/SKILL.md": skill("push", "Bash(git push:*)"),
      ".ambit/skills/odd/SKILL.md": skill("odd", "Raed"),
      ".ambit/skills/broken/SKILL.md": "---\nname: Broken\n---\n",
      ".ambit/skills/mine/SKILL.md": skill("mine", "Read"),
      ".ambit/records/how/release.md":
        "---\nclass: skill\ndescription: How we release.\nallowed-tools: WebFetch(domain:x.test)\n---\nSteps.\n",
    });
    // Not the project's: its agent files count only once it is trusted.
    scout = join(base, "scout.md");
    writeFileSync(
      scout,
      "---\nid: scout\nsandbox: .\ncapabilities:\n  - proc.exec: { patterns: [git log **] }\n  - fs.read\n---\n",
    );
    mkdirSync(join(base, "config", "ambit", "skills", "mine"), { recursive: true });
    writeFileSync(
      join(base, "config", "ambit", "skills", "mine", "SKILL.md"),
      skill("mine", "Read").replace("Do mine", "The user's own"),
    );
  });

  test("all of them, with their errors", () => {
    const ran = ambit(folder, "skills", "list");
    expect(ran.out).toMatch(
      /^log {2}project[\s\S]*^mine {2}user[\s\S]*^odd {2}project[\s\S]*^push {2}project[\s\S]*^release {2}record/m,
    );
    expect(ran.err).toMatch(/bad_value[\s\S]*broken\/SKILL\.md:2:7/);
    expect(ran.status).toBe(1);
    expect(ambit(folder, "skills", "show", "mine").out).toContain("The user's own");
  });

  test("an agent's, silently", () => {
    const ran = ambit(folder, "skills", "list", "--agent", scout);
    expect(ran.out.split("\n").map((line) => line.split("  ")[0])).toEqual(["log", "mine", "odd", ""]);
    expect([ran.err, ran.status]).toEqual(["", 0]);
  });

  test("check says what is missing and the command that adds it", () => {
    expect(ambit(folder, "skills", "check", "log", "--agent", scout)).toMatchObject({ status: 0, err: "" });
    const ran = ambit(folder, "skills", "check", "push", "--agent", scout);
    expect(ran.status).toBe(10);
    expect(ran.out).toMatch(/ambit agents grant scout 'proc\.exec\{in=.*,patterns=\["git push \*\*"\],root=ro\}'/);
    const checked = JSON.parse(ambit(folder, "skills", "check", "odd", "--agent", scout, "--json").out);
    expect(checked).toEqual({
      skill: "odd",
      agent: "scout",
      satisfied: true,
      held: [],
      missing: [],
      unknown: ["Raed"],
      unreadable: [],
    });
    expect(ambit(folder, "skills", "check", "logs", "--agent", scout)).toMatchObject({
      status: 1,
      err: expect.stringContaining("did you mean log?"),
    });
    expect(ambit(folder, "skills", "check", "log", "--agent", "missing").status).toBe(1);
    expect(ambit(folder, "skills", "check", "log").status).toBe(2);
  });
});
