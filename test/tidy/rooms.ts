// The architecture's table of rooms: who may import whom, and which rooms are pure. A room not written here may not exist.

const core = ["authority", "notation", "ports", "warrant", "context", "tool", "gate"] as const;
const around = ["approval", "audit", "sandbox", "projection", "record", "doctor"] as const;
const outside = ["text", "node", "store", "broker"] as const;
const faces = ["tools", "mcp", "clients", "daemon", "cli", "console", "adapters"] as const;

/** A file directly in src is a room of its own: the door of the core, and the one place where everything meets with its parts. */
const files = ["index.ts", "compose.ts", "compose", "node-door.ts"] as const;

export type Room =
  | (typeof core)[number]
  | (typeof around)[number]
  | (typeof outside)[number]
  | (typeof faces)[number]
  | (typeof files)[number];

const outsideKnows: readonly Room[] = ["ports", "authority", "sandbox", "notation"];
const facesKnow: readonly Room[] = [...core, ...around];

/** What each room may import besides itself. */
export const knows: Readonly<Record<Room, readonly Room[]>> = {
  authority: [],
  notation: ["authority"],
  ports: ["authority"],
  warrant: ["authority"],
  context: ["authority", "ports", "warrant"],
  tool: ["authority", "ports", "context"],
  gate: ["authority", "notation", "ports", "warrant", "context", "tool"],

  approval: core,
  audit: core,
  sandbox: core,
  projection: core,
  record: core,
  doctor: core,

  text: outsideKnows,
  node: outsideKnows,
  // What is kept is a chain of hashes; how it is chained is the audit's to say.
  store: [...outsideKnows, "audit"],
  // What comes back from outside is redacted where it comes in, before it leaves the process that sent the secret.
  broker: [...outsideKnows, "audit"],

  tools: facesKnow,
  mcp: facesKnow,
  clients: facesKnow,
  daemon: facesKnow,
  cli: facesKnow,
  console: facesKnow,
  adapters: facesKnow,

  "index.ts": core,
  "compose.ts": [...core, ...around, ...outside, ...faces, "compose"],
  // Parts of compose.ts, one concept each; only compose.ts, the library's door and they themselves import them.
  compose: [...core, ...around, ...outside, ...faces],
  "node-door.ts": [...core, ...around, ...faces, "compose"],
};

/** Single files that may import more than their room. */
export const fileKnows: Readonly<Record<string, readonly Room[]>> = {
  // The command line starts the composed product; the rest of its room is handed what it needs.
  "src/main/cli.ts": ["compose.ts"],
};

/** Rooms without `node:`, without packages and without ambient globals. */
export const pureRooms: ReadonlySet<string> = new Set<Room>([...core, ...around, "index.ts"]);

/** The file that makes warrants, and the one room that may. */
export const mint = "src/core/gate/warrant-mint.ts";
export const mintRoom: Room = "gate";
/** The mark on a warrant, and the two files that may touch it. */
export const brand = "src/core/gate/warrant-brand.ts";
export const brandFiles: readonly string[] = [mint, "src/core/gate/warrant.ts"];

/** The room a path lies in, or what stands in a room's place. Nothing for a path outside src. */
export function roomOf(path: string): string | undefined {
  const [top, room] = path.split("/");
  return top === "src" ? room : undefined;
}

export function isRoom(name: string | undefined): name is Room {
  return name !== undefined && Object.hasOwn(knows, name);
}
