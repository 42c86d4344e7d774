// Effects of the person's own settings on names in a project: hooks paths that apply in every repository, and program trees.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CALLERS } from "../house/callers.ts";
import { writeFiles } from "../house/files.ts";
import { DraftProject, type ShellResult } from "./project.ts";

for (const user of CALLERS)
  describe(user === 0 ? "as root" : "as an ordinary user", () => {
    let fixture: DraftProject;
    beforeEach(() => {
      fixture = new DraftProject(user);
      fixture.repository();
    });
    afterEach(() => fixture.end());

    const codes = ({ changes }: ShellResult): readonly string[] =>
      (changes?.kept ?? []).map(({ path, code }) => `${path} ${code}`);
    const configure = (path: string, text: string): void => {
      writeFiles(join(fixture.base, "config"), { [path]: text });
      fixture.own();
    };
    const plant = (folder: string): string =>
      `mkdir -p ${folder}; printf '#!/bin/sh\\ntouch ${fixture.base}/marker\\n' > ${folder}/pre-commit; chmod +x ${folder}/pre-commit`;

    test("a hooks path of the person's settings applies in a repository that the program creates, before or with its hooks", () => {
      configure("git/config", "[core]\n\thooksPath = hk\n");
      const repository = "git init -q sub; cd sub; echo 1 > f; git add f; git commit -qnm s";
      expect(codes(fixture.shell(`${plant("sub/hk")}; ${repository}`))).toEqual([
        "sub/hk self_modification",
        "sub/hk/pre-commit self_modification",
      ]);
      expect(codes(fixture.shell(plant("later/hk")))).toContain("later/hk/pre-commit self_modification");
      fixture.person("env", "-u", "GIT_CONFIG_GLOBAL", "git", "-C", "sub", "commit", "--allow-empty", "-qm", "person");
      expect(existsSync(join(fixture.base, "marker"))).toBe(false);
    });

    test("a script that a hook runs if it exists does not appear without approval", () => {
      fixture.write(".git/hooks/pre-commit", "#!/bin/sh\n[ -x ci/local.sh ] && ci/local.sh\nexit 0\n", 0o755);
      const line = `mkdir ci; printf '#!/bin/sh\\ntouch ${fixture.base}/marker\\n' > ci/local.sh; chmod +x ci/local.sh; echo 1 > ci/other.sh`;
      expect(codes(fixture.shell(line))).toEqual(["ci/local.sh approval_required"]);
      expect(fixture.read("ci/other.sh")).toBe("1\n");
      fixture.person("git", "commit", "--allow-empty", "-qm", "person");
      expect(existsSync(join(fixture.base, "marker"))).toBe(false);
    });

    test("a program tree inside the project is visible to programs and not changed", () => {
      fixture.write("tools/bin/hello", "#!/bin/sh\necho hello\n", 0o755);
      configure("ambit/config.yml", `runtime: [${fixture.project}/tools]\n`);
      const changed = fixture.shell("hello; echo 'echo evil' > tools/bin/hello; echo 1 > other.txt");
      expect([changed.outcome, changed.output]).toEqual(["ran", "hello\n"]);
      expect(codes(changed)).toEqual(["tools/bin/hello self_modification"]);
      const written = fixture.ambit(["call", "writer", "fs_write", '{"path":"tools/bin/hello","content":"x"}']);
      expect(`${written.out}${written.err}`).toContain("self_modification");
      expect(fixture.read("tools/bin/hello")).toBe("#!/bin/sh\necho hello\n");
    });
  });
