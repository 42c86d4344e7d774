// The built-in profiles. Facts about the clients are from their documentation and from runs of the versions that
// `test/clients` installs.
import type { JsonObject } from "../core/base/json.ts";
import type { ClientProfile, ClientSetting } from "./profile.ts";

const MARKDOWN = [".md"];

function settings(kind: "json" | "toml", path: string, without: readonly string[], set: JsonObject): ClientSetting {
  return { kind, path, only: null, without, set };
}

const text = (path: string): ClientSetting => ({ kind: "text", path });

const folder = (path: string, endings: readonly string[] = MARKDOWN): ClientSetting => ({
  kind: "folder",
  path,
  endings,
});

export const PROFILES: readonly ClientProfile[] = [
  {
    id: "ambit:claude-code@1",
    programs: ["claude"],
    least: { version: "1.0.60", packages: ["@anthropic-ai/claude-code"] },
    output: "claude",
    model: {
      providers: ["anthropic"],
      variables: [
        ["ANTHROPIC_BASE_URL", "{relay}/anthropic"],
        ["ANTHROPIC_API_KEY", "{key}"],
      ],
      // The client asks once about a key in its environment, which it knows by its last twenty characters.
      settings: [{ path: ".claude.json", set: { customApiKeyResponses: { approved: ["{keyEnd}"], rejected: [] } } }],
    },
    settings: [
      // The account, keys that were answered for and the histories of all projects are in the same file.
      {
        kind: "json",
        path: ".claude.json",
        only: ["mcpServers", "theme", "editorMode", "verbose"],
        without: [],
        set: {
          hasCompletedOnboarding: true,
          // Versions before 2.1 fail without the list of tools.
          projects: {
            "{root}": { allowedTools: [], hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true },
          },
        },
      },
      settings("json", ".claude/settings.json", ["hooks", "statusLine", "sandbox", "enabledPlugins", "env"], {}),
      text(".claude/CLAUDE.md"),
      ...["agents", "commands", "output-styles", "rules"].map((name) => folder(`.claude/${name}`)),
    ],
    folders: [".claude/projects", ".claude/todos", ".cache"],
    variables: [
      ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"],
      ["DISABLE_AUTOUPDATER", "1"],
      ["IS_SANDBOX", "1"],
    ],
    notes: [
      "hooks, plugins and the status line of your settings are not copied: they name programs in your home folder",
    ],
  },
  {
    id: "ambit:codex@1",
    programs: ["codex"],
    least: { version: "0.80.0", packages: ["@openai/codex"] },
    output: "codex",
    model: {
      providers: ["openai"],
      variables: [["OPENAI_API_KEY", "{key}"]],
      settings: [
        {
          path: ".codex/config.toml",
          set: {
            model_provider: "ambit",
            web_search: "disabled",
            model_providers: {
              ambit: { name: "ambit", base_url: "{relay}/openai/v1", env_key: "OPENAI_API_KEY", wire_api: "responses" },
            },
          },
        },
      ],
    },
    settings: [
      settings("toml", ".codex/config.toml", ["notify", "hooks", "sandbox_workspace_write", "default_permissions"], {
        sandbox_mode: "danger-full-access",
        check_for_update_on_startup: false,
        projects: { "{root}": { trust_level: "trusted" } },
      }),
      text(".codex/AGENTS.md"),
      folder(".codex/prompts"),
      folder(".codex/rules", [".rules"]),
    ],
    folders: [".codex/sessions", ".cache"],
    variables: [],
    notes: ["its own sandbox is off: it cannot be nested in ambit's sandbox"],
  },
  {
    id: "ambit:opencode@1",
    programs: ["opencode"],
    // Before, it installs a package at each start.
    least: { version: "1.1.65", packages: ["opencode-ai", "opencode"] },
    output: "opencode",
    model: {
      providers: ["anthropic", "openai"],
      variables: [
        ["ANTHROPIC_API_KEY", "{key}"],
        ["OPENAI_API_KEY", "{key}"],
      ],
      settings: [
        {
          path: ".config/opencode/opencode.json",
          set: {
            provider: {
              anthropic: { options: { baseURL: "{relay}/anthropic/v1" } },
              openai: { options: { baseURL: "{relay}/openai/v1" } },
            },
          },
        },
      ],
    },
    settings: [
      settings("json", ".config/opencode/opencode.json", ["plugin"], { autoupdate: false }),
      settings("json", ".config/opencode/opencode.jsonc", ["plugin"], { autoupdate: false }),
      text(".config/opencode/AGENTS.md"),
      ...["agent", "agents", "command", "commands"].map((name) => folder(`.config/opencode/${name}`)),
    ],
    folders: [".local/share/opencode", ".local/state/opencode", ".cache/opencode"],
    variables: [
      ["OPENCODE_DISABLE_AUTOUPDATE", "1"],
      ["OPENCODE_DISABLE_PROJECT_CONFIG", "1"],
      ["XDG_CONFIG_HOME", "{home}/.config"],
      ["XDG_DATA_HOME", "{home}/.local/share"],
      ["XDG_STATE_HOME", "{home}/.local/state"],
      ["XDG_CACHE_HOME", "{home}/.cache"],
    ],
    notes: ["opencode does not read the project's own settings and loads no plugins"],
  },
  {
    id: "ambit:gemini@1",
    programs: ["gemini"],
    least: { version: "0.40.0", packages: ["@google/gemini-cli"] },
    model: {
      providers: ["gemini"],
      variables: [
        ["GOOGLE_GEMINI_BASE_URL", "{relay}/gemini"],
        ["GEMINI_API_KEY", "{key}"],
      ],
      settings: [],
    },
    settings: [
      settings("json", ".gemini/settings.json", ["hooks", "hooksConfig", "telemetry"], {
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        tools: { sandbox: false },
      }),
      text(".gemini/GEMINI.md"),
      folder(".gemini/commands", [".toml"]),
      folder(".gemini/policies", [".toml"]),
    ],
    folders: [".gemini/tmp", ".gemini/history", ".cache"],
    variables: [
      ["GEMINI_SANDBOX", "false"],
      // Without it a second process is started, which outlives the first one.
      ["GEMINI_CLI_NO_RELAUNCH", "true"],
    ],
    notes: ["its own sandbox is off: it cannot be nested in ambit's sandbox"],
  },
];

/** A program without a profile of its own: no settings are copied for it, and no variables set for a model. */
export const PLAIN_PROFILE: ClientProfile = {
  id: "ambit:plain@1",
  programs: [],
  model: null,
  settings: [],
  folders: [".cache"],
  variables: [],
  notes: [],
};

/** Among the built-in ones, by the name of the program, whatever folder it is in. */
export function profileOfProgram(program: string): ClientProfile {
  const name = program.slice(program.lastIndexOf("/") + 1);
  return PROFILES.find(({ programs }) => programs.includes(name)) ?? PLAIN_PROFILE;
}
