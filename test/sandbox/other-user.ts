// Uses sandboxes as a user who is not root, and prints the results.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OWNER, planFor, ranOf, sandboxesIn, segments, shell } from "./fixture.ts";
import { mountsNaming, processesLeft } from "./leftovers.ts";

async function main(folder: string): Promise<unknown> {
  const project = join(folder, "project with spaces");
  mkdirSync(join(project, ".git", "hooks"), { recursive: true });
  writeFileSync(join(project, ".git", "config"), "[core]\n");
  writeFileSync(join(project, ".env"), "secret\n");
  const plan = planFor(project, { masked: [segments(join(project, ".env"))] });
  const sandboxes = sandboxesIn(join(folder, "state"));
  const said = async (script: string): Promise<string> => (await shell(sandboxes, plan, script)).output;

  const told = {
    who: await said("id -u; id -g"),
    wrote: await said("echo text > file && cat file"),
    capabilities: await said("grep -E '^Cap(Eff|Prm|Bnd|Inh)' /proc/self/status | cut -f 2 | sort -u"),
    noNew: await said("grep NoNewPrivs /proc/self/status | cut -f 2"),
    hooks: await said("echo x > .git/hooks/pre-commit; echo x >> .git/config; mv .git g; ls -A g/hooks; cat g/config"),
    masked: await said("cat .env; ls -A"),
    secrets: await said("cat /etc/shadow /root/.profile 2>/dev/null; ls -d /home/* /root 2>/dev/null"),
    sealed: await shell(sandboxes, plan, "echo x > .bashrc").then((one) => ranOf(one).draft?.isSealed),
    forked: await shell(
      sandboxes,
      { ...plan, limits: { ...plan.limits, processes: 20 } },
      "i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; echo all",
    ).then(({ output }) => output),
    together: await Promise.all(
      Array.from({ length: 16 }, (_, at) =>
        shell(sandboxes, plan, "exit 0", { owner: { ...OWNER, session: `${at}` } }).then(
          (one) => ranOf(one).ending.kind,
        ),
      ),
    ).then((kinds) => [...new Set(kinds)]),
  };
  await sandboxes.end(null);
  return {
    ...told,
    left: [await processesLeft(folder), mountsNaming(folder)],
    files: readdirSync(project, { recursive: true }).sort(),
    config: readFileSync(join(project, ".git", "config"), "utf8"),
  };
}

void main(process.argv[2] ?? "").then((told) => process.stdout.write(JSON.stringify(told)));
