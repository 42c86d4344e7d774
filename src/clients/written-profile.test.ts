// A profile that a user writes: every mistake is reported where it is, and a profile with one is not used.
import { expect, test } from "vitest";
import { Diagnostics } from "../core/notation/diagnostic.ts";
import { readYaml } from "../text/yaml.ts";
import { chooseProfile, type UserProfiles } from "./profile-choice.ts";
import { readProfile, type WrittenProfile } from "./written-profile.ts";

const WHOLE = `
programs: [aider, aider-chat]
model:
  providers: [anthropic, openai]
  variables: { ANTHROPIC_BASE_URL: "{relay}/anthropic", ANTHROPIC_API_KEY: "{key}" }
  settings:
    .aider/settings.json: { url: "{relay}/openai/v1" }
settings:
  - json: .aider/settings.json
    without: [hooks]
    set: { trusted: ["{root}"] }
  - { toml: ~/.aider/more.toml, only: [theme] }
  - text: .aider/CONVENTIONS.md
  - lines: .aiderrc
  - { folder: .aider/prompts, endings: [.md] }
folders: [.aider/history, .cache]
variables: { AIDER_ANALYTICS: "false", AIDER_HOME: "{home}/.aider" }
notes: [the voice mode is off]
`;

function read(text: string, name = "aider"): WrittenProfile & { readonly told: readonly string[] } {
  const source = { name: `${name}.yml`, text };
  const { tree, diagnostics } = readYaml(source);
  const found = new Diagnostics();
  const reading = { name, digest: "0123456789abcdef", isProtected: (path: readonly string[]) => path[0] === ".ssh" };
  const result = tree === null ? { profile: null, programs: null } : readProfile(tree, reading, found);
  const told = [...diagnostics, ...found.list].map(
    ({ code, span, message }) => `${code} ${text.slice(span.start, span.end)}: ${message}`,
  );
  return { ...result, told };
}

test("a whole profile is read as it is written, and its id changes with the text", () => {
  const { profile, told } = read(WHOLE);
  expect(told).toEqual([]);
  expect(profile).toEqual({
    id: "user:aider@0123456789ab",
    programs: ["aider", "aider-chat"],
    model: {
      providers: ["anthropic", "openai"],
      variables: [
        ["ANTHROPIC_BASE_URL", "{relay}/anthropic"],
        ["ANTHROPIC_API_KEY", "{key}"],
      ],
      settings: [{ path: ".aider/settings.json", set: { url: "{relay}/openai/v1" } }],
    },
    settings: [
      { kind: "json", path: ".aider/settings.json", only: null, without: ["hooks"], set: { trusted: ["{root}"] } },
      { kind: "toml", path: ".aider/more.toml", only: ["theme"], without: [], set: {} },
      { kind: "text", path: ".aider/CONVENTIONS.md" },
      { kind: "lines", path: ".aiderrc" },
      { kind: "folder", path: ".aider/prompts", endings: [".md"] },
    ],
    folders: [".aider/history", ".cache"],
    variables: [
      ["AIDER_ANALYTICS", "false"],
      ["AIDER_HOME", "{home}/.aider"],
    ],
    notes: ["the voice mode is off"],
  });
});

