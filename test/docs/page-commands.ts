// Commands of a page, and the exit status that the page promises for each.

/** The exit status named in the comment after a command. Without one it succeeds. */
const STATUS: Readonly<Record<string, (status: number) => boolean>> = {
  runs: (status) => status === 0,
  allow: (status) => status === 0,
  deny: (status) => status === 10,
  denied: (status) => status === 10,
  ask: (status) => status === 11,
  refused: (status) => status === 125,
  fails: (status) => status !== 0 && status !== 2,
};
/** A command with a placeholder must parse; what it names does not exist. */
const PLACEHOLDER = /\b(ID|NAME|AGENT|TOOL|TOKEN)\b/;

export interface Command {
  readonly text: string;
  readonly says: string | null;
}

/** Each line by itself where every line is a command of its own, else the block as a whole. */
export function commandsOf(block: string): readonly Command[] {
  const lines = block.trim().split("\n");
  if (!lines.every((line) => line.startsWith("ambit "))) return [{ text: block, says: null }];
  return lines.map((line) => ({ text: line, says: /\s# (\w+)/.exec(line)?.[1] ?? null }));
}

export function isExpected({ text, says }: Command, status: number): boolean {
  if (PLACEHOLDER.test(text.replace(/\s#.*$/, ""))) return status !== 2;
  return (STATUS[says ?? ""] ?? STATUS["runs"])?.(status) === true;
}
