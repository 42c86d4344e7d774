// Programs read what `fs.read` covers and nothing else: by `ambit exec`, the shell and git tools, and tools of a project.
import { spawnSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Called, Caller, Session } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";

let fixture: Fixture;
let caller: Caller;

const RUN = ["proc.exec", "proc.eval"];
const READ_ONLY = "fs.write{paths=[]}";
const HOME = "sandbox: .\n";
const MARK = "the content that must stay hidden";

const READER = `
export default {
  name: "reader",
  description: "Reads files with a program.",
  capabilities: { fs_reach: { read: ["."] }, process: { allowedBinaries: ["cat"] } },
  input: { type: "object" },
  execute: async ({ file }, { process: programs }) => {
    const ran = await programs.run(["cat", file], { in: "." });
    return ran.ok ? { text: Buffer.from(ran.value.output).toString() } : ran;
  },
};
`;

function put(path: string, text: string): void {
  fixture.write(join("project", path), text);
}

beforeAll(async () => {
  fixture = await Fixture.make();
  put("pub/a.txt", "public\n");
  put("pub/deep/b.txt", "public and deep\n");
  put("priv/secret", `${MARK}\n`);
  put("mixed/seen/c.txt", "seen\n");
  put("mixed/unseen/secret", `${MARK}\n`);
  put("one.txt", "one\n");
  put("two.txt", `${MARK}\n`);
  put("single/secret", `${MARK}\n`);
  put(".ambit/records/people/ann.md", `---\nclass: contact\n---\n${MARK}\n`);
  put(".ambit/tools/reader.mjs", READER);
  symlinkSync("../priv/secret", join(fixture.project, "pub", "link"));
  symlinkSync("priv", join(fixture.project, "looks-public"));
  for (const words of [
    ["init", "-q"],
    ["add", "pub", "priv", ".ambit/records"],
    ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "first"],
  ])
    expect(spawnSync("git", words, { cwd: fixture.project }).status).toBe(0);
  const bounded = "fs.read{paths=[pub/**,mixed/seen/**,one.txt,single,looks-public/**]}";
  fixture.agent("bounded", [...RUN, bounded, READ_ONLY, "tool.invoke", "tool.invoke{tools=[reader]}"], HOME);
  fixture.agent("drafting", [...RUN, bounded, "fs.write", "fs.delete"], HOME);
  fixture.agent("whole", [...RUN, "fs.read", READ_ONLY, "tool.invoke", "tool.invoke{tools=[reader]}"], HOME);
  fixture.agent("starred", [...RUN, "fs.read{paths=[pub/**,'**/*.txt']}".replaceAll("'", ""), READ_ONLY], HOME);
  fixture.agent("counted-star", ["proc.exec{calls=2}", "fs.read{paths=[pub/**,**/*.txt]}", READ_ONLY], HOME);
  fixture.agent("twice", ["proc.exec{calls=2}", "fs.read{paths=[pub/**]}", READ_ONLY], HOME);
  fixture.agent("none", [...RUN, "fs.read{paths=[]}", READ_ONLY], HOME);
  fixture.agent("asks", [...RUN, "fs.read{ask}", READ_ONLY], HOME);
  fixture.agent("counted", [...RUN, "fs.read{calls=5}", READ_ONLY], HOME);
  fixture.agent("committer", [...RUN, "fs.read", "fs.write", "fs.delete"], HOME);
  fixture.agent("running", [`proc.exec{in=${fixture.project}}`]);
  fixture.agent("librarian", [...RUN, "fs.read", READ_ONLY, "records.read"], HOME);
  fixture.write("project/.ambit/agents/policy.md", "---\nsandbox: .\npolicy: { code: allow, crm: deny }\n---\n");
  fixture.user("ann", [...RUN, "tool.invoke", `fs.read{in=${fixture.project},paths=[pub/**]}`].map(inProject));
  await fixture.begin();
  caller = fixture.caller();
}, 240_000);
afterAll(() => fixture?.remove());

function inProject(grant: string): string {
  return grant.startsWith("proc.") ? `${grant}{in=${fixture.project}}` : grant;
}

async function exec(agent: string, ...line: readonly string[]) {
  return fixture.ambit("exec", agent, "--", ...line);
}

/** What `cat` prints of each file, and whether it succeeded. */
const SEEN: readonly (readonly [agent: string, file: string, printed: string | null])[] = [
  ["bounded", "pub/a.txt", "public\n"],
  ["bounded", "pub/deep/b.txt", "public and deep\n"],
  ["bounded", "mixed/seen/c.txt", "seen\n"],
  ["bounded", "one.txt", "one\n"],
  ["bounded", "priv/secret", null],
  ["bounded", "./pub/../priv/secret", null],
  ["bounded", "mixed/unseen/secret", null],
  ["bounded", "two.txt", null],
  ["bounded", "pub/link", null],
  ["bounded", "looks-public/secret", null],
  ["bounded", "single/secret", null],
  ["bounded", ".git/HEAD", null],
  ["bounded", ".ambit/agents/whole.md", null],
  ["drafting", "pub/a.txt", "public\n"],
  ["drafting", "priv/secret", null],
  ["drafting", "mixed/unseen/secret", null],
  ["drafting", "pub/link", null],
  ["whole", "priv/secret", `${MARK}\n`],
  ["running", "priv/secret", `${MARK}\n`],
  ["none", "pub/a.txt", null],
  ["asks", "pub/a.txt", null],
  ["counted", "pub/a.txt", null],
  ["policy", "pub/a.txt", "public\n"],
  ["policy", ".ambit/records/people/ann.md", null],
  ["whole", ".ambit/records/people/ann.md", null],
  ["librarian", ".ambit/records/people/ann.md", expect.stringContaining(MARK)],
];

