// Protected names that land by approval, changed by file tools: the call needs an approval, `can` says so, and the configuration
// changes the names for both.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DraftProject } from "../draft/project.ts";
import { nativeMissing } from "../files/native.ts";

const RECORD = [
  "---",
  "id: writer",
  "sandbox: .",
  "capabilities:",
  ...["fs.read", "fs.write", "fs.delete", "proc.exec: { cmds: [git] }"].map((line) => `  - ${line}`),
  "---",
  "",
].join("\n");

interface CallAnswer {
  readonly ok: boolean;
  readonly code?: string;
  readonly approval?: string;
}

describe.skipIf(nativeMissing() !== null)("a name that lands by approval", () => {
  let fixture: DraftProject;
  beforeEach(() => {
    fixture = new DraftProject(process.getuid?.() ?? 0, RECORD);
  }, 120_000);
  afterEach(() => fixture.end());

  const call = (tool: string, input: object): CallAnswer => {
    const { out, err } = fixture.ambit(["call", "writer", tool, JSON.stringify(input), "--json"]);
    return JSON.parse(out === "" ? err : out) as CallAnswer;
  };
  const can = (...words: readonly string[]): string => {
    const { out } = fixture.ambit(["can", "writer", ...words, "--json"]);
    const { outcome, code } = JSON.parse(out) as { readonly outcome: string; readonly code: string | null };
    return code === null ? outcome : `${outcome} ${code}`;
  };
  const write = (path: string): CallAnswer => call("fs_write", { path, content: "x\n" });

  test("is written once this call is approved, and not before", () => {
    const asked = write(".envrc");
    expect(asked).toMatchObject({ ok: false, code: "approval_required", approval: expect.stringMatching(/^a/) });
    expect(existsSync(join(fixture.project, ".envrc"))).toBe(false);
    expect(fixture.ambit(["approve", asked.approval ?? "", "--yes"])).toMatchObject({ status: 0 });
    expect(write(".envrc")).toMatchObject({ ok: true });
    expect(fixture.read(".envrc")).toBe("x\n");
    // An approval is for one call.
    expect(write(".envrc")).toMatchObject({ ok: false, code: "approval_required" });
  }, 120_000);

  test("needs approval in missing folders, and by every tool that writes", () => {
    const deep = write(".github/workflows/ci.yml");
    expect(deep).toMatchObject({ ok: false, code: "approval_required" });
    expect(fixture.ambit(["approve", deep.approval ?? "", "--yes"])).toMatchObject({ status: 0 });
    expect(write(".github/workflows/ci.yml")).toMatchObject({ ok: true });
    expect(fixture.read(".github/workflows/ci.yml")).toBe("x\n");
    const others: readonly (readonly [string, object])[] = [
      ["fs_edit", { path: ".github/workflows/ci.yml", edits: [{ old: "x", new: "y" }] }],
      ["fs_delete", { path: ".github/workflows/ci.yml" }],
      ["shell", { script: "git --version > .npmrc" }],
    ];
    for (const [tool, input] of others)
      expect([tool, call(tool, input)]).toMatchObject([tool, { ok: false, code: "approval_required" }]);
    expect([fixture.read(".github/workflows/ci.yml"), existsSync(join(fixture.project, ".npmrc"))]).toEqual([
      "x\n",
      false,
    ]);
  }, 120_000);

  test("behind a link is not written, whatever the link is called", () => {
    writeFileSync(join(fixture.project, "AGENTS.md"), "mine\n");
    symlinkSync("AGENTS.md", join(fixture.project, "notes.md"));
    fixture.own();
    expect(write("notes.md")).toMatchObject({ ok: false });
    expect(fixture.read("AGENTS.md")).toBe("mine\n");
  }, 120_000);

  test("`can` answers as the call does, including names moved by the configuration", () => {
    const names = [".envrc", ".vscode/tasks.json", "deploy.sh", "plain.txt"];
    const asked = (): readonly string[] => names.map((name) => can("fs.write", name));
    const called = (): readonly string[] =>
      names.map((name) => {
        const { ok, code = "" } = write(name);
        return ok ? "allow" : code === "approval_required" ? "ask" : `deny ${code}`;
      });
    expect(asked()).toEqual(["ask", "deny self_modification", "allow", "allow"]);
    expect(called()).toEqual(asked());
    const config = join(fixture.base, "config", "ambit");
    mkdirSync(config, { recursive: true });
    writeFileSync(
      join(config, "config.yml"),
      "triggers:\n  allow: [.envrc]\n  never: [deploy.sh]\n  ask: [plain.txt]\n",
    );
    fixture.own();
    expect(asked()).toEqual(["allow", "deny self_modification", "deny self_modification", "ask"]);
    expect(called()).toEqual(asked());
    expect([can("fs.delete", "plain.txt"), can("fs.read", "plain.txt")]).toEqual(["ask", "allow"]);
  }, 120_000);
});
