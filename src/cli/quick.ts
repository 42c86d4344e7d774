// `ambit can` without the whole command line: agents' hooks and scripts ask it all day, and each start counts.

export interface QuickCan {
  readonly agent: string;
  readonly words: readonly string[];
  readonly json: boolean;
}

/**
 * The words of a plain `can`, read as the command line itself would read them; null for anything else. INVARIANT: a word
 * that could be an option other than --json, help included, or a word that is missing, is left to the command line.
 */
export function quickCan(argv: readonly string[]): QuickCan | null {
  const [command, ...rest] = argv;
  if (command !== "can") return null;
  const split = rest.indexOf("--");
  const own = split < 0 ? rest : rest.slice(0, split);
  const [agent, ...words] = own.filter((word) => word !== "--json");
  if (agent === undefined || words.length === 0) return null;
  if (agent.startsWith("-") || words.some((word) => word.startsWith("-"))) return null;
  return { agent, words: [...words, ...(split < 0 ? [] : rest.slice(split))], json: own.includes("--json") };
}