describe("a program of `ambit exec`", () => {
  test.each(SEEN)(
    "of %s reads %s",
    async (agent, file, printed) => {
      const { status, out } = await exec(agent, "cat", file);
      if (printed === null) {
        expect(out).not.toContain(MARK);
        expect([status, out]).toEqual([1, expect.stringMatching(/No such file/)]);
      } else expect([status, out]).toEqual([0, printed]);
    },
    60_000,
  );

  test("lists visible names alone, and runs beside them", async () => {
    const { out } = await exec("bounded", "find", ".", "-not", "-type", "d");
    expect(out.trimEnd().split("\n").sort()).toEqual(
      ["./looks-public", "./mixed/seen/c.txt", "./one.txt", "./pub/a.txt", "./pub/deep/b.txt", "./pub/link"].sort(),
    );
    expect((await exec("none", "ls", "-A")).out).toBe("");
  });

  test("does not run if a pattern cannot be enforced, and says what to write", async () => {
    const { status, out } = await exec("starred", "cat", "pub/a.txt");
    expect(status).toBe(125);
    expect(out).toMatch(/scope_violation/);
    expect(out).toMatch(/\*\*\/\*\.txt, which a sandbox cannot enforce for a program/);
    expect(out).toMatch(/use whole folders in `fs.read`/);
  });

  test.each([
    ["a pattern that cannot be enforced", "counted-star", [], /which a sandbox cannot enforce/],
    ["a hidden working folder", "twice", ["--in", "priv"], /does not cover the working folder/],
  ])("is denied for %s by the decision: `can`, answer and log agree, no charge", async (_, agent, place, why) => {
    const folder = join(fixture.project, ...place.slice(1));
    const can = await fixture.ambit("can", agent, "proc.exec", `in=${folder}`, "--", "cat", "pub/a.txt");
    expect([can.status, can.out]).toEqual([10, expect.stringMatching(why)]);
    expect(can.out).not.toMatch(/smallest grant/);
    for (let times = 0; times < 3; times++) {
      const ran = await fixture.ambit("exec", agent, ...place, "--json", "--", "cat", "pub/a.txt");
      expect(JSON.parse(ran.out)).toMatchObject({
        outcome: "refused",
        code: "scope_violation",
        message: expect.stringMatching(why),
      });
    }
    const entries = (await fixture.log({ agent })).filter(({ kind }) => kind === "decision");
    expect(entries.map(({ outcome, code }) => [outcome, code])).toContainEqual(["deny", "scope_violation"]);
    expect(entries.filter(({ outcome }) => outcome === "allow")).toEqual([]);
  });

  test("of a counted grant has its whole budget after such denials", async () => {
    for (const status of [0, 0, 125]) expect((await exec("twice", "cat", "pub/a.txt")).status).toBe(status);
  });

  test("does not start in a folder it may not read", async () => {
    const { status, out } = await fixture.ambit("exec", "bounded", "--in", "priv", "--", "cat", "secret");
    expect([status, out]).toEqual([125, expect.stringMatching(/`fs.read` does not cover the working folder/)]);
    const inside = await fixture.ambit(
      "exec",
      "bounded",
      "--in",
      "pub/deep",
      "--",
      "cat",
      "b.txt",
      "../../priv/secret",
    );
    expect(inside.out).toContain("public and deep");
    expect(inside.out).not.toContain(MARK);
  });

  test("reports what is visible", async () => {
    const { out } = await fixture.ambit("exec", "bounded", "--json", "--", "true");
    const { enforcement } = JSON.parse(out) as { enforcement: readonly object[] };
    expect(enforcement).toContainEqual({
      axis: "root",
      strength: "kernel",
      note: expect.stringMatching(/`fs.read` shows .*pub\/\*\*/),
    });
  });

  test("has new names hidden from the next command on, and does not run beside a name that is not text", async () => {
    put("new-secret", MARK);
    linkSync(join(fixture.project, "new-secret"), join(fixture.project, "newer-secret"));
    expect((await exec("bounded", "cat", "new-secret", "newer-secret")).out).not.toContain(MARK);
    const odd = Buffer.concat([Buffer.from(join(fixture.project, "odd-")), Buffer.from([0xff])]);
    writeFileSync(odd, MARK);
    const refused = await exec("bounded", "sh", "-c", "cat odd-*");
    expect([refused.status, refused.out]).toEqual([125, expect.stringMatching(/cannot be listed/)]);
    spawnSync("rm", ["-f", odd.toString("latin1")], { cwd: fixture.project });
    spawnSync("sh", ["-c", "rm -f odd-*"], { cwd: fixture.project });
  });
});

