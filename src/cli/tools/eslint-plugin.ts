// `ambit/eslint-plugin`: the findings of `ambit tools lint` as an ESLint rule. It loads no part of ESLint.
import { ambientUses } from "./scan.ts";

interface Position {
  readonly line: number;
  readonly column: number;
}

/** The part of ESLint's rule context that the rule uses. */
export interface EslintRuleContext {
  readonly options: readonly unknown[];
  readonly sourceCode: {
    readonly text: string;
    getLocFromIndex(index: number): Position;
  };
  report(problem: {
    readonly loc: { readonly start: Position; readonly end: Position };
    readonly messageId: "use" | "large";
    readonly data?: Readonly<Record<string, string>>;
  }): void;
}

const RULE = {
  meta: {
    type: "problem",
    docs: {
      description: "Disallows files, network, processes, generated code and the environment outside the tool context.",
      recommended: true,
    },
    schema: [
      {
        type: "object",
        properties: { allow: { type: "array", items: { type: "string" }, uniqueItems: true } },
        additionalProperties: false,
      },
    ],
    messages: {
      use: "`{{name}}` reaches {{why}}. Use {{use}}.",
      large: "The file is too large to check for ambient authority. Split it.",
    },
  },
  create(context: EslintRuleContext): { Program(): void } {
    return { Program: () => reportUses(context) };
  },
} as const;

const RULE_NAME = "no-ambient-authority";

/** `export default [plugin.configs.recommended]` in `eslint.config.js` turns the rule on. */
export const plugin = {
  meta: { name: "ambit" },
  rules: { [RULE_NAME]: RULE },
  configs: {
    get recommended(): object {
      return { name: "ambit/recommended", plugins: { ambit: plugin }, rules: { [`ambit/${RULE_NAME}`]: "error" } };
    },
  },
} as {
  readonly meta: { readonly name: string };
  readonly rules: Readonly<Record<string, typeof RULE>>;
  readonly configs: { readonly recommended: object };
};

function reportUses({ options, sourceCode, report }: EslintRuleContext): void {
  const { allow = [] } = (options[0] ?? {}) as { readonly allow?: readonly string[] };
  const uses = ambientUses(sourceCode.text);
  if (uses === null) {
    const start = sourceCode.getLocFromIndex(0);
    report({ loc: { start, end: start }, messageId: "large" });
    return;
  }
  for (const { name, why, use, start, end } of uses) {
    if (allow.includes(name)) continue;
    const loc = { start: sourceCode.getLocFromIndex(start), end: sourceCode.getLocFromIndex(end) };
    report({ loc, messageId: "use", data: { name, why, use } });
  }
}
