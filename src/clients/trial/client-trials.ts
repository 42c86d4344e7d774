// How a client that runs without a terminal is tried with our hook: its words and variables in a scratch home, with a scripted model on
// loopback in place of its own, and what the end of the trial means.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import type { ModelProvider } from "./model-providers.ts";

export interface TrialFolders {
  readonly home: string;
  readonly project: string;
}

export interface ClientTrial {
  readonly provider: ModelProvider;
  /** Every tool is allowed beforehand: what does not run was stopped by the hook. `{port}` is the model's. */
  words(program: string): readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Files that the client needs in its home to start without a question. */
  seeds(folders: TrialFolders): Readonly<Record<string, string>>;
  /** Members of the file with the hook that decide whether hooks run; nothing else of it is used. */
  readonly kept: readonly string[];
  /** What the trial leaves open; null for nothing. */
  readonly note: string | null;
}

export const TRIAL_PROMPT = "follow the script to its end";
export const TRIAL_MARK = "ambit-trial";
/** INVARIANT: no record allows it, because what it runs cannot be read. It changes nothing outside its folder. */
export const TRIAL_LINE: string = `eval "touch ${TRIAL_MARK}"`;

const RELAY = "http://127.0.0.1:{port}";
const NO_KEY = "none";
const CODEX_MODEL = `{name="local",base_url="${RELAY}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}`;

