// A workspace of any size: agents as people write them, and records beside them.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export function writeWorkspace(
  folder: string,
  { agents, records }: { readonly agents: number; readonly records: number },
): void {
  const agentsFolder = join(folder, ".ambit", "agents");
  mkdirSync(agentsFolder, { recursive: true });
  for (let at = 0; at < agents; at++) writeFileSync(join(agentsFolder, `${nameOf(at)}.md`), agentText(nameOf(at)));
  for (let at = 0; at < records; at++) {
    const collection = join(folder, ".ambit", "records", `collection-${Math.floor(at / 100)}`);
    if (at % 100 === 0) mkdirSync(collection, { recursive: true });
    writeFileSync(
      join(collection, `note-${at}.md`),
      `---\nclass: note\ntitle: Note ${at}\n---\n\nWhat was seen, ${at}.\n`,
    );
  }
}

/** The first is the one that is queried. */
function nameOf(at: number): string {
  return at === 0 ? "scout" : `agent-${at}`;
}

function agentText(id: string): string {
  return [
    "---",
    `id: ${id}`,
    "class: agent",
    "sandbox: .",
    "capabilities:",
    "  - records.read",
    "  - net.get:",
    '      hosts: ["*.github.com", api.weather.gov]',
    "  - net.post: { hosts: [api.github.com], ask: true }",
    "  - proc.exec:",
    '      patterns: ["git log **", "npm test"]',
    "tests:",
    "  - { allow: net.get https://api.github.com/repos }",
    "  - { deny: fs.read /etc/passwd }",
    "---",
    "",
    "You look things up.",
    "",
  ].join("\n");
}
