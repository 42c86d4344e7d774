// A home that clients filled with hostile names is prepared for the next run without following, opening or changing
// anything outside of it.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeState } from "../../../test/house/remove-state.ts";
import type { ClientProfile } from "../../clients/profile.ts";
import { PLAIN_PROFILE } from "../../clients/profiles.ts";
import { ClientHomes, type HomeResult } from "./client-homes.ts";

const PROFILE: ClientProfile = {
  ...PLAIN_PROFILE,
  settings: [
    { kind: "json", path: ".client/settings.json", only: null, without: ["hooks"], set: { trusted: ["{root}"] } },
    { kind: "toml", path: ".client/config.toml", only: null, without: [], set: {} },
    { kind: "text", path: ".client/NOTES.md" },
    { kind: "folder", path: ".client/commands", endings: [".md"] },
  ],
};

let base = "";
let real = "";

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-homes-")));
  real = join(base, "person");
  put(join(real, ".client/settings.json"), '{ // mine\n "theme": "dark", "apiKey": "secret-1", "hooks": {"x": 1}, }');
  put(join(real, ".client/config.toml"), 'model = "m"\napi_key = "secret-2"\n');
  put(join(real, ".client/NOTES.md"), "be kind\n");
  put(join(real, ".client/commands/one.md"), "one\n");
  put(join(real, ".client/commands/run.sh"), "not copied\n");
  put(join(real, ".client/auth.json"), "secret-3");
});
afterEach(async () => {
  await Promise.all(used.splice(0).map((homes) => homes.settled()));
  removeState(base);
});

const used: ClientHomes[] = [];

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

interface OpenOptions {
  readonly isFresh?: boolean;
  readonly owner?: string;
  readonly profile?: ClientProfile;
}

function open(homes: ClientHomes, more: OpenOptions = {}): HomeResult {
  return homes.open({
    owner: more.owner ?? "agent",
    profile: more.profile ?? PROFILE,
    isFresh: more.isFresh ?? false,
    real: { folder: real, isProtected: (path) => path.includes("/.ssh/") },
    inside: { root: "/project", home: "/run/ambit/home", relay: null },
  });
}

function opened(homes = new ClientHomes(join(base, "state")), more = {}): Extract<HomeResult, { ok: true }> {
  used.push(homes);
  const result = open(homes, more);
  if (!result.ok) throw new Error(result.reason);
  return result;
}

test("settings come in without credentials, and nothing else of the person's home", () => {
  const { path, notes } = opened();
  const settings = JSON.parse(readFileSync(join(path, ".client/settings.json"), "utf8")) as unknown;
  expect(settings).toEqual({ theme: "dark", trusted: ["/project"] });
  expect(readFileSync(join(path, ".client/config.toml"), "utf8")).toBe('"model" = "m"\n');
  expect(readFileSync(join(path, ".client/commands/one.md"), "utf8")).toBe("one\n");
  expect(readdirSync(join(path, ".client")).sort()).toEqual(["NOTES.md", "commands", "config.toml", "settings.json"]);
  expect(readdirSync(join(path, ".client/commands"))).toEqual(["one.md"]);
  expect(notes).toEqual([".client/settings.json: left out apiKey", ".client/config.toml: left out api_key"]);
});

test("a client's changes to its settings are gone at the next start; its history stays; the person's home is untouched", () => {
  const first = opened();
  put(join(first.path, ".client/settings.json"), '{"hooks": "planted"}');
  put(join(first.path, ".client/commands/two.md"), "planted");
  put(join(first.path, ".client/history/a.jsonl"), "history");
  const second = opened();
  expect(second.path).toBe(first.path);
  expect(readFileSync(join(second.path, ".client/settings.json"), "utf8")).not.toContain("planted");
  expect(readdirSync(join(second.path, ".client/commands"))).toEqual(["one.md"]);
  expect(readFileSync(join(second.path, ".client/history/a.jsonl"), "utf8")).toBe("history");
  expect(readFileSync(join(real, ".client/settings.json"), "utf8")).toContain("secret-1");
});