describe("a draft of a partly visible root", () => {
  test("writes what it sees, and changes nothing that is hidden", async () => {
    const ran = await exec("drafting", "sh", "-c", "echo more >> pub/a.txt; echo new > made.txt; cat priv/secret");
    expect(ran.out).not.toContain(MARK);
    expect(readFileSync(join(fixture.project, "pub", "a.txt"), "utf8")).toBe("public\nmore\n");
    expect(readFileSync(join(fixture.project, "made.txt"), "utf8")).toBe("new\n");
    writeFileSync(join(fixture.project, "pub", "a.txt"), "public\n");
  });

  test.each([
    ["a file of the same name", "mkdir -p priv && echo mine > priv/secret; echo mine > two.txt"],
    ["deleting the folders around", "rm -rf mixed single pub/none"],
    ["moving the folder away", "mv mixed moved; mkdir -p mixed/unseen; echo mine > mixed/unseen/secret"],
    ["a link in its place", "ln -sfn pub priv; ln -sf one.txt two.txt"],
  ])("by %s", async (_, line) => {
    const { out } = await exec("drafting", "sh", "-c", line);
    expect(out).not.toContain(MARK);
    for (const file of ["priv/secret", "mixed/unseen/secret", "two.txt", "single/secret"])
      expect([file, readFileSync(join(fixture.project, file), "utf8")]).toEqual([file, `${MARK}\n`]);
    mkdirSync(join(fixture.project, "mixed", "seen"), { recursive: true });
    put("mixed/seen/c.txt", "seen\n");
    expect(existsSync(join(fixture.project, "pub", "a.txt"))).toBe(true);
  });
});

test("a commit that deletes records the program did not see waits for approval", async () => {
  const line = "git -c user.name=a -c user.email=a@b.c commit -qam gone";
  const { out } = await exec("committer", "sh", "-c", line);
  expect(out).toMatch(/approval_required.*\.ambit\/records\/people\/ann\.md/);
  const { stdout } = spawnSync("git", ["log", "--format=%s"], { cwd: fixture.project, encoding: "utf8" });
  expect(stdout).toBe("first\n");
});

describe("every other way to run a program", () => {
  const textOf = ({ value }: Called): string => JSON.stringify(value);
  const open = async (agent: string, more: Parameters<Caller["open"]>[2] = {}): Promise<Session> =>
    expectValue(await caller.open(fixture.project, agent, more));

  test.each([
    ["the shell tool", "shell", { script: "cat pub/a.txt; cat priv/secret two.txt" }],
    ["a pipe of the shell tool", "shell", { script: "cat pub/a.txt priv/secret | cat" }],
    ["proc_exec", "proc_exec", { argv: ["cat", "pub/a.txt", "priv/secret"], in: ".", root: "ro" }],
    ["proc_eval", "proc_eval", { line: "cat pub/a.txt; cat priv/*", in: ".", root: "ro" }],
  ])("%s sees the same", async (_, tool, input) => {
    const [bounded, whole] = await Promise.all([open("bounded"), open("whole")]);
    const here = { ...input, ...("in" in input ? { in: fixture.project } : {}) };
    const told = textOf(await bounded.do(tool, here));
    expect(told).toContain("public");
    expect(told).not.toContain(MARK);
    expect(textOf(await whole.do(tool, here))).toContain(MARK);
  });

  test("the git tool finds no repository that `fs.read` does not cover", async () => {
    const [bounded, whole] = await Promise.all([open("bounded"), open("whole")]);
    const show = { command: "show", revision: "HEAD", file: "priv/secret" };
    expect(textOf(await bounded.do("git", show))).not.toContain(MARK);
    expect(textOf(await whole.do("git", show))).toContain(MARK);
  });

  test("a program of a project's tool sees what its agent may read", async () => {
    const [bounded, whole] = await Promise.all([open("bounded"), open("whole")]);
    expect(textOf(await bounded.do("reader", { file: "pub/a.txt" }))).toContain("public");
    expect(textOf(await bounded.do("reader", { file: "priv/secret" }))).not.toContain(MARK);
    expect(textOf(await whole.do("reader", { file: "priv/secret" }))).toContain(MARK);
  });

  test("a user's ceiling and a session's pledge limit it as the record does", async () => {
    const line = { argv: ["cat", "pub/a.txt", "priv/secret"], in: fixture.project, root: "ro" };
    const sessions = [
      await open("whole", { user: "ann" }),
      await open("whole", { pledge: ["tool.invoke", inProject("proc.exec"), `fs.read{in=${fixture.project}/pub}`] }),
    ];
    for (const session of sessions) {
      const told = textOf(await session.do("proc_exec", line));
      expect(told).toContain("public");
      expect(told).not.toContain(MARK);
    }
    const silent = await open("whole", { pledge: ["tool.invoke", inProject("proc.exec")] });
    expect(textOf(await silent.do("proc_exec", line))).not.toContain(MARK);
  });
});
