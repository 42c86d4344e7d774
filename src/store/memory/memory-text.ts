// Encodes text from outside for a row. The driver cuts text at the first NUL and replaces lone surrogates, so that two
// texts would become one: such text is bound as JSON, which escapes both, or as bytes, where the order of keys matters.
import type { AgentName } from "../../core/ports/stores/link-store.ts";
import type { Namespace } from "../../core/ports/stores/memory-store.ts";

export function jsonOf(plain: string): string {
  return JSON.stringify(plain);
}

export function plainOf(text: unknown): string {
  const plain: unknown = JSON.parse(String(text));
  if (typeof plain !== "string") throw new TypeError("a row has an invalid value");
  return plain;
}

/** Bytes in UTF-8; a lone surrogate counts as its replacement. */
export function bytesOf(plain: string): number {
  return Buffer.byteLength(plain, "utf8");
}

/** Null if two keys would become one: a lone surrogate has no UTF-8 encoding. */
export function keyOf(plain: string): Uint8Array | null {
  const bytes = Buffer.from(plain, "utf8");
  return bytes.toString("utf8") === plain ? bytes : null;
}

export function plainOfKey(key: unknown): string {
  if (!(key instanceof Uint8Array)) throw new TypeError("a row has an invalid value");
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("utf8");
}

/** One text for one namespace; unique. */
export function namespaceText(namespace: Namespace): string {
  switch (namespace.kind) {
    case "agent":
      return JSON.stringify(["agent", ...nameParts(namespace.name)]);
    case "session":
      return JSON.stringify(["session", namespace.session]);
    case "tool":
      return JSON.stringify(["tool", namespace.workspace, namespace.tool]);
    case "shared":
      return JSON.stringify(["shared", namespace.workspace]);
    default:
      throw new TypeError(`no such namespace: ${JSON.stringify(namespace satisfies never)}`);
  }
}

export function agentText(name: AgentName): string {
  return JSON.stringify(nameParts(name));
}

function nameParts({ workspace, agent, user }: AgentName): readonly (string | null)[] {
  return user === undefined ? [workspace, agent] : [workspace, agent, user];
}

export function agentOf(text: unknown): AgentName {
  const [workspace, agent, user] = JSON.parse(String(text)) as [string | null, string, string?];
  return user === undefined ? { workspace, agent } : { workspace, agent, user };
}

const wordsBytesMax = 4 * 1024;

/** Words, case-insensitive; none match everything. Null: the text is too long to search for. */
export function wordsOf(text: string | null): readonly string[] | null {
  if (text === null) return [];
  if (bytesOf(text) > wordsBytesMax) return null;
  return text
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== "");
}

export function holdsWords(plain: string, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const folded = plain.toLowerCase();
  return words.every((word) => folded.includes(word));
}