test("a setting that the person removed is gone from the home as well", () => {
  opened();
  rmSync(join(real, ".client/NOTES.md"));
  expect(existsSync(join(opened().path, ".client/NOTES.md"))).toBe(false);
});

test.each<[string, (path: string) => void]>([
  ["a link to the folder of the settings", (path) => symlinkSync(".planted", join(path, ".client"))],
  [
    "a folder that is closed at the start",
    (path) => {
      mkdirSync(join(path, ".client"));
      writeFileSync(join(path, ".client", "NOTES.md"), "planted");
      chmodSync(join(path, ".client"), 0o000);
    },
  ],
])("where the person has no settings, the client finds none either: %s", (_title, plant) => {
  rmSync(join(real, ".client"), { recursive: true });
  const profile: ClientProfile = { ...PROFILE, settings: [{ kind: "text", path: ".client/NOTES.md" }] };
  const { path } = opened(undefined, { profile });
  put(join(path, ".planted", "NOTES.md"), "planted");
  plant(path);
  opened(undefined, { profile });
  // As the client itself opens it again.
  if (existsSync(join(path, ".client"))) chmodSync(join(path, ".client"), 0o700);
  expect(existsSync(join(path, ".client", "NOTES.md"))).toBe(false);
});

test.each<[string, (home: string, victim: string) => void]>([
  [
    "a link in place of the folder",
    (home, victim) => {
      rmSync(join(home, ".client"), { recursive: true });
      symlinkSync(victim, join(home, ".client"));
    },
  ],
  [
    "a link in place of a file",
    (home, victim) => {
      rmSync(join(home, ".client/NOTES.md"));
      symlinkSync(join(victim, "NOTES.md"), join(home, ".client/NOTES.md"));
    },
  ],
  [
    "a hard link in place of a file",
    (home, victim) => {
      rmSync(join(home, ".client/NOTES.md"));
      linkSync(join(victim, "NOTES.md"), join(home, ".client/NOTES.md"));
    },
  ],
  [
    "a pipe in place of a file",
    (home) => {
      rmSync(join(home, ".client/NOTES.md"));
      execFileSync("mkfifo", [join(home, ".client/NOTES.md")]);
    },
  ],
  [
    "a folder in place of a file, with a link in it",
    (home, victim) => {
      rmSync(join(home, ".client/NOTES.md"));
      mkdirSync(join(home, ".client/NOTES.md"));
      symlinkSync(victim, join(home, ".client/NOTES.md/out"));
    },
  ],
  ["a link in a folder that is emptied", (home, victim) => symlinkSync(victim, join(home, ".client/commands/out"))],
  [
    "a folder without permissions",
    (home) => {
      mkdirSync(join(home, ".client/commands/closed/in"), { recursive: true });
      chmodSync(join(home, ".client/commands/closed"), 0);
    },
  ],
  [
    "a folder deeper than the longest path",
    (home) => {
      let at = join(home, ".client/commands");
      for (let depth = 0; depth < 40; depth++) {
        at = join(at, "d".repeat(80));
        mkdirSync(at);
      }
    },
  ],
])("%s", (_title, plant) => {
  const victim = join(base, "victim");
  put(join(victim, "NOTES.md"), "victim");
  put(join(victim, "settings.json"), "victim");
  plant(opened().path, victim);
  const { path } = opened();
  expect(readFileSync(join(path, ".client/NOTES.md"), "utf8")).toBe("be kind\n");
  expect(lstatSync(join(path, ".client")).isDirectory()).toBe(true);
  expect(readdirSync(join(path, ".client/commands"))).toEqual(["one.md"]);
  expect(readdirSync(victim).sort()).toEqual(["NOTES.md", "settings.json"]);
  for (const name of readdirSync(victim)) expect(readFileSync(join(victim, name), "utf8")).toBe("victim");
});