test.each([
  ["not a map", "- aider", "wrong_type"],
  ["nothing", "", "wrong_type"],
  ["not YAML", "programs: [aider", "syntax"],
  ["a key twice", "programs: [a]\nprograms: [b]", "syntax"],
  ["no programs", "notes: [x]", "missing_field"],
  ["an empty list of programs", "programs: []", "bad_value []"],
  ["a program of a built-in profile", "programs: [aider, claude]", "bad_value claude"],
  ["a program with a folder", "programs: [/usr/bin/aider]", "bad_value /usr/bin/aider"],
  ["a misspelled key", "programs: [a]\nvariabels: {}", "unknown_key variabels"],
  ["a grant", "programs: [a]\ncapabilities: [fs.read]", "unknown_key capabilities"],
  ["hosts", "programs: [a]\nhosts: [example.com]", "unknown_key hosts"],
  ["a variable of the sandbox", "programs: [a]\nvariables: { PATH: /x }", "bad_value PATH"],
  [
    "a variable of the sandbox in small letters",
    "programs: [a]\nvariables: { ld_preload: /x }",
    "bad_value ld_preload",
  ],
  ["our own variable", "programs: [a]\nvariables: { AMBIT_DOOR: x }", "bad_value AMBIT_DOOR"],
  ["no name of a variable", "programs: [a]\nvariables: { A-B: x }", "bad_value A-B"],
  ["a number as a variable", "programs: [a]\nvariables: { A: 1 }", "wrong_type 1"],
  ["a key in a variable", "programs: [a]\nvariables: { A: sk-ant-0123456789abcdef0 }", "bad_value sk-ant"],
  [
    "a key in a setting",
    "programs: [a]\nsettings: [{ json: .a, set: { k: ghp_0123456789abcdef01 } }]",
    "bad_value ghp_",
  ],
  ["the relay outside of model", 'programs: [a]\nvariables: { A: "{relay}" }', 'bad_value "{relay}"'],
  ["an unknown place", 'programs: [a]\nvariables: { A: "{hoome}" }', 'bad_value "{hoome}"'],
  ["a protected file", "programs: [a]\nsettings: [{ text: .ssh/config }]", "bad_value .ssh/config"],
  ["a protected folder", "programs: [a]\nsettings: [{ folder: ~/.ssh, endings: [.pub] }]", "bad_value ~/.ssh"],
  ["a path upwards", "programs: [a]\nsettings: [{ text: .a/../.ssh/config }]", "bad_value .a/../.ssh/config"],
  ["an absolute path", "programs: [a]\nsettings: [{ text: /etc/passwd }]", "bad_value /etc/passwd"],
  ["the home itself", "programs: [a]\nsettings: [{ folder: ~/, endings: [.md] }]", "bad_value ~/"],
  ["a folder without endings", "programs: [a]\nsettings: [{ folder: .a }]", "bad_value { folder: .a }"],
  ["an ending that is every file", 'programs: [a]\nsettings: [{ folder: .a, endings: [""] }]', "bad_value { folder"],
  ["two kinds at once", "programs: [a]\nsettings: [{ text: .a, json: .b }]", "missing_field { text"],
  ["the same file twice", "programs: [a]\nsettings: [{ text: .a }, { json: .a }]", "bad_value { json"],
  ["a file below a file", "programs: [a]\nsettings: [{ text: .a }, { json: .a/b }]", "bad_value { json"],
  ["a key of another kind", "programs: [a]\nsettings: [{ text: .a, set: {} }]", "unknown_key set"],
  ["no list of settings", "programs: [a]\nsettings: .a", "wrong_type .a"],
  ["an unknown provider", "programs: [a]\nmodel: { providers: [antropic] }", "bad_value antropic"],
  ["no provider", "programs: [a]\nmodel: {}", "missing_field {}"],
  [
    "a model's setting of another file",
    "programs: [a]\nmodel: { providers: [openai], settings: { .b: {} } }",
    "bad_value .b",
  ],
  ["a note with a line break", 'programs: [a]\nnotes: ["a\\nb"]', 'bad_value "a'],
])("%s is an error where it is written", (_title, text, told) => {
  const found = read(text);
  expect(found.profile).toBeNull();
  expect(found.told.join("\n")).toContain(told);
});

test.each(["codex", "plain", "claude-code", "Aider", "a b", "", "..", "user:x"])(
  "a file cannot be called %j",
  (name) => {
    expect(read("programs: [a]", name).profile).toBeNull();
  },
);

const own = read("programs: [aider]").profile;
const users: UserProfiles = {
  profiles: own === null ? [] : [{ profile: own, file: "aider.yml" }],
  broken: [{ file: "goose.yml", programs: ["goose", "claude"], problems: [] }],
};
const unreadable = { file: "x.yml", programs: null, problems: [] };

test.each([
  ["aider", users, "user:aider@0123456789ab"],
  ["/opt/x/aider", users, "user:aider@0123456789ab"],
  ["other", users, "ambit:plain@1"],
  ["goose", users, "broken goose.yml"],
  // A file with mistakes takes nothing away from the built-in clients, and from those with a profile of their own.
  ["claude", users, "ambit:claude-code@1"],
  ["aider", { ...users, broken: [unreadable] }, "user:aider@0123456789ab"],
  ["claude", { ...users, broken: [unreadable] }, "ambit:claude-code@1"],
  ["other", { ...users, broken: [unreadable] }, "broken x.yml"],
])("%s: %#", (program, profiles, expected) => {
  const choice = chooseProfile(program, profiles);
  expect(choice.ok ? choice.profile.id : `broken ${choice.broken.file}`).toBe(expected);
});
