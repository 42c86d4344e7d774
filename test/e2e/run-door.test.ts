// `ambit` inside a client's sandbox: decisions, explanations and tools of the session that it runs in, and of no other.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { prepareState } from "../house/daemon-state.ts";
import { removeState } from "../house/remove-state.ts";
import { FILTERED } from "../supervised/container-filter.ts";
import { type Ran, root } from "./ambit.ts";

const SANDBOXES: readonly (readonly [sandbox: string, before: readonly string[]])[] = [
  ["with namespaces", []],
  ["without namespaces", FILTERED],
];

describe.each(SANDBOXES)("%s", (_sandbox, before) => {
  let base = "";
  let project = "";

  function ambit(...words: readonly string[]): Ran {
    const [command = "", ...rest] = [...before, process.execPath, join(root, "bin", "ambit"), ...words];
    const { status, stdout, stderr } = spawnSync(command, rest, {
      cwd: project,
      encoding: "utf8",
      input: "",
      env: {
        PATH: `${join(base, "tools")}:/usr/bin:/bin`,
        HOME: base,
        NO_COLOR: "1",
        XDG_STATE_HOME: join(base, "state"),
        XDG_CONFIG_HOME: join(base, "config"),
      },
    });
    return { status, out: stdout, err: stderr };
  }

  /** Inside a client of the agent, on its standard output. */
  function inside(script: string, agent = "coder"): string {
    return ambit("run", agent, "sh", "-c", script).out;
  }

  function serve(messages: readonly object[], agent = "coder"): readonly Record<string, unknown>[] {
    const lines = messages.map((message) => JSON.stringify({ jsonrpc: "2.0", ...message })).join("\n");
    writeFileSync(join(project, "lines"), `${lines}\n`);
    const answers = inside("ambit mcp serve < lines", agent).split("\n");
    return answers
      .filter((line) => line !== "")
      .map((line): Record<string, unknown> => JSON.parse(line))
      .toSorted((left, right) => Number(left["id"]) - Number(right["id"]));
  }

  beforeAll(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-door-")));
    chmodSync(base, 0o755);
    project = join(base, "project");
    mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
    mkdirSync(join(base, "config", "ambit"), { recursive: true });
    prepareState(join(base, "state"), join(base, "config"));
    const record = (more: string): string =>
      `---\nsandbox: .\ncapabilities:\n  - proc.exec: { root: live }\n  - fs.read\n${more}---\n`;
    writeFileSync(join(project, ".ambit", "agents", "coder.md"), record("  - fs.write\n"));
    writeFileSync(
      join(project, ".ambit", "agents", "asker.md"),
      record("  - fs.write\n  - net.get: { hosts: [page.example], ask: true }\n"),
    );
    writeFileSync(join(project, "note.txt"), "a note\n");
    // An ambit that is installed on the machine, in a folder that clients see.
    mkdirSync(join(base, "tools"), { recursive: true });
    writeFileSync(join(base, "tools", "ambit"), "#!/bin/sh\necho installed\n", { mode: 0o755 });
    writeFileSync(join(base, "config", "ambit", "config.yml"), `programs: { add: [${join(base, "tools")}] }\n`);
    ambit("trust", "--yes");
  });

  afterAll(() => removeState(base));

  test("can answers for the session, with the exit status of the command outside", () => {
    const script =
      "ambit can fs.read note.txt; echo $?; ambit can fs.read /etc/shadow; echo $?; ambit can nonsense 2>&1; echo $?";
    const lines = inside(script).split("\n");
    expect(lines[0]).toMatch(/^allow {2}fs\.read /);
    expect(lines).toContain("0");
    expect(lines.find((line) => line.startsWith("deny"))).toMatch(
      /fs\.read \/etc\/shadow .*(scope_violation|capability_absent)/,
    );
    expect(lines).toContain("10");
    expect(lines.at(-2)).toBe("2");
    expect(JSON.parse(inside("ambit can fs.read note.txt --json"))).toMatchObject({ outcome: "allow" });
  });

  test("`ambit` is ours, and not the one that is installed on the machine", () => {
    const found = inside("which -a ambit").trimEnd().split("\n");
    expect(found.at(-1)).toBe(join(base, "tools", "ambit"));
    expect(found).toHaveLength(2);
  });

  test("the tools of the session are served to clients of the Model Context Protocol", () => {
    const answers = serve([
      { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/list" },
      { id: 3, method: "tools/call", params: { name: "fs_read", arguments: { path: "note.txt" } } },
      { id: 4, method: "tools/call", params: { name: "fs_read", arguments: { path: "/etc/passwd" } } },
    ]);
    expect(answers.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    expect(answers[0]).toMatchObject({ result: { protocolVersion: "2025-06-18", serverInfo: { name: "ambit" } } });
    expect(JSON.stringify(answers[1])).toContain('"fs_write"');
    expect(answers[2]).toMatchObject({ result: { isError: false, content: [{ text: "a note\n" }, {}] } });
    expect(answers[3]).toMatchObject({ result: { isError: true, structuredContent: { outcome: "denied" } } });
  });

  test("a call reads what the client wrote just before it, and the client reads at once what a call wrote", () => {
    const post = (name: string, input: object): string => {
      const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } };
      return `echo '${JSON.stringify(body)}' | ambit mcp serve`;
    };
    const out = inside(
      `echo just now > fresh.txt; ${post("fs_read", { path: "fresh.txt" })}; ` +
        `${post("fs_write", { path: "made.txt", content: "by a call" })} > /dev/null; cat made.txt`,
    );
    expect(out).toContain("just now");
    expect(out).toMatch(/by a call$/);
  });

  test("why explains an entry of its own session, and knows no other", () => {
    const call = { name: "fs_read", arguments: { path: "/etc/passwd" } };
    const [denied] = serve([{ id: 1, method: "tools/call", params: call }]) as readonly [
      { readonly result: { readonly structuredContent: { readonly id: string } } },
    ];
    const { id } = denied.result.structuredContent;
    expect(ambit("why", id).out).toContain("/etc/passwd");
    // The session above is over, and this is another one of the same agent.
    expect(inside(`ambit why ${id} 2>&1; echo $?`)).toBe("error: this session has no entry with this id\n4\n");
    const line = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call });
    const own = inside(
      `id=$(echo '${line}' | ambit mcp serve | sed 's/.*"id":"\\(c_[a-z0-9]*\\)".*/\\1/'); ambit why $id; echo $?`,
    );
    expect(own).toMatch(/^c_\S+ .* deny {2}fs_read/);
    expect(own.trimEnd().endsWith("\n0")).toBe(true);
  });

  test("a call that needs approval raises one; what is asked inside approves nothing", () => {
    const params = { name: "web_fetch", arguments: { url: "https://page.example/x" } };
    const [asked] = serve([{ id: 1, method: "tools/call", params }], "asker");
    expect(asked).toMatchObject({
      result: { structuredContent: { code: "approval_required", approval: expect.any(String) } },
    });
    expect(ambit("approvals", "list").out).toContain("asker");
    expect(inside("ambit approve x 2>&1; echo $?", "asker")).toMatch(/^usage: ambit can REQUEST[\s\S]*\n2\n$/);
  });

  test("a program that is no client has no door", () => {
    const { out } = ambit("exec", "coder", "--root", "live", "--", "sh", "-c", 'echo "[$AMBIT_DOOR]"; ls /run/ambit');
    expect(out.split("\n")[0]).toBe("[]");
    expect(out).not.toContain("bin");
  });
});
