// Drafts that wait for a person: their number is limited, a live copy can be reviewed, and our own configuration stays out of reach.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { CALLERS } from "../house/callers.ts";
import { DraftProject, WRITER } from "./project.ts";

const REVIEWED = WRITER.replace("sandbox: .", "sandbox: .\nland: ask");
/** As many drafts of one agent may wait. */
const draftsMax = 64;

let fixture: DraftProject;
afterEach(() => fixture.end());

const drafts = (): { readonly draft: string }[] => JSON.parse(fixture.changes("list", "--json").out).drafts;
const exec = (...words: readonly string[]): { readonly out: string; readonly status: number | null } =>
  fixture.ambit(["exec", "writer", "--json", ...words]);

test("with too many of them nothing more is written, reading works, and a discarded one makes room", () => {
  fixture = new DraftProject(CALLERS[0] ?? 0, REVIEWED);
  for (let at = 0; at < draftsMax; at++) expect(fixture.shell(`echo ${at} > f${at}`).changes?.kept).toHaveLength(1);
  expect(drafts()).toHaveLength(draftsMax);
  const full = exec("--shell", "--", "echo more > more");
  expect(full.status).toBe(125);
  expect(JSON.parse(full.out)).toMatchObject({ code: "not_landed", fix: "ambit changes list" });
  expect(exec("--root", "ro", "--shell", "--", "ls").status).toBe(0);
  expect(fixture.changes("discard", drafts()[0]?.draft ?? "", "--yes").status).toBe(0);
  expect(fixture.shell("echo more > more").changes?.kept.map(({ path }) => path)).toEqual(["more"]);
  expect(drafts()).toHaveLength(draftsMax);
  expect(fixture.read("f0")).toBeNull();
});

describe.each(CALLERS)("as user %i", (user) => {
  test("a live copy under review lands nothing while it runs and waits at its end", () => {
    fixture = new DraftProject(user, WRITER.replace("  - proc.eval\n", "  - proc.eval: { root: live }\n"));
    fixture.write("old.txt", "before\n");
    const { out, status } = exec(
      "--root",
      "live",
      "--review",
      "--shell",
      "--",
      "echo new > new.txt; echo x > old.txt; sleep 1",
    );
    expect(status).toBe(0);
    const { changes } = JSON.parse(out);
    expect(changes.kept.map(({ path }: { path: string }) => path).sort()).toEqual(["new.txt", "old.txt"]);
    expect([fixture.read("new.txt"), fixture.read("old.txt")]).toEqual([null, "before\n"]);
    expect(fixture.changes("land", changes.draft, "--yes").status).toBe(0);
    expect([fixture.read("new.txt"), fixture.read("old.txt")]).toEqual(["new\n", "x\n"]);
  });

  test("a user's config.yml that is a link into the project is not changed by a program or a file tool", () => {
    fixture = new DraftProject(user);
    const dotfiles = join(fixture.project, "dotfiles");
    mkdirSync(dotfiles);
    writeFileSync(join(dotfiles, "ambit.yml"), "limits: { seconds: 60 }\n");
    mkdirSync(join(fixture.base, "config", "ambit"), { recursive: true });
    symlinkSync(join(dotfiles, "ambit.yml"), join(fixture.base, "config", "ambit", "config.yml"));
    fixture.own();
    const text = (): string => readFileSync(join(dotfiles, "ambit.yml"), "utf8");
    for (const line of [
      "echo 'bare: true' > dotfiles/ambit.yml",
      "echo 'bare: true' > d && mv d dotfiles/ambit.yml",
      "mv dotfiles other; mkdir dotfiles; echo 'bare: true' > dotfiles/ambit.yml",
      "rm -r dotfiles",
    ]) {
      fixture.shell(line);
      expect([line, text()]).toEqual([line, "limits: { seconds: 60 }\n"]);
    }
    const written = fixture.ambit([
      "call",
      "writer",
      "fs_write",
      '{"path":"dotfiles/ambit.yml","content":"bare: true\\n"}',
    ]);
    expect(written.status).not.toBe(0);
    expect(text()).toBe("limits: { seconds: 60 }\n");
  });
});
