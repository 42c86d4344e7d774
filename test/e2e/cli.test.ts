// The command line as a new user meets it: good input, bad input, and what each leaves behind.
import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { ambit, inFolder, root } from "./ambit.ts";

const examples = join(root, "examples", "workspace");

beforeAll(() => {
  expect(ambit(examples, "trust", "--yes").status).toBe(0);
});

describe("can answers with an exit status and a reason", () => {
  const rows: readonly (readonly [number, RegExp, readonly string[]])[] = [
    [0, /allow.*api\.github\.com[\s\S]*scout\.md:9/, ["scout", "net.get", "https://api.github.com/repos"]],
    [0, /allow/, ["scout", "net.get", "https://github.com/"]],
    [10, /scope_violation/, ["scout", "net.get", "https://github.co/"]],
    [11, /approval/, ["scout", "net.post", "https://api.github.com/repos"]],
    [10, /capability_absent/, ["scout", "net.put", "https://api.github.com/repos"]],
    [0, /allow/, ["scout", "net.get", "https://api.weather.gov:8443/x"]],
    [0, /allow/, ["scout", "fs.read", "a b/ü.txt"]],
    [10, /scope_violation/, ["scout", "fs.read", "../workspaces/a.txt"]],
    [10, /scope_violation/, ["scout", "fs.read", "../../.ssh/id"]],
    [0, /allow/, ["scout", "fs.write", "notes.md"]],
    [10, /scope_violation/, ["scout", "fs.write", ".ambit/agents/scout.md"]],
    [0, /allow/, ["scout", "memory.write", "notes/today"]],
    [10, /scope_violation/, ["scout", "memory.write", "notes/a/b"]],
    [0, /allow/, ["scout", "secret.use", "github-main"]],
    [10, /scope_violation/, ["scout", "secret.use", "gitlab-main"]],
    [0, /allow/, ["scout", "records.update", "id=inbox/1", "class=inbox"]],
    [10, /scope_violation/, ["scout", "records.update", "id=inbox/1", "class=durable"]],
    [11, /presence/, ["scout", "tool.invoke", "send_money", '{"amount": 100}']],
    [10, /scope_violation/, ["scout", "tool.invoke", "send_money", '{"amount": 101}']],
    [10, /scope_violation/, ["scout", "tool.invoke", "send_money", '{"amount": "5"}']],
    [
      10,
      /exceeds_grantor_authority[\s\S]*the receiver could do this/,
      ["scout", "agent.grant", "aide", "net.get{hosts=[*.com]}"],
    ],
    [10, /self_modification/, ["scout", "agent.grant", "scout", "records.read"]],
  ];
  for (const [status, pattern, words] of rows) {
    test(words.join(" "), () => {
      const ran = ambit(examples, "can", ...words);
      expect(ran.out + ran.err).toMatch(pattern);
      expect(ran.status).toBe(status);
    });
  }
});

test("everything after -- belongs to the request", () => {
  expect(ambit(examples, "can", "scout", "proc.exec", "--", "git", "log", "--json").status).toBe(0);
  expect(ambit(examples, "can", "scout", "proc.exec", "--", "git", "-C", "../x", "push").status).toBe(10);
});

test("--json is one object with the documented fields", () => {
  const allowed = JSON.parse(ambit(examples, "can", "scout", "net.get", "https://api.github.com/x", "--json").out);
  expect(allowed).toMatchObject({
    outcome: "allow",
    code: null,
    request: "net.get https://api.github.com/",
    nearest: null,
    suggest: null,
  });
  expect(allowed.by).toMatchObject([
    { link: "scout", grant: "net.get{hosts=[*.github.com,api.weather.gov]}", line: 9 },
  ]);
  const denied = JSON.parse(ambit(examples, "can", "scout", "--json", "fs.read", "/etc/passwd").out);
  expect(denied).toMatchObject({ outcome: "deny", code: "scope_violation", by: [], nearest: { axis: "path" } });
  // The agent's root is the ceiling of its grants: one that names a file outside would grant nothing.
  expect(denied.suggest).toBe(null);
  expect(denied.outside).toBe(examples);
});

