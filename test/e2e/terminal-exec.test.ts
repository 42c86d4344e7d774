// `ambit exec -t` in a real terminal: full-screen programs, keys, sizes, job control, and the person's terminal afterwards.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { prepareState } from "../house/daemon-state.ts";
import { removeState } from "../house/remove-state.ts";
import { ambit, root } from "./ambit.ts";
import { onTerminal } from "./terminal.ts";
import { Tmux } from "./tmux.ts";

let base = "";
let project = "";
let tmux: Tmux;

function environment(): Record<string, string> {
  return {
    PATH: `${join(root, "bin")}:${process.env["PATH"]}`,
    HOME: base,
    NO_COLOR: "1",
    LANG: "C.UTF-8",
    XDG_STATE_HOME: join(base, "state"),
    XDG_CONFIG_HOME: join(base, "config"),
  };
}

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-terminal-")));
  chmodSync(base, 0o755);
  project = join(base, "project");
  mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
  prepareState(join(base, "state"), join(base, "config"));
  const grants = ["proc.exec: { root: live }", "proc.eval: { root: live }", "fs.read", "fs.write", "fs.delete"];
  const lines = grants.map((grant) => `  - ${grant}`).join("\n");
  writeFileSync(join(project, ".ambit", "agents", "coder.md"), `---\nsandbox: .\ncapabilities:\n${lines}\n---\n`);
  writeFileSync(join(project, "README.md"), "first line\n");
  spawnSync(process.execPath, [join(root, "bin", "ambit"), "trust", "--yes"], { cwd: project, env: environment() });
});

beforeEach(() => {
  tmux = new Tmux(80, 24, project, environment());
  tmux.line("clear; echo ready");
});

afterEach(() => tmux.end());
afterAll(() => removeState(base));

/** The terminal modes are restored as a shell needs them. */
async function isPutBack(): Promise<void> {
  // Keys typed earlier would still go to the program.
  await tmux.until(/\n\$\s*$/);
  tmux.line("clear; stty -a");
  const screen = await tmux.until(/icanon[\s\S]*\$\s*$/);
  expect(screen).toMatch(/(^|\s)icanon/);
  expect(screen).toMatch(/(^|\s)echo\s/);
  expect(tmux.about("#{alternate_on} #{mouse_any_flag} #{cursor_flag}")).toBe("0 0 1");
}

test("a program has a terminal of its own, and its exit status is returned", async () => {
  await tmux.until(/ready/);
  tmux.line("ambit exec coder -t --root live -- sh -c 'tty; stty size; exit 3'; echo status $?");
  const screen = await tmux.until(/status \d/);
  expect(screen).toMatch(/\/dev\/pts\/0\n24 80\nstatus 3/);
  await isPutBack();
});

test("without a terminal of its own a program only draws on the person's; to a pipe its output goes as it is", async () => {
  const hidden = "\\033]52;c;aGk=\\007\\033]0;title\\007\\033[c\\033[6n\\033Ptmux;x\\033\\134";
  const line = `printf "${hidden}one\\n\\033[31mtwo\\033[8m\\n"; printf "${hidden}three\\n" >&2`;
  writeFileSync(join(project, "escapes.sh"), line);
  const words = [
    process.execPath,
    join(root, "bin", "ambit"),
    "exec",
    "coder",
    "--root",
    "live",
    "--",
    "sh",
    "escapes.sh",
  ];
  const { status, raw } = await onTerminal(project, words, [], environment());
  expect(status).toBe(0);
  const lines = raw.split("\r\n");
  expect(lines).toEqual(
    expect.arrayContaining(["one", expect.stringContaining("\x1b[31mtwo\x1b[8m"), expect.stringContaining("three")]),
  );
  // The person reads what comes after it.
  expect(raw.slice(raw.indexOf("\x1b[8m"))).toContain("\x1b[0m");
  for (const sequence of ["\x1b]", "\x1b[c", "\x1b[6n", "\x1bP"]) expect(raw).not.toContain(sequence);
  const { stdout } = spawnSync(words[0] as string, words.slice(1), {
    cwd: project,
    env: environment(),
    encoding: "latin1",
  });
  expect(stdout.startsWith("\x1b]52;c;aGk=\x07")).toBe(true);
});

