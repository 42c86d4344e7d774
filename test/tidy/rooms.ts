// The rooms of `src/`: which may import which, and which are pure. A folder that is not listed here may not exist.
// ARCHITECTURE.md shows the same table to people.

interface RoomRule {
  /** Rooms this one may import besides itself. */
  readonly knows: readonly string[];
  /** No `node:`, no packages, no ambient globals. */
  readonly isPure?: true;
}

const core = ["core/base", "core/authority", "core/notation", "core/ports", "core/gate"];
const sandbox = [
  "sandbox/linux",
  "sandbox/files",
  "sandbox/drafts",
  "sandbox/network",
  "sandbox/tool-host",
  "sandbox/live",
  "sandbox/homes",
];
const records = ["agents", "agents/disk"];

/** By the start of a path below `src/`; the longest that matches counts. */
const rooms: Readonly<Record<string, RoomRule>> = {
  "core/base": { knows: [], isPure: true },
  "core/authority": { knows: ["core/base"], isPure: true },
  "core/notation": { knows: ["core/base", "core/authority"], isPure: true },
  "core/ports": { knows: ["core/base", "core/authority"], isPure: true },
  "core/gate": { knows: ["core/base", "core/authority", "core/notation", "core/ports"], isPure: true },
  runtime: { knows: core, isPure: true },

  "sandbox/plan": { knows: core, isPure: true },
  approvals: { knows: core, isPure: true },
  log: { knows: core, isPure: true },
  doctor: { knows: core, isPure: true },
  clients: { knows: core, isPure: true },
  org: { knows: [...core, "clients"], isPure: true },
  agents: { knows: [...core, "org"], isPure: true },
  gateway: { knows: [...core, "runtime"], isPure: true },
  "tools/provider": { knows: core, isPure: true },

  platform: { knows: core },
  text: { knows: core },
  "log/keys": { knows: [...core, "log", "platform"] },
  "log/sinks": { knows: [...core, "log", "platform"] },
  secrets: { knows: [...core, "platform"] },
  "approvals/presence": { knows: [...core, "approvals", "platform", "secrets"] },
  store: { knows: [...core, "log"] },
  "sandbox/network": { knows: [...core, "sandbox/plan", "log", "platform"] },
  "sandbox/files": { knows: [...core, "sandbox/plan", "platform"] },
  "sandbox/drafts": { knows: [...core, "sandbox/plan", "platform"] },
  "sandbox/live": { knows: [...core, "sandbox/plan", "sandbox/drafts", "sandbox/linux", "platform"] },
  "clients/disk": { knows: [...core, "clients", "text", "platform"] },
  "sandbox/homes": { knows: [...core, "clients", "sandbox/drafts", "sandbox/live", "text", "platform"] },
  "sandbox/linux": { knows: [...core, "sandbox/plan", "sandbox/drafts", "platform"] },
  "sandbox/tool-host": { knows: [...core, "sandbox/plan", "sandbox/linux", "platform"] },
  "agents/disk": { knows: [...core, "agents", "org", "text", "platform", "sandbox/tool-host"] },

  tools: { knows: [...core, "runtime", "sandbox/plan", "agents", "tools/provider"] },
  "daemon/rpc": { knows: [...core, "platform"] },
  daemon: {
    knows: [
      ...[
        ...core,
        ...sandbox,
        ...records,
        "runtime",
        "clients",
        "clients/disk",
        "org",
        "gateway",
        "sandbox/plan",
        "daemon/rpc",
        "platform",
        "text",
        "store",
        "secrets",
      ],
      ...["tools", "tools/provider", "approvals", "approvals/presence", "log", "log/keys", "log/sinks"],
    ],
  },

  adapters: { knows: [...core, "tools", "tools/provider"] },
  library: {
    knows: [...core, ...records, "runtime", "tools", "tools/provider", "daemon/rpc", "daemon", "platform", "adapters"],
  },
  mcp: { knows: [...core, ...records, "tools", "daemon/rpc", "platform", "text"] },
  lsp: { knows: [...core, "agents"] },
  cli: { knows: [...core, ...records, "clients", "gateway", "org", "approvals", "log", "doctor", "sandbox/plan"] },

  "index.ts": { knows: [...core, "runtime"], isPure: true },
  "node-entry.ts": { knows: ["adapters", "library", "tools", "tools/provider"] },
  main: { knows: [] },
};
/** Only composition roots see everything. */
const seesEverything = "main";

export const roomNames: readonly string[] = Object.keys(rooms);

export const mint = "src/core/gate/warrant-mint.ts";
export const mintRoom = "core/gate";
/** The mark on a warrant, and the two files that may access it. */
export const brand = "src/core/gate/warrant-brand.ts";
export const brandFiles: readonly string[] = [mint, "src/core/gate/warrant.ts"];

/** The room of a path; the first name below `src/` if no room is listed; undefined outside `src/`. */
export function roomOf(path: string): string | undefined {
  const [top, ...below] = path.split("/");
  if (top !== "src") return undefined;
  for (let names = below.length; names > 0; names--) {
    const name = below.slice(0, names).join("/");
    if (Object.hasOwn(rooms, name)) return name;
  }
  return below[0];
}

export function isRoom(name: string | undefined): name is string {
  return name !== undefined && Object.hasOwn(rooms, name);
}

export function isPureRoom(name: string | undefined): boolean {
  return isRoom(name) && rooms[name]?.isPure === true;
}

export function mayImport(room: string, other: string): boolean {
  return room === other || room === seesEverything || (rooms[room]?.knows.includes(other) ?? false);
}

export function knownBy(room: string): readonly string[] {
  return room === seesEverything ? roomNames : (rooms[room]?.knows ?? []);
}