describe("bad input ends in a diagnostic with a position and a fix", () => {
  const rows: readonly (readonly [string, string, number, RegExp])[] = [
    [
      "a verb that does not exist",
      "---\ncapabilities:\n  - records.reed\n---\n",
      10,
      /unknown_verb[\s\S]*a\.md:3:5[\s\S]*\^\^\^\^[\s\S]*records\.read/,
    ],
    [
      "a key that does not exist",
      "---\ncapabilities:\n  - fs.read: { pathz: [x] }\n---\n",
      10,
      /unknown_key[\s\S]*a\.md:3:[\s\S]*paths/,
    ],
    [
      "a star without quotes",
      "---\ncapabilities:\n  - net.get: { hosts: [*.github.com] }\n---\n",
      3,
      /syntax[\s\S]*a\.md:3:[\s\S]*"\*\.github\.com"/,
    ],
    ["no frontmatter", "# hello\n", 3, /syntax[\s\S]*a\.md:1:1[\s\S]*---/],
    [
      "a path that leaves its root",
      "---\ncapabilities:\n  - fs.read: { in: /srv, paths: [../etc] }\n---\n",
      10,
      /escapes_root[\s\S]*a\.md:3:/,
    ],
    [
      "a failing test",
      "---\ncapabilities: [records.read]\ntests: [{ deny: records.read id=a }]\n---\n",
      3,
      /failed_test[\s\S]*a\.md:3:/,
    ],
    ["a misspelt capabilities", "---\ncapabilites: []\n---\n", 10, /unknown_key[\s\S]*capabilities/],
  ];
  for (const [title, text, status, pattern] of rows) {
    test(title, () => {
      inFolder({ "a.md": text }, (folder) => {
        const ran = ambit(folder, "can", "a.md", "records.read", "id=a");
        expect(ran.err).toMatch(pattern);
        expect(ran.status).toBe(status);
      });
    });
  }

  const usage: readonly (readonly [number, RegExp, readonly string[]])[] = [
    [2, /not a verb[\s\S]*net\.get/, ["can", "scout", "net.gett", "https://x.example/"]],
    [2, /http/, ["can", "scout", "net.get", "ftp://x.example/"]],
    [2, /address/, ["can", "scout", "net.get", "http://0x7f.1/"]],
    [1, /no agent and no file called "missing"[\s\S]*coder/, ["can", "missing", "net.get", "https://x.example/"]],
    [1, /no agent/, ["can", "../../../etc/passwd", "fs.read", "/x"]],
    [2, /missing required argument/, ["can", "scout"]],
    [2, /unknown command/, ["cann"]],
    [2, /did you mean scope_violation/, ["explain", "scope_violatoin"]],
    [2, /written twice/, ["can", "scout", "tool.invoke", "send_money", '{"amount": 1, "amount": 2}']],
  ];
  for (const [status, pattern, words] of usage) {
    test(`ambit ${words.join(" ")}`, () => {
      const ran = ambit(examples, ...words);
      expect(ran.err).toMatch(pattern);
      expect(ran.status).toBe(status);
    });
  }
});

test("a file that is not text, not a regular file, or too large is refused without hanging", () => {
  inFolder(
    {
      "bytes.md": new Uint8Array([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe]),
      "huge.md": "x".repeat(3_000_000),
      "sub/x.md": "",
    },
    (folder) => {
      for (const name of ["bytes.md", "huge.md", "sub/x.md", "sub"]) {
        const ran = ambit(folder, "can", name, "records.read", "id=a");
        expect([1, 3], name).toContain(ran.status);
        expect(ran.err.length, name).toBeGreaterThan(10);
      }
    },
  );
});

test("link cycles and dangling links end in an answer", () => {
  inFolder({ ".ambit/agents/a.md": "---\nid: a\ncapabilities: [records.read]\n---\n" }, (folder) => {
    for (const [name, target] of [
      ["up", ".."],
      ["back", ".."],
      ["loop.md", "loop.md"],
      ["gone.md", "nowhere"],
    ] as const) {
      symlinkSync(target, join(folder, ".ambit/agents", name));
    }
    const ran = ambit(folder, "test");
    expect(ran.out).toMatch(/a {2}has no tests/);
    expect(ambit(folder, "can", "loop", "records.read", "id=x").status).toBe(1);
  });
});

test("control characters in an agent's text or a request never reach the terminal", () => {
  const [control, reorder] = [27, 0x202e].map((code) => String.fromCharCode(code)) as [string, string];
  const text =
    '---\nid: "a\\e[31mred\\u202Eback"\ncapabilities: [records.read]\ntests: [{ allow: "records.read id=\\e[2J" }]\n---\n';
  inFolder({ "a.md": text }, (folder) => {
    for (const words of [
      ["can", "a.md", "records.read", "id=x"],
      ["can", "a.md", "fs.read", `/x${control}[2J`],
      ["test", "a.md"],
    ]) {
      const ran = ambit(folder, ...words);
      expect(ran.out + ran.err).not.toContain(control);
      expect(ran.out + ran.err).not.toContain(reorder);
      expect(ran.out + ran.err).toContain("\\u{1b}");
    }
  });
});

test("test runs every record's tests and counts them", () => {
  const ran = ambit(examples, "test");
  expect(ran.out).toMatch(/7 passed, 0 failed/);
  expect(ran.status).toBe(0);
  expect(JSON.parse(ambit(examples, "test", "--json").out)).toMatchObject({ passed: 7, failed: 0 });
  inFolder(
    { ".ambit/agents/a.md": "---\ncapabilities: [records.read]\ntests: [{ allow: records.delete id=x }]\n---\n" },
    (folder) => {
      // A fresh clone is not trusted, and its tests are run all the same.
      const failed = ambit(folder, "test");
      expect(failed.out).toMatch(/0 passed, 1 failed/);
      expect(failed.status).toBe(1);
    },
  );
});

test("explain has a page for every code and verb it names", () => {
  expect(ambit(examples, "explain", "address_refused").out).toMatch(/private/);
  expect(ambit(examples, "explain", "fs.write").out).toMatch(/high[\s\S]*in, paths/);
  for (const word of ["root", "live", "land", "triggers", "users"])
    expect(ambit(examples, "explain", word).out).toMatch(/ {2}word\n[\s\S]*example: ambit /);
  expect(JSON.parse(ambit(examples, "explain", "inert", "--json").out)).toMatchObject({
    name: "inert",
    kind: "diagnostic",
  });
});

test("help shows examples and exits with 0", () => {
  const help = ambit(examples, "can", "--help");
  expect(help.status).toBe(0);
  expect(help.out).toMatch(/Examples:/);
  expect(ambit(examples, "--version").out).toMatch(/^\d+\.\d+\.\d+/);
});

test("the tour succeeds: every verdict is the expected one", () => {
  const { status, stdout } = spawnSync(process.execPath, [join(root, "scripts", "start.mjs")], {
    encoding: "utf8",
    timeout: 120_000,
  });
  expect(stdout).toMatch(/(\d+) of \1 as expected/);
  expect(status).toBe(0);
});
