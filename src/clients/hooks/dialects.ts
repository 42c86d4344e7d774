// The clients that have hooks, by the name that `ambit hook` and `ambit connect` know them by.
import { CLAUDE, CODEX, VSCODE } from "./claude.ts";
import type { HookDialect } from "./hook-call.ts";
import { COPILOT, CURSOR, GEMINI, OPENCODE } from "./others.ts";

export const DIALECTS: readonly HookDialect[] = [CLAUDE, CODEX, OPENCODE, GEMINI, CURSOR, COPILOT, VSCODE];

export function dialectOf(client: string): HookDialect | null {
  return DIALECTS.find((one) => one.client === client) ?? null;
}
