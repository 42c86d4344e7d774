// Caveats supplied with a session instead of an agent's record: read by themselves, within the limits of the user's own
// configuration.
import { caveatsTable, readCaveats } from "../../core/notation/caveats/caveats.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { Source } from "../../core/notation/source.ts";
import type { TreeNode } from "../../core/notation/tree.ts";
import { readJson } from "../../text/json.ts";
import { readToml } from "../../text/toml.ts";
import { type Agent, agentFromCaveats } from "../project/agent.ts";
import { Project } from "../project/project.ts";
import { type AgentsContext, openAgents } from "./agents.ts";

/** The agent of a session that has no record. */
export const ANONYMOUS = "anonymous";

export interface SessionCaveats {
  readonly read: Agent;
  /** Problems of the text, as sentences. */
  readonly notes: readonly string[];
}

/** The text is always read as Caveats, whatever keys it has. */
export function readSessionCaveats(place: AgentsContext, text: string): SessionCaveats {
  const agents = openAgents(place);
  const { config } = agents.opened();
  // Programs run in the session's folder, wherever the project's configuration is read from.
  const { pathSettings } = place.readingAt(place.cwd);
  const project = new Project({
    readers: {
      ...agents.readers,
      agent: (source, name, reading) => caveatsAgent(source, name, { ...reading, pathSettings }),
    },
    reading: place.readingAt(place.workspace ?? place.cwd),
    user: agents.user(),
    config,
    trusted: null,
  });
  const { agent } = project.given({ name: "caveats", text }, ANONYMOUS);
  const notes = agent.diagnostics.map(({ message }) => message);
  // Denials by a surrounding configuration are reported by that configuration.
  const isOwnFault = agent.refused && project.levels.broken.length === 0;
  return { read: agent, notes: isOwnFault ? [`${DENIED}: ${notes.join("; ")}`] : notes };
}

const DENIED = "the caveats cannot be parsed, so everything is denied";

function caveatsAgent(source: Source, name: string, reading: Reading): Agent {
  const { tree, diagnostics } = readJson(source);
  if (tree === null) return agentFromCaveats(null, diagnostics, name, reading);
  const read = readCaveats(tree, reading);
  return agentFromCaveats(read.link, [...diagnostics, ...read.diagnostics], name, reading);
}

/** The `[caveats]` table of a TOML file as JSON text, or why there is none. */
export function readCaveatsToml({ name, text }: Source): {
  readonly name: string;
  readonly text: string | null;
  readonly problem: string | null;
} {
  const { tree, diagnostics } = readToml({ name, text });
  const table = tree === null ? null : caveatsTable(tree);
  if (table !== null) return { name, text: JSON.stringify(plainOf(table)), problem: null };
  return { name, text: null, problem: `${name}: ${diagnostics[0]?.message ?? "there is no [caveats] table"}` };
}

function plainOf(node: TreeNode): unknown {
  switch (node.kind) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map(plainOf);
    case "map":
      return Object.fromEntries(node.entries.map(({ key, value }) => [key, plainOf(value)]));
    default:
      return node satisfies never;
  }
}
