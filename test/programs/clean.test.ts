// Grants with `clean`: they hold for a program of a session that has read nothing untrusted, until the program ends.
import { afterEach, describe, expect, test } from "vitest";
import { DraftProject } from "../draft/project.ts";
import { CALLERS } from "../house/callers.ts";

const RECORD = [
  "---",
  "id: writer",
  "sandbox: .",
  "capabilities:",
  "  - fs.read: { clean: true }",
  "  - fs.write: { clean: true }",
  "  - proc.eval: { clean: true }",
  "  - proc.exec: { cmds: [sleep, touch], clean: true }",
  "---",
  "",
].join("\n");

describe.each(CALLERS)("as user %i", (user) => {
  let fixture: DraftProject;
  afterEach(() => fixture.end());

  test("a program runs to its end, and what it wrote lands", () => {
    fixture = new DraftProject(user, RECORD);
    const { out, status } = fixture.ambit(["exec", "writer", "--json", "--shell", "--", "sleep 0.5; echo 1 > a.txt"]);
    expect([status, JSON.parse(out).ending]).toEqual([0, { kind: "exited", status: 0 }]);
    expect(fixture.read("a.txt")).toBe("1\n");
  });

  test("every command of a script runs, the later ones too", () => {
    fixture = new DraftProject(user, RECORD);
    const script = JSON.stringify({ script: "sleep 0.1; touch b.txt; touch c.txt", root: "rw" });
    const { out, status } = fixture.ambit(["call", "writer", "shell", "--json", script]);
    expect([status, JSON.parse(out).result?.exit_code ?? out]).toEqual([0, 0]);
    expect([fixture.read("b.txt"), fixture.read("c.txt")]).toEqual(["", ""]);
  });
});