test("a fresh home has nothing of earlier runs; one in use is not emptied", async () => {
  const homes = new ClientHomes(join(base, "state"));
  const first = opened(homes);
  put(join(first.path, "history"), "x");
  expect(open(homes, { isFresh: true })).toMatchObject({ ok: false, fix: "end that client, or omit --fresh" });
  expect(existsSync(join(first.path, "history"))).toBe(true);
  first.release();
  const second = opened(homes, { isFresh: true });
  expect(readdirSync(second.path)).toEqual([".client"]);
  await homes.settled();
  expect(readdirSync(dirname(second.path))).toEqual(["home"]);
});

test("a home of many files is set aside at once, and removed while other work goes on", {
  timeout: 60_000,
}, async () => {
  const homes = new ClientHomes(join(base, "state"));
  const first = opened(homes);
  mkdirSync(join(first.path, "many"));
  for (let number = 0; number < 3_000; number++) writeFileSync(join(first.path, "many", String(number)), "");
  first.release();
  const { path } = opened(homes, { isFresh: true });
  const names = readdirSync(dirname(path)).filter((name) => name !== "home");
  expect(names.flatMap((name) => readdirSync(join(dirname(path), name)))).toContain("many");
  let turns = 0;
  const turning = setInterval(() => turns++, 0);
  await homes.settled();
  clearInterval(turning);
  expect(readdirSync(dirname(path))).toEqual(["home"]);
  expect(turns).toBeGreaterThan(1);
});

test("while another client runs, what is in the way stays in the home until that client has ended", async () => {
  const homes = new ClientHomes(join(base, "state"));
  const first = opened(homes);
  rmSync(join(first.path, ".client/NOTES.md"));
  put(join(first.path, ".client/NOTES.md/planted"), "x");
  symlinkSync(base, join(first.path, ".ambit-old"));
  const second = opened(homes);
  expect(readFileSync(join(second.path, ".client/NOTES.md"), "utf8")).toBe("be kind\n");
  expect(readdirSync(dirname(first.path))).toEqual(["home"]);
  expect(lstatSync(join(first.path, ".ambit-old")).isDirectory()).toBe(true);
  first.release();
  second.release();
  opened(homes);
  await homes.settled();
  expect(readdirSync(first.path)).toEqual([".client"]);
  expect(readdirSync(dirname(first.path))).toEqual(["home"]);
});

test("agents have homes of their own", () => {
  const homes = new ClientHomes(join(base, "state"));
  expect(opened(homes, { owner: "a" }).path).not.toBe(opened(homes, { owner: "b" }).path);
});

test("a link of the person's is followed, but never to a protected file", () => {
  rmSync(join(real, ".client/NOTES.md"));
  put(join(real, "dotfiles/notes.md"), "linked\n");
  put(join(real, ".ssh/id"), "key");
  symlinkSync(join(real, "dotfiles/notes.md"), join(real, ".client/NOTES.md"));
  expect(readFileSync(join(opened().path, ".client/NOTES.md"), "utf8")).toBe("linked\n");
  rmSync(join(real, ".client/NOTES.md"));
  symlinkSync(join(real, ".ssh/id"), join(real, ".client/NOTES.md"));
  const { path, notes } = opened();
  expect(existsSync(join(path, ".client/NOTES.md"))).toBe(false);
  expect(notes).toContain(".client/NOTES.md is not copied: it is or leads to a protected path");
});

test.each<[string, () => void, string]>([
  ["a file that is not JSON", () => put(join(real, ".client/settings.json"), "{"), "it cannot be read as json"],
  [
    "instructions with a token",
    () => put(join(real, ".client/NOTES.md"), "use ghp_abcdefghijklmnopqrstuv"),
    "it contains a credential",
  ],
  ["a large file", () => put(join(real, ".client/NOTES.md"), "x".repeat(1_048_577)), "it is larger than 1 MiB"],
])("%s is not copied, and the person gets a warning", (_title, change, why) => {
  change();
  expect(opened().notes.join("\n")).toContain(`is not copied: ${why}`);
});
