// A folder that its user reaches by a link (`~/work -> /data/work`): programs find it by the same name, and nothing else.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CALLERS } from "../house/callers.ts";
import { prepareState } from "../house/daemon-state.ts";
import { writeAgent, writeFiles } from "../house/files.ts";
import { removeState } from "../house/remove-state.ts";
import { type Ran, root } from "./ambit.ts";

let base = "";
const at = (...path: readonly string[]): string => join(base, ...path);

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-links-")));
  chmodSync(base, 0o755);
  prepareState(at("state"), at("config"));
  mkdirSync(at("user"));
  symlinkSync(at("data/work"), at("user/work"));
  writeFiles(base, {
    "data/work/proj/file": "content\n",
    "data/work/proj/sub/file": "deeper\n",
    "data/work/proj/script.sh": `cat ${at("user/work/proj/file")}\n`,
    "data/work/private": "not shown\n",
    "user/secret": "not shown\n",
  });
  writeAgent(at("data/work/proj"), "coder", "proc.exec{root=live}", "proc.eval{root=live}", "fs.read", "fs.write");
});
afterEach(() => removeState(base));

describe.each(CALLERS)("for user %i", (user) => {
  /** `named`: the folder as the user's shell names it; the kernel knows its real name alone. */
  function ambit(named: string, words: readonly string[], input = ""): Ran {
    const as = user === process.getuid?.() ? [] : ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"];
    const [command = "", ...rest] = [...as, process.execPath, join(root, "bin", "ambit"), ...words];
    const env = {
      ...{ PATH: process.env["PATH"], NO_COLOR: "1", HOME: at("user"), PWD: named },
      ...{ XDG_STATE_HOME: at("state"), XDG_CONFIG_HOME: at("config") },
    };
    const options = { cwd: named, encoding: "utf8", env, input, timeout: 120_000 } as const;
    const { status, stdout, stderr } = spawnSync(command, rest, options);
    return { status, out: stdout, err: stderr };
  }
  const named = (): string => at("user/work/proj");
  const real = (): string => at("data/work/proj");
  const exec = (folder: string, ...words: readonly string[]): Ran => ambit(folder, ["exec", "coder", ...words]);
  const line = (folder: string, text: string): Ran => exec(folder, "--shell", "--", text);

  beforeEach(() => {
    if (user !== process.getuid?.())
      for (const name of [base, ...readdirSync(base, { recursive: true, encoding: "utf8" }).map((one) => at(one))])
        lchownSync(name, user, user);
    expect(ambit(real(), ["trust", "--yes"])).toMatchObject({ status: 0 });
  });

  test("a program's argument, a script and `cd` by the link's name", () => {
    expect(exec(named(), "--", "cat", at("user/work/proj/file"))).toMatchObject({ status: 0, out: "content\n" });
    expect(exec(named(), "--", "sh", "script.sh")).toMatchObject({ status: 0, out: "content\n" });
    expect(line(named(), `cd ${named()}/sub && cat file`)).toMatchObject({ status: 0, out: "deeper\n" });
  });

  test("what is written by the link's name lands in the real folder, as a draft and live", () => {
    expect(line(named(), `echo made > ${named()}/made`)).toMatchObject({ status: 0 });
    expect(exec(named(), "--root", "live", "--shell", "--", `echo live > ${named()}/live`)).toMatchObject({
      status: 0,
    });
    expect([readFileSync(join(real(), "made"), "utf8"), readFileSync(join(real(), "live"), "utf8")]).toEqual([
      "made\n",
      "live\n",
    ]);
  });

  test("from the real folder: by `--in`, by a word of the command, and by the record's own root", () => {
    expect(exec(real(), "--in", named(), "--shell", "--", `cat ${named()}/file`)).toMatchObject({ out: "content\n" });
    expect(exec(real(), "--", "cat", `${named()}/file`)).toMatchObject({ out: "content\n" });
    expect(line(real(), `cat ${named()}/file`)).toMatchObject({ status: 1 });
    writeAgent(real(), "linked", `proc.eval{in=${named()},root=ro}`, `fs.read{in=${named()}}`);
    if (user !== process.getuid?.()) chownSync(join(real(), ".ambit/agents/linked.md"), user, user);
    expect(ambit(real(), ["trust", "--yes"])).toMatchObject({ status: 0 });
    const ran = ambit(real(), ["exec", "linked", "--shell", "--", `cat ${named()}/file`]);
    expect(ran).toMatchObject({ status: 0, out: "content\n" });
  });

  test("calls of tools: the folder of the session, and the folder that the input names", () => {
    const input = (folder: string): string => JSON.stringify({ line: `cat ${named()}/file`, in: folder, root: "ro" });
    for (const [folder, where] of [
      [named(), real()],
      [real(), named()],
    ] as const) {
      const called = ambit(folder, ["call", "coder", "proc_eval", input(where)]);
      expect(called).toMatchObject({ status: 0, out: expect.stringContaining("content") });
    }
    const asked = [
      { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {} } },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      {
        jsonrpc: "2.0",
        id: 2,
        method: "tools/call",
        params: { name: "proc_eval", arguments: JSON.parse(input(real())) },
      },
    ];
    const served = ambit(
      named(),
      ["mcp", "serve", "--agent", "coder"],
      `${asked.map((one) => JSON.stringify(one)).join("\n")}\n`,
    );
    expect(served.out).toContain("content");
  });

  test("hosted tools: declarations and inputs by the link's name, and nothing beside the folder", () => {
    const tool = (name: string, reach: string): string => `{
      name: "${name}", description: "Read a file.", capabilities: { fs_reach: { read: [${JSON.stringify(reach)}] } },
      input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      requests: ({ path }) => [{ verb: "fs.read", path }], execute: ({ path }, { files }) => files.readText(path),
    }`;
    writeFiles(real(), {
      ".ambit/tools/read.mjs": `export const tools = [${tool("by_link", `${named()}/sub`)}, ${tool("by_name", "sub")}];`,
    });
    writeAgent(real(), "caller", "fs.read", "tool.invoke{tools=[by_link,by_name]}");
    if (user !== process.getuid?.())
      for (const name of [".ambit/tools", ".ambit/tools/read.mjs", ".ambit/agents/caller.md"])
        chownSync(join(real(), name), user, user);
    expect(ambit(real(), ["trust", "--yes"])).toMatchObject({ status: 0 });
    const call = (folder: string, name: string, path: string): Ran =>
      ambit(folder, ["call", "caller", name, JSON.stringify({ path })]);
    for (const name of ["by_link", "by_name"]) {
      for (const path of ["sub/file", `${named()}/sub/file`, `${real()}/sub/file`])
        expect([path, call(named(), name, path)]).toMatchObject([path, { status: 0, out: "deeper\n" }]);
      expect(call(real(), name, `${named()}/sub/file`)).toMatchObject({ status: 0, out: "deeper\n" });
      for (const path of [`${named()}/file`, at("user/work/private"), at("user/secret")])
        expect([path, call(named(), name, path)]).toMatchObject([path, { status: 10, out: "" }]);
    }
    // A link inside of the project is not followed by a declaration: the agent could put one there.
    rmSync(join(real(), "sub"), { recursive: true });
    symlinkSync(at("data/work"), join(real(), "sub"));
    expect(call(named(), "by_link", "sub/private").status).not.toBe(0);
    expect(ambit(named(), ["doctor"]).out).not.toContain("tool_exceeds_agents");
  });

  test("the library: a workspace and a path by the link's name", () => {
    const script = `
      import { createAmbit } from ${JSON.stringify(join(root, "dist/node-entry.js"))};
      const ambit = await createAmbit({ workspace: process.argv[1] });
      const session = await ambit.session("coder");
      const texts = [];
      for (const path of process.argv.slice(2)) {
        const answer = await session.call("fs_read", { path });
        texts.push(answer.ok ? answer.value.text : answer.code);
      }
      console.log(JSON.stringify(texts));
      await session.close();
      await ambit.close();`;
    const as = user === process.getuid?.() ? {} : { uid: user, gid: user };
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        script,
        named(),
        "file",
        `${named()}/file`,
        `${real()}/file`,
        at("user/work/private"),
      ],
      {
        ...as,
        cwd: base,
        encoding: "utf8",
        env: {
          PATH: process.env["PATH"],
          HOME: at("user"),
          XDG_STATE_HOME: at("state"),
          XDG_CONFIG_HOME: at("config"),
        },
        timeout: 120_000,
      },
    );
    expect([stderr, stdout]).toEqual(["", '["content\\n","content\\n","content\\n","scope_violation"]\n']);
  });

  test("the link shows the root, and nothing beside it", () => {
    expect(line(named(), `ls -A ${at("user")} ${at("user/work")}`).out).toBe(
      `${at("user")}:\nwork\n\n${at("user/work")}:\nproj\n`,
    );
    for (const hidden of [at("user/secret"), at("user/work/private"), `${named()}/../private`])
      expect(line(named(), `cat ${hidden}`)).toMatchObject({ status: 1, out: "" });
    // The link is read-only, like everything outside of the root.
    expect(line(named(), `ln -sfn /etc ${at("user/work")} || rm ${at("user/work")}`).status).not.toBe(0);
    expect(realpathSync(at("user/work"))).toBe(at("data/work"));
  });

  test.each<[string, (planted: string) => void]>([
    ["a link cycle", (planted) => symlinkSync(planted, planted)],
    ["a link to a folder that the program does not see", (planted) => symlinkSync(at("user"), planted)],
    ["a link that dangles", (planted) => symlinkSync(at("data/none"), planted)],
    ["a link into /proc", (planted) => symlinkSync("/proc/self/cwd", planted)],
  ])("%s is not repeated, and the program runs as without it", (_, plant) => {
    plant(at("user/planted"));
    const ran = exec(real(), "--", "sh", "-c", 'cat "$0/secret" "$0/file" "$0/x"; echo on', at("user/planted"));
    expect(ran).toMatchObject({ status: 0, out: "on\n" });
    expect(ran.err).not.toContain("ambit:");
  });

  test("a link that the agent plants in its project stays the project's own", () => {
    expect(line(named(), `ln -s ${base} up; ls up/user 2>&1`).out).not.toContain("secret");
    const ran = exec(named(), "--", "cat", join(real(), "up/user/secret"));
    expect(ran).toMatchObject({ status: 1, out: "" });
  });

  test("the link may change between two commands: each has the root, by the name that leads there now", () => {
    writeFiles(base, { "data/other/proj/file": "another\n" });
    expect(line(named(), `cat ${named()}/file`).out).toBe("content\n");
    rmSync(at("user/work"));
    symlinkSync(at("data/other"), at("user/work"));
    expect(ambit(real(), ["exec", "coder", "--", "cat", `${named()}/file`])).toMatchObject({ status: 1, out: "" });
    expect(ambit(real(), ["exec", "coder", "--", "cat", "file"])).toMatchObject({ status: 0, out: "content\n" });
  });

  test.runIf(process.getuid?.() === 0)("a link of another user is not repeated", () => {
    symlinkSync(at("data/work"), at("planted"));
    lchownSync(at("planted"), 65_534, 65_534);
    expect(exec(real(), "--", "cat", at("planted/proj/file"))).toMatchObject({ status: 1, out: "" });
    lchownSync(at("planted"), user, user);
    expect(exec(real(), "--", "cat", at("planted/proj/file"))).toMatchObject({ status: 0, out: "content\n" });
  });

  test("a git worktree by a link's name: the commit is in the repository", () => {
    const git = (cwd: string, ...words: readonly string[]): string =>
      spawnSync("git", ["-c", "user.name=u", "-c", "user.email=u@x.test", "-c", "safe.directory=*", ...words], {
        ...{ cwd, encoding: "utf8" },
        ...(user === process.getuid?.() ? {} : { uid: user, gid: user }),
        env: { PATH: process.env["PATH"], HOME: at("user") },
      }).stdout;
    git(real(), "init", "-q", "-b", "main");
    git(real(), "add", "-A");
    git(real(), "commit", "-qm", "first");
    git(real(), "worktree", "add", "-q", "../tree");
    expect(existsSync(at("data/work/tree/file"))).toBe(true);
    const tree = at("user/work/tree");
    expect(ambit(tree, ["trust", "--yes"])).toMatchObject({ status: 0 });
    const commit = `echo more >> ${tree}/file && git -C ${tree} -c user.name=u -c user.email=u@x.test commit -qam second`;
    expect(ambit(tree, ["exec", "coder", "--shell", "--", commit])).toMatchObject({ status: 0 });
    expect(git(at("data/work/tree"), "log", "--format=%s")).toBe("second\nfirst\n");
  });
});
