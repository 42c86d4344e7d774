// Effects of the person's own settings on names in a project: hooks paths that apply in every repository, and program trees.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CALLERS } from "../house/callers.ts";
import { writeFiles } from "../house/files.ts";
import { DraftWorld, type ShellResult } from "./world.ts";

for (const user of CALLERS)
  describe(user === 0 ? "as root" : "as an ordinary user", () => {
    let world: DraftWorld;
    beforeEach(() => {
      world = new DraftWorld(user);
      world.repository();
    });
    afterEach(() => world.end());

    const codes = ({ changes }: ShellResult): readonly string[] =>
      (changes?.kept ?? []).map(({ path, code }) => `${path} ${code}`);
    const configure = (path: string, text: string): void => {
      writeFiles(join(world.base, "config"), { [path]: text });
      world.own();
    };
    const plant = (folder: string): string =>
      `mkdir -p ${folder}; printf '#!/bin/sh\\ntouch ${world.base}/marker\\n' > ${folder}/pre-commit; chmod +x ${folder}/pre-commit`;

    test("a hooks path of the person's settings applies in a repository that the program creates, before or with its hooks", () => {
      configure("git/config", "[core]\n\thooksPath = hk\n");
      const repository = "git init -q sub; cd sub; echo 1 > f; git add f; git commit -qnm s";
      expect(codes(world.shell(`${plant("sub/hk")}; ${repository}`))).toEqual([
        "sub/hk self_modification",
        "sub/hk/pre-commit self_modification",
      ]);
      expect(codes(world.shell(plant("later/hk")))).toContain("later/hk/pre-commit self_modification");
      world.person("env", "-u", "GIT_CONFIG_GLOBAL", "git", "-C", "sub", "commit", "--allow-empty", "-qm", "person");
      expect(existsSync(join(world.base, "marker"))).toBe(false);
    });

    test("a script that a hook runs if it exists does not appear without approval", () => {
      world.write(".git/hooks/pre-commit", "#!/bin/sh\n[ -x ci/local.sh ] && ci/local.sh\nexit 0\n", 0o755);
      const line = `mkdir ci; printf '#!/bin/sh\\ntouch ${world.base}/marker\\n' > ci/local.sh; chmod +x ci/local.sh; echo 1 > ci/other.sh`;
      expect(codes(world.shell(line))).toEqual(["ci/local.sh approval_required"]);
      expect(world.read("ci/other.sh")).toBe("1\n");
      world.person("git", "commit", "--allow-empty", "-qm", "person");
      expect(existsSync(join(world.base, "marker"))).toBe(false);
    });

    test("a program tree inside the project is visible to programs and not changed", () => {
      world.write("tools/bin/hello", "#!/bin/sh\necho hello\n", 0o755);
      configure("ambit/config.yml", `runtime: [${world.project}/tools]\n`);
      const changed = world.shell("hello; echo 'echo evil' > tools/bin/hello; echo 1 > other.txt");
      expect([changed.outcome, changed.output]).toEqual(["ran", "hello\n"]);
      expect(codes(changed)).toEqual(["tools/bin/hello self_modification"]);
      const written = world.ambit(["call", "writer", "fs_write", '{"path":"tools/bin/hello","content":"x"}']);
      expect(`${written.out}${written.err}`).toContain("self_modification");
      expect(world.read("tools/bin/hello")).toBe("#!/bin/sh\necho hello\n");
    });
  });