test("the output of a task is shown in lines that the terminal does not obey", async () => {
  writeFileSync(join(project, "task.sh"), 'printf "one\\033]52;c;aGk=\\007\\n"');
  const program = [process.execPath, join(root, "bin", "ambit")];
  const words = [...program, "tasks", "add", "coder", "--json", "--", "sh", "task.sh"];
  const added = spawnSync(words[0] as string, words.slice(1), { cwd: project, env: environment(), encoding: "utf8" });
  const { task } = JSON.parse(added.stdout) as { readonly task: { readonly id: string } };
  const { raw } = await onTerminal(project, [...program, "tasks", "run", task.id], [], environment());
  expect(raw).toContain("one\\u{1b}]52");
  expect(raw).not.toContain("\x1b]");
});

test("an editor works, is resized, and what it saves lands", async () => {
  await tmux.until(/ready/);
  tmux.line("ambit exec coder -t --root live -- vim -u NONE README.md");
  await tmux.until(/first line[\s\S]*README.md/);
  tmux.resize(20, 12);
  tmux.send("O", "new text", "Escape");
  await tmux.until(/^new text\n\s*first line/);
  expect(
    tmux
      .screen()
      .split("\n")
      .filter((line) => line === "~").length,
  ).toBe(9);
  tmux.line(":wq");
  await tmux.until(/\n\$\s*$/);
  expect(readFileSync(join(project, "README.md"), "utf8")).toBe("new text\nfirst line\n");
  await isPutBack();
});

test("Ctrl-C interrupts the program, not ambit", async () => {
  await tmux.until(/ready/);
  tmux.line(
    "ambit exec coder -t --root live -- sh -c 'trap \"echo caught; exit 7\" INT; echo up; while :; do sleep 0.1; done'; echo status $?",
  );
  await tmux.until(/^up/m);
  tmux.send("C-c");
  expect(await tmux.until(/status \d/)).toMatch(/caught\nstatus 7/);
});

test("Ctrl-Z stops program and ambit, and fg continues both", async () => {
  await tmux.until(/ready/);
  tmux.line("ambit exec coder -t --root live -- sh -c 'echo up; read -r line; echo got $line'");
  await tmux.until(/^up/m);
  tmux.send("C-z");
  await tmux.until(/Stopped/);
  tmux.line("fg");
  await tmux.until(/fg\nambit/);
  tmux.line("again");
  await tmux.until(/got again/);
  await isPutBack();
});

test("program output has no effect on the person's terminal", async () => {
  await tmux.until(/ready/);
  const before = tmux.about("#{pane_title}");
  tmux.line(
    "ambit exec coder -t --root live -- printf 'a\\033]2;planted\\007b\\033[c\\033[21t\\033]52;c;aGk=\\007c\\033[?1000h\\033[?25l'; echo; echo over",
  );
  await tmux.until(/^abc(?:\^\[\[\?62;22c)?\nover$/m);
  expect(tmux.about("#{pane_title}")).toBe(before);
  await isPutBack();
});

test("a program killed with its daemon leaves the terminal as it was", async () => {
  await tmux.until(/ready/);
  tmux.line(
    "ambit exec coder -t --root live -- sh -c 'printf \"\\033[?1049h\\033[?1000h\"; stty raw; echo up; sleep 100'; echo status $?",
  );
  await tmux.until(/^\s*up\s*$/m);
  const { stdout } = spawnSync(process.execPath, [join(root, "bin", "ambit"), "daemon", "status", "--json"], {
    encoding: "utf8",
    cwd: project,
    env: environment(),
  });
  process.kill((JSON.parse(stdout) as { readonly pid: number }).pid, "SIGKILL");
  expect(await tmux.until(/status \d/)).toMatch(/no_daemon/);
  await isPutBack();
});

test("-t without a terminal is an error", () => {
  const { status, err } = ambit(project, "exec", "coder", "-t", "--", "true");
  expect(status).toBe(125);
  expect(err).toContain("-t needs a terminal");
});
