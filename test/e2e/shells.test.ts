// Tab completion in zsh and fish, each on a real terminal, where they are installed; missing ones are reported.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { removeState } from "../house/remove-state.ts";
import { root } from "./ambit.ts";
import { onTerminal } from "./terminal.ts";

interface Shell {
  readonly name: "zsh" | "fish";
  /** Starts it with our completion and the prompt `ready> `, without the person's own settings; `folder` is for its files. */
  start(folder: string): readonly string[];
}

const SHELLS: readonly Shell[] = [
  {
    name: "zsh",
    start: (folder) => {
      writeFileSync(
        join(folder, ".zshrc"),
        `autoload -Uz compinit; compinit -D -u; PS1='ready> '; unsetopt beep; source <(ambit completion zsh)\n`,
      );
      return ["env", `ZDOTDIR=${folder}`, "zsh", "--no-global-rcs", "-i"];
    },
  },
  {
    name: "fish",
    start: () => {
      const prompt = "function fish_prompt; echo -n 'ready> '; end; set -g fish_greeting";
      return ["fish", "--no-config", "-i", "-C", `${prompt}; ambit completion fish | source`];
    },
  },
];

const isInstalled = ({ name }: Shell): boolean =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));

for (const shell of SHELLS)
  if (!isInstalled(shell)) console.warn(`${shell.name} is not installed here: its completion was not tried`);

test("each shell that is skipped here was searched for", () => {
  expect(isInstalled({ ...SHELLS[0], name: "sh" as Shell["name"], start: () => [] })).toBe(true);
});

let base = "";
let project = "";
let environment: Record<string, string> = {};
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "ambit-shells-"));
  project = join(base, "pro ject");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), "{}");
  environment = {
    PATH: `${join(root, "bin")}${delimiter}${process.env["PATH"]}`,
    HOME: base,
    TERM: "xterm",
    NO_COLOR: "1",
    LC_ALL: "C.UTF-8",
    XDG_CONFIG_HOME: join(base, "config"),
    XDG_STATE_HOME: join(base, "state"),
    XDG_DATA_HOME: join(base, "data"),
  };
  const { status } = spawnSync(join(root, "bin", "ambit"), ["init", "--yes", "--preset", "researcher,coder"], {
    cwd: project,
    env: environment,
    timeout: 60_000,
  });
  expect(status).toBe(0);
  writeFileSync(join(project, ".ambit", "agents", "x$(touch ran).md"), "---\n---\n");
});
afterAll(() => removeState(base));

for (const shell of SHELLS) {
  describe.skipIf(!isInstalled(shell))(`Tab in ${shell.name}`, () => {
    const typed = async (keys: string): Promise<string> => {
      const { raw } = await onTerminal(
        project,
        shell.start(base),
        [
          ["ready> ", `${keys}\r`],
          ["(end)", "exit\r"],
        ],
        environment,
      );
      return raw;
    };

    test("the shell can parse the script, and rejects one with a mistake", () => {
      const script = spawnSync(join(root, "bin", "ambit"), ["completion", shell.name], { encoding: "utf8" }).stdout;
      const read = (text: string): number | null => {
        writeFileSync(join(base, "script"), text);
        return spawnSync(shell.name, ["-n", join(base, "script")], { env: environment }).status;
      };
      expect(script).toContain("__complete");
      expect(read(script)).toBe(0);
      expect(read(`${script}\nif true; (`)).not.toBe(0);
    });

    const rows: readonly (readonly [title: string, keys: string, shows: RegExp])[] = [
      ["a command", "ambit compl\tbash | head -1", /# ambit completion for bash/],
      ["an agent", "ambit can res\tnet.get https://example.com/", /allow researcher {2}net\.get/],
      ["a verb", "ambit can coder memory.r\tx", /deny {2}coder {2}memory\.read x/],
      ["an option", "ambit can coder --js\tmemory.read x", /"agent":"coder"/],
      ["a code", "ambit explain scope_v\t", /scope_violation {2}denial/],
      ["a file", "ambit can coder fs.read pack\t", /allow coder {2}fs\.read .*package\.json/],
    ];
    // The shell assembles the end marker from parts, so that the typed line does not contain it.
    test.each(rows)("completes %s", async (_title, keys, shows) => {
      expect(await typed(`${keys}; echo '(en''d)'`)).toMatch(shows);
    });

    test("a file whose name is a command is never run, nor offered", async () => {
      const out = await typed("ambit can x\t memory.read a; echo '(en''d)'");
      expect(existsSync(join(project, "ran"))).toBe(false);
      expect(out).not.toMatch(/can x\$|can x\\\$/);
    });
  });
}
