// Moving names between classes: the user's rule applies to the names it names, a project's only where it is stricter.
import { expect, test } from "vitest";
import type { TriggerRule, WrittenTriggers } from "../../../core/notation/config/trigger-setting.ts";
import { strictTriggers, TriggerTable } from "./trigger-table.ts";

const BASES = { root: ["w"], home: ["h"], workspaces: [] };

/** `allow .vscode`, `ask /Makefile`, `never ~/x`. */
function rules(...written: readonly string[]): WrittenTriggers {
  return {
    rules: written.map((one): TriggerRule => {
      const [of, path = ""] = one.split(" ") as [TriggerRule["class"], string];
      const place = path.startsWith("~/") ? "home" : path.startsWith("/") ? "top" : "anywhere";
      return { class: of, names: path.replace(/^~?\//, "").split("/"), place };
    }),
  };
}

function find(path: string, user: readonly string[], project: readonly string[] = []): string {
  const table = new TriggerTable(rules(...user), rules(...project));
  return table.find(path.split("/").slice(1), BASES)?.class ?? "free";
}

test.each<[string, readonly string[], string]>([
  ["/w/.vscode/tasks.json", [], "never"],
  ["/w/.vscode/tasks.json", ["allow .vscode"], "free"],
  ["/w/.vscode/tasks.json", ["ask .vscode"], "ask"],
  ["/w/.vscode/settings.json", ["allow .vscode/settings.json"], "free"],
  ["/w/.VSCode/Settings.json", ["allow .vscode/settings.json"], "free"],
  ["/w/.vscode/tasks.json", ["allow .vscode/settings.json"], "never"],
  ["/w/.vscode/tasks.json", ["allow .vscode", "never .vscode/tasks.json"], "never"],
  ["/w/.vscode/settings.json", ["never .vscode", "allow .vscode/settings.json"], "free"],
  ["/w/.vscode/settings.json", ["never .vscode/settings.json", "allow .vscode/settings.json"], "never"],
  ["/w/AGENTS.md", ["allow AGENTS.md"], "free"],
  ["/w/sub/AGENTS.md", ["allow /AGENTS.md"], "ask"],
  ["/w/AGENTS.md", ["never AGENTS.md"], "never"],
  ["/w/Makefile", [], "free"],
  ["/w/Makefile", ["ask Makefile"], "ask"],
  ["/w/sub/Makefile", ["ask /Makefile"], "free"],
  ["/w/x.code-workspace", ["allow *.code-workspace"], "free"],
  ["/w/x.code-workspace", ["allow x.code-workspace"], "free"],
  ["/w/y.code-workspace", ["allow x.code-workspace"], "ask"],
])("%s with %j: %s", (path, user, expected) => {
  expect(find(path, user)).toBe(expected);
});

test.each<[string, readonly string[], string]>([
  ["a rule for a folder around it", ["allow src"], "/w/src/.vscode/tasks.json"],
  ["a rule for other files in it", ["ask *.json"], "/w/.claude/settings.json"],
  ["a star that happens to match it", ["allow *"], "/w/.claude/settings.json"],
  ["a star that happens to match its ending", ["ask *.json"], "/w/opencode.json"],
  ["a fixed name", ["allow .ambit"], "/w/.ambit/config.yml"],
  ["our package", ["allow node_modules", "allow node_modules/ambit"], "/w/node_modules/ambit/x"],
])("%s loosens nothing", (_, user, path) => {
  expect(find(path, user)).toBe("never");
});

test("a project makes names stricter and never looser", () => {
  expect(find("/w/Makefile", [], ["ask Makefile"])).toBe("ask");
  expect(find("/w/Makefile", ["allow Makefile"], ["never Makefile"])).toBe("never");
  expect(find("/w/.vscode/x", [], ["ask .vscode"])).toBe("never");
  expect(find("/w/.vscode/x", [], ["allow .vscode"])).toBe("never");
});

test("of a broken configuration only what never lands counts", () => {
  const triggers = rules("allow .vscode", "ask .zed", "never Makefile");
  expect(strictTriggers({ triggers, broken: true }).rules.map((one) => one.class)).toEqual(["never"]);
  expect(strictTriggers({ triggers, broken: false })).toBe(triggers);
  expect(strictTriggers(null).rules).toEqual([]);
});

test("a link's name says whether triggers are below it, after all rules", () => {
  const below = (path: string, ...user: readonly string[]): string =>
    new TriggerTable(rules(...user)).findBelow(path.split("/").slice(1), BASES)?.class ?? "free";
  expect([below("/w/.cargo"), below("/w/.carg"), below("/h/.config")]).toEqual(["ask", "free", "never"]);
  expect(below("/w/.cargo", "allow .cargo/config", "allow .cargo/config.toml")).toBe("free");
  expect(below("/w/.cargo", "allow .cargo/config")).toBe("ask");
});
