// Startup files and project settings of other tools, planted for the real tool: the list of names is correct for the installed
// tools.
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isInstalled, type Planted, TriggerFixture } from "./trigger-fixture.ts";

let fixture: TriggerFixture;
beforeEach(() => {
  fixture = new TriggerFixture();
});
afterEach(() => fixture.close());

interface Row {
  readonly program: string;
  /** The person's own files, before. */
  readonly project?: Planted;
  readonly planted: (fixture: TriggerFixture) => Planted;
  readonly command: readonly string[];
  readonly environment?: (fixture: TriggerFixture) => Readonly<Record<string, string>>;
  readonly class: "ask" | "never";
  /** The root is the person's home folder. */
  readonly isHome?: true;
}

const atHome = ({ root }: TriggerFixture): Readonly<Record<string, string>> => ({ HOME: root });
const touch = ({ mark }: TriggerFixture): string => `touch '${mark}'\n`;
const home = { environment: atHome, isHome: true, class: "never" } as const;

/** Those of tools that are not installed are shown as skipped. */
const ROWS: readonly (readonly [string, Row])[] = [
  [
    "bash, interactive",
    { ...home, program: "bash", planted: (one) => ({ ".bashrc": touch(one) }), command: ["bash", "-i", "-c", ":"] },
  ],
  [
    "bash, login",
    {
      ...home,
      program: "bash",
      planted: (one) => ({ ".bash_profile": touch(one) }),
      command: ["bash", "-l", "-c", ":"],
    },
  ],
  [
    "bash, second choice",
    { ...home, program: "bash", planted: (one) => ({ ".bash_login": touch(one) }), command: ["bash", "-l", "-c", ":"] },
  ],
  [
    "sh, login",
    { ...home, program: "sh", planted: (one) => ({ ".profile": touch(one) }), command: ["sh", "-l", "-c", ":"] },
  ],
  ["zsh", { ...home, program: "zsh", planted: (one) => ({ ".zshenv": touch(one) }), command: ["zsh", "-c", ":"] }],
  [
    "fish",
    {
      ...home,
      program: "fish",
      planted: (one) => ({ ".config/fish/config.fish": touch(one) }),
      command: ["fish", "-c", ":"],
    },
  ],
  [
    "git, the user's settings",
    {
      ...home,
      program: "git",
      planted: ({ evil }) => ({ ".gitconfig": `[core]\nsshCommand = ${evil}\n` }),
      command: ["git", "ls-remote", "ssh://127.0.0.1/x"],
    },
  ],
  [
    "git, the user's other settings",
    {
      ...home,
      program: "git",
      planted: ({ evil }) => ({ ".config/git/config": `[core]\nsshCommand = ${evil}\n` }),
      command: ["git", "ls-remote", "ssh://127.0.0.1/x"],
    },
  ],
  [
    "tmux",
    {
      ...home,
      program: "tmux",
      planted: ({ evil }) => ({ ".tmux.conf": `run-shell '${evil}'\n` }),
      environment: ({ root, above }) => ({ HOME: root, TMUX_TMPDIR: above }),
      // A new socket each time: a server that is still exiting would read nothing.
      command: ["sh", "-c", "tmux -L own$$ new-session -d 'sleep 5'; sleep 1; tmux -L own$$ kill-server"],
    },
  ],
  [
    "vim, the user's",
    {
      ...home,
      program: "vim",
      planted: ({ evil }) => ({ ".vimrc": `silent !${evil}\n` }),
      command: ["vim", "-N", "-i", "NONE", "-c", "qa!"],
    },
  ],
  [
    "vim, the project's",
    {
      program: "vim",
      planted: ({ evil }) => ({ ".exrc": `silent !${evil}\n` }),
      command: ["vim", "--cmd", "set exrc", "-N", "-i", "NONE", "-c", "qa!"],
      class: "ask",
    },
  ],
  [
    "neovim",
    {
      program: "nvim",
      planted: ({ evil }) => ({ ".exrc": `silent !${evil}\n` }),
      command: ["nvim", "--headless", "--cmd", "set exrc", "-c", "qa!"],
      class: "ask",
    },
  ],
  [
    "emacs",
    {
      program: "emacs",
      planted: ({ evil }) => ({ ".dir-locals.el": `((nil . ((eval . (call-process "${evil}")))))` }),
      command: [
        "emacs",
        "--batch",
        "--eval",
        "(setq enable-local-eval t enable-local-variables :all)",
        "--visit",
        "a.txt",
      ],
      class: "ask",
    },
  ],
  [
    "gdb",
    {
      program: "gdb",
      planted: ({ evil }) => ({ ".gdbinit": `shell ${evil}\n` }),
      command: ["gdb", "-batch", "-iex", "set auto-load safe-path /"],
      class: "ask",
    },
  ],
  [
    "direnv",
    {
      program: "direnv",
      planted: (one) => ({ ".envrc": touch(one) }),
      command: ["sh", "-c", "direnv allow . && direnv exec . true"],
      class: "ask",
    },
  ],
  [
    "npm",
    {
      program: "npm",
      project: { "package.json": '{"name":"x","version":"1.0.0","scripts":{"x":"true"}}' },
      planted: ({ evil }) => ({ ".npmrc": `script-shell=${evil}\n` }),
      command: ["npm", "run", "x"],
      class: "ask",
    },
  ],
  [
    "cargo",
    {
      program: "cargo",
      project: { "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\n', "src/lib.rs": "" },
      planted: ({ evil }) => ({ ".cargo/config.toml": `[build]\nrustc-wrapper = "${evil}"\n` }),
      environment: () => ({ HOME: process.env["HOME"] ?? "" }),
      command: ["cargo", "check", "--offline"],
      class: "ask",
    },
  ],
  [
    "pdb",
    {
      program: "python3",
      project: { "x.py": "pass\n" },
      planted: ({ evil }) => ({ ".pdbrc": `import os; os.system("${evil}")\n` }),
      command: ["python3", "-m", "pdb", "x.py"],
      class: "ask",
    },
  ],
];

for (const [title, row] of ROWS)
  test.skipIf(!isInstalled(row.program))(title, () => {
    const { program, project = {}, planted, command, environment, class: of, isHome } = row;
    fixture.write(project);
    const changes = planted(fixture);
    const variables = environment?.(fixture) ?? {};
    expect(Object.values(fixture.classes(changes, isHome ? "root" : "home"))).toEqual([of]);
    expect(fixture.isRun(command, variables), "nothing is planted yet").toBe(false);
    fixture.write(changes);
    const first = join(fixture.root, Object.keys(changes)[0] ?? "");
    expect(fixture.isRun(command, variables), `${program} runs ${first}`).toBe(true);
  });
