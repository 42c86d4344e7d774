// The built-in profiles. The facts are from the clients' documentation; none was tried with an installed client yet.
import type { ClientProfile } from "./profile.ts";

export const PROFILES: readonly ClientProfile[] = [
  {
    id: "ambit:claude-code@1",
    programs: ["claude"],
    model: {
      provider: "anthropic",
      hosts: ["api.anthropic.com"],
      baseUrlVariable: "ANTHROPIC_BASE_URL",
      keyVariable: "ANTHROPIC_API_KEY",
    },
    folders: [".claude", ".claude.json"],
    variables: [
      ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"],
      ["DISABLE_AUTOUPDATER", "1"],
      ["IS_SANDBOX", "1"],
    ],
    notes: ["leave its own sandbox off: the protected names of a project cannot be bound in ours"],
  },
  {
    id: "ambit:codex@1",
    programs: ["codex"],
    model: { provider: "openai", hosts: ["api.openai.com"], baseUrlVariable: null, keyVariable: "OPENAI_API_KEY" },
    folders: [".codex"],
    variables: [],
    notes: ["its own sandbox fails in ours: pass `-c sandbox_mode=danger-full-access`"],
  },
  {
    id: "ambit:opencode@1",
    programs: ["opencode"],
    model: null,
    folders: [".config/opencode", ".local/share/opencode", ".cache/opencode"],
    variables: [
      ["OPENCODE_DISABLE_AUTOUPDATE", "1"],
      ["OPENCODE_DISABLE_PROJECT_CONFIG", "1"],
    ],
    notes: ["the project's own settings of opencode are not read"],
  },
  {
    id: "ambit:gemini@1",
    programs: ["gemini"],
    model: {
      provider: "gemini",
      hosts: ["generativelanguage.googleapis.com"],
      baseUrlVariable: "GOOGLE_GEMINI_BASE_URL",
      keyVariable: "GEMINI_API_KEY",
    },
    folders: [".gemini"],
    variables: [["GEMINI_SANDBOX", "false"]],
    notes: [],
  },
];

/** A program without a profile of its own: it gets no time limit, and nothing else. */
export const PLAIN_PROFILE: ClientProfile = {
  id: "ambit:plain@1",
  programs: [],
  model: null,
  folders: [],
  variables: [],
  notes: [],
};

export function profileById(id: string): ClientProfile | null {
  return [...PROFILES, PLAIN_PROFILE].find((one) => one.id === id) ?? null;
}

/** By the name of the program, whatever folder it is in. */
export function profileOfProgram(program: string): ClientProfile {
  const name = program.slice(program.lastIndexOf("/") + 1);
  return PROFILES.find(({ programs }) => programs.includes(name)) ?? PLAIN_PROFILE;
}
