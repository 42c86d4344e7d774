// Questions on a terminal. The library behind them is loaded when the first is asked: most commands ask none.
import type { Terminal } from "../agents/ports.ts";
import { dropTypeAhead } from "../approvals/typed-answer.ts";
import { isTerminal } from "./output.ts";

/** Rows of a list that are shown at once. */
const rowsMax = 12;

export function promptTerminal(isInteractive: boolean): Terminal {
  return {
    isInteractive,
    ...(isTerminal(1) && process.stdout.columns > 0 ? { columns: process.stdout.columns } : {}),
    confirm: async (message) => {
      const { confirm, isCancel } = await import("@clack/prompts");
      const answer = await confirm({ message, initialValue: false });
      return !isCancel(answer) && answer;
    },
    choose: async (message, choices) => {
      const { isCancel, select } = await import("@clack/prompts");
      const answer = await select({ message, options: choices.map((choice) => ({ ...choice })), maxItems: rowsMax });
      return isCancel(answer) ? null : answer;
    },
    enter: async (message, check) => {
      const { isCancel, text } = await import("@clack/prompts");
      const answer = await text({ message, "validate": (value) => check(value ?? "") ?? undefined });
      return isCancel(answer) ? null : (answer ?? "");
    },
    typed: async (message) => {
      const { isCancel, text } = await import("@clack/prompts");
      if (!(await dropTypeAhead())) return null;
      const answer = await text({ message });
      return isCancel(answer) ? null : (answer ?? "");
    },
    secret: async (message) => {
      const { isCancel, password } = await import("@clack/prompts");
      const answer = await password({ message });
      return isCancel(answer) ? null : (answer ?? "");
    },
  };
}
