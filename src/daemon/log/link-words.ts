// A link of a chain in words: which text, ceiling, pledge or delegation it is.

/** The ruling of a policy that leaves no grant of the record. */
export function policyWords(capability: string): string {
  return `the policy (\`${capability}: deny\`)`;
}

/** `from`: the agent that issued a delegation. */
export function linkWords(id: string, from: string | null): string {
  const record = /^record [^#]*#(.*?)( as (?:trusted|written)(?: \(\d+\))?)?$/s.exec(id);
  if (record !== null) return `the record of ${record[1]}${(record[2] ?? "").replace(/ \(\d+\)$/, "")}`;
  if (id === "ceiling user") return "the ceiling of your config.yml";
  if (id.startsWith("ceiling ")) return `the ceiling ${id.slice("ceiling ".length)}`;
  if (id.startsWith("user ")) return `the record of the user ${id.slice("user ".length)}`;
  if (id.startsWith("pledge ")) return "the pledge of the session";
  if (id.startsWith("caveats ")) return "the caveats of the session";
  if (/^l_\w+$/.test(id)) return `the delegation ${id}${from === null ? "" : ` from ${from}`}`;
  return id;
}