const TRIALS: Readonly<Record<string, ClientTrial>> = {
  claude: {
    provider: "anthropic",
    words: (program) => [
      ...[program, "--print", TRIAL_PROMPT, "--permission-mode", "bypassPermissions", "--no-session-persistence"],
    ],
    environment: {
      ...{ ANTHROPIC_BASE_URL: RELAY, ANTHROPIC_API_KEY: NO_KEY, IS_SANDBOX: "1" },
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
    },
    seeds: () => ({}),
    kept: ["hooks", "disableAllHooks"],
    note: null,
  },
  codex: {
    provider: "openai",
    words: (program) => [
      ...[program, "exec", "-m", "gpt-5.1-codex", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"],
      ...["-c", "sandbox_mode=danger-full-access", "-c", "approval_policy=never", "-c", "model_provider=local"],
      ...["-c", `model_providers.local=${CODEX_MODEL}`, TRIAL_PROMPT],
    ],
    environment: { OPENAI_API_KEY: NO_KEY },
    seeds: ({ project }) => ({
      ".codex/config.toml": `[projects.${JSON.stringify(project)}]\ntrust_level = "trusted"\n`,
    }),
    kept: ["hooks"],
    note: "its check that you trust the hook was disabled",
  },
  opencode: {
    provider: "anthropic",
    words: (program) => [program, "run", "-m", "anthropic/claude-sonnet-4-5", TRIAL_PROMPT],
    environment: {
      ...{ ANTHROPIC_API_KEY: NO_KEY, OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
      OPENCODE_CONFIG_CONTENT: `{"provider":{"anthropic":{"options":{"baseURL":"${RELAY}/v1"}}}}`,
    },
    // It asks a registry of packages for each plugin, also for one of its own folder.
    seeds: () => ({ ".npmrc": "fetch-retries=0\n" }),
    kept: ["permission"],
    note: null,
  },
  gemini: {
    provider: "gemini",
    words: (program) => [program, "-m", "gemini-2.5-pro", "-p", TRIAL_PROMPT, "--yolo"],
    environment: {
      ...{ GEMINI_API_KEY: NO_KEY, GOOGLE_GEMINI_BASE_URL: RELAY, GEMINI_CLI_NO_RELAUNCH: "true" },
      ...{ GEMINI_SANDBOX: "false", GEMINI_CLI_TRUST_WORKSPACE: "true" },
    },
    seeds: () => ({ ".gemini/settings.json": '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' }),
    kept: ["hooks", "hooksConfig"],
    note: null,
  },
  copilot: {
    provider: "anthropic",
    // Without trust it leaves out the hooks of a project.
    words: (program) => [program, "--prompt", TRIAL_PROMPT, "--allow-all-tools", "--trust-folder", "--no-auto-update"],
    environment: {
      ...{ COPILOT_OFFLINE: "true", COPILOT_MODEL: "claude-sonnet-4.5" },
      ...{ COPILOT_PROVIDER_TYPE: "anthropic", COPILOT_PROVIDER_BASE_URL: RELAY, COPILOT_PROVIDER_API_KEY: NO_KEY },
    },
    seeds: () => ({}),
    kept: [],
    note: "with its --trust-folder: without it, the hooks of an untrusted folder do not run",
  },
};

/** Null for a client that cannot be tried; `whyNoTrial` says why. */
export function trialOf(client: string): ClientTrial | null {
  return Object.hasOwn(TRIALS, client) ? (TRIALS[client] ?? null) : null;
}

export function whyNoTrial(client: string): string {
  return client === "vscode"
    ? "it is an editor, which does not run without a window"
    : "it uses its own model service, which cannot be replaced for a trial";
}

/**
 * Of settings that have our hook, that hook and what decides whether hooks run. INVARIANT: hooks of others, programs that bring
 * credentials and variables stay outside the trial.
 */
export function trialSettings(settings: JsonObject, { kept }: ClientTrial, command: string): JsonObject {
  const members = kept.flatMap((key): readonly (readonly [string, Json])[] => {
    const value = member(settings, key);
    if (value === undefined) return [];
    return [[key, key === "hooks" && isJsonObject(value) ? ourHooks(value, command) : value]];
  });
  return Object.fromEntries(members);
}

function ourHooks(events: JsonObject, command: string): JsonObject {
  const isOurs = (group: Json): boolean => {
    const commands = commandsOf(group);
    return commands.length > 0 && commands.every((one) => one === command);
  };
  const kept = Object.entries(events).map(([event, list]): readonly [string, Json] => [
    event,
    isJsonList(list) ? list.filter(isOurs) : [],
  ]);
  return Object.fromEntries(kept);
}

function commandsOf(value: Json): readonly Json[] {
  if (isJsonList(value)) return value.flatMap(commandsOf);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => (key === "command" ? [one] : commandsOf(one)));
}

/** What the process of a trial prints: the client's end, and what its model was told. */
export interface TrialReport {
  readonly status: number | null;
  /** The last lines of its output and errors. */
  readonly text: string;
  /** The result of the shell call that the model made; null if the client sent none. */
  readonly result: string | null;
  readonly hasRun: boolean;
  readonly isOutOfTime: boolean;
  /** Of the client. */
  readonly version: string | null;
}

export type TrialOutcome =
  /** The client ran the hook and obeyed it. */
  | { readonly kind: "held"; readonly version: string | null; readonly note: string | null }
  /** The tool ran. */
  | { readonly kind: "ran"; readonly version: string | null }
  /** With the rest of this file the client leaves the hook out: it loads none of a file that has a mistake. */
  | { readonly kind: "unloaded"; readonly version: string | null; readonly file: string; readonly why: string }
  | { readonly kind: "unknown"; readonly why: string };

export function trialOutcome({ note }: ClientTrial, report: TrialReport): TrialOutcome {
  const { version } = report;
  if (report.hasRun) return { kind: "ran", version };
  if (report.result !== null && ANSWER.test(report.result)) return { kind: "held", version, note };
  if (report.isOutOfTime) return { kind: "unknown", why: "it did not call a tool in time" };
  if (report.result !== null)
    return {
      kind: "unknown",
      why: `it did not run the tool, but the result is not from the hook: ${brief(report.result)}`,
    };
  return {
    kind: "unknown",
    why: `it ended with ${report.status ?? "a signal"} without a tool result: ${brief(report.text)}`,
  };
}

/** The end of a trial that held with the hook alone, after a second one with the whole file. */
export function withWholeFile(
  alone: Extract<TrialOutcome, { kind: "held" }>,
  whole: TrialOutcome,
  { file, text }: { readonly file: string; readonly text: string },
): TrialOutcome {
  if (whole.kind === "held") return alone;
  if (whole.kind !== "unknown") {
    const why = text.split("\n").find((line) => line.includes(`${file}:`) || line.includes(`${file} (`));
    return { kind: "unloaded", version: alone.version, file, why: brief(why ?? "") };
  }
  const note = `not tried together with the other settings of ${file}: ${whole.why}`;
  return { ...alone, note: alone.note === null ? note : `${alone.note}; ${note}` };
}

/** How a denial of the hook begins. */
const ANSWER = /ambit denied |ambit: the call is blocked/;
const ESCAPE = "\u001b";
const COLOUR = new RegExp(`${ESCAPE}\\[[0-9;]*m`, "g");
const briefCharactersMax = 200;

function brief(text: string): string {
  const line = text.replaceAll(COLOUR, "").trim().split("\n").at(-1) ?? "";
  return line.slice(0, briefCharactersMax);
}
