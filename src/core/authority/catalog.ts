// Every verb there is: its axes, the scope keys that write them, its family, its risk. Nothing security-relevant
// has a default anywhere else.

export type AxisKind = "path" | "argv" | "name" | "tool" | "destination" | "port" | "word" | "arguments";

export interface Axis {
  readonly name: AxisName;
  readonly kind: AxisKind;
  /** The scope keys that write this axis, in the order they are printed. */
  readonly keys: readonly ScopeKey[];
}

export type AxisName =
  | "path"
  | "root"
  | "argv"
  | "mode"
  | "class"
  | "id"
  | "key"
  | "name"
  | "tool"
  | "arguments"
  | "host"
  | "port"
  | "raw"
  | "agent"
  | "provider"
  | "model"
  | "server"
  | "uri";

export type ScopeKey =
  | "in"
  | "paths"
  | "hosts"
  | "ports"
  | "private"
  | "raw"
  | "cmds"
  | "patterns"
  | "root"
  | "classes"
  | "id"
  | "ids"
  | "keys"
  | "agents"
  | "tools"
  | "args"
  | "args_only"
  | "names"
  | "providers"
  | "models"
  | "servers"
  | "uris";

export type Risk = "low" | "medium" | "high";

/** internal: bare means everything. external: bare means nothing. */
export type Family = "internal" | "external";

export interface VerbEntry {
  readonly verb: string;
  readonly axes: readonly Axis[];
  readonly family: Family;
  readonly risk: Risk;
  /** What a person is told the verb does. */
  readonly effect: string;
  /** A use costs tokens and money, as many as are known after it: grants may have budgets of these. */
  readonly isMetered: boolean;
}

const PATH: Axis = { name: "path", kind: "path", keys: ["in", "paths"] };
const ROOT: Axis = { name: "root", kind: "path", keys: ["in"] };
const ARGV: Axis = { name: "argv", kind: "argv", keys: ["cmds", "patterns"] };
const MODE: Axis = { name: "mode", kind: "word", keys: ["root"] };
const CLASS: Axis = { name: "class", kind: "name", keys: ["classes"] };
const ID: Axis = { name: "id", kind: "name", keys: ["id", "ids"] };
/** Records and agents are found by id as well as by the path pattern over that id; both must hold where both are written. */
const ID_PATH: Axis = { name: "path", kind: "name", keys: ["paths"] };
const KEY: Axis = { name: "key", kind: "name", keys: ["keys"] };
const AGENT: Axis = { name: "agent", kind: "name", keys: ["agents"] };
const NAME: Axis = { name: "name", kind: "name", keys: ["names"] };
const PROVIDER: Axis = { name: "provider", kind: "name", keys: ["providers"] };
const MODEL: Axis = { name: "model", kind: "name", keys: ["models"] };
const SERVER: Axis = { name: "server", kind: "name", keys: ["servers"] };
const URI: Axis = { name: "uri", kind: "name", keys: ["uris"] };
const TOOL: Axis = { name: "tool", kind: "tool", keys: ["tools"] };
const ARGUMENTS: Axis = { name: "arguments", kind: "arguments", keys: ["args", "args_only"] };
const HOST: Axis = { name: "host", kind: "destination", keys: ["hosts", "private"] };
const PLAIN_HOST: Axis = { name: "host", kind: "destination", keys: ["hosts"] };
const PORT: Axis = { name: "port", kind: "port", keys: ["ports"] };
const RAW: Axis = { name: "raw", kind: "word", keys: ["raw"] };

function entry(verb: string, family: Family, risk: Risk, axes: readonly Axis[], effect: string): VerbEntry {
  return { verb, axes, family, risk, effect, isMetered: verb === "model.use" };
}

export const CATALOG: readonly VerbEntry[] = [
  entry("records.read", "internal", "low", [CLASS, ID_PATH], "read records"),
  entry("records.create", "internal", "low", [CLASS, ID_PATH], "create records"),
  entry("records.update", "internal", "medium", [CLASS, ID_PATH], "change records"),
  entry("records.delete", "internal", "high", [CLASS, ID_PATH], "delete records"),
  entry("agent.create", "internal", "medium", [ID, ID_PATH], "create agents"),
  entry("agent.update", "internal", "medium", [ID, ID_PATH], "change the instructions of agents"),
  entry("agent.delete", "internal", "high", [ID, ID_PATH], "delete agents"),
  entry("agent.grant", "internal", "high", [ID, ID_PATH], "pass authority on to other agents"),
  entry("agent.discover", "internal", "low", [ID, ID_PATH], "find agents by what they can do"),
  entry("agent.consult", "internal", "low", [ID, ID_PATH], "ask other agents"),
  entry("agent.delegate", "internal", "medium", [ID, ID_PATH], "hand work to other agents"),
  entry("memory.read", "internal", "low", [KEY], "read memory"),
  entry("memory.write", "internal", "medium", [KEY], "write memory"),
  entry("obs.append", "internal", "low", [AGENT], "write observations"),
  entry("obs.query", "internal", "low", [AGENT], "read observations"),
  entry("tool.invoke", "internal", "medium", [TOOL, ARGUMENTS], "call tools"),
  entry("task.schedule", "internal", "medium", [], "schedule future work"),
  entry("sandbox.exec", "internal", "medium", [], "run code in a temporary sandbox without access to this machine"),
  entry("fs.read", "external", "medium", [PATH], "read files"),
  entry("fs.write", "external", "high", [PATH], "write files"),
  entry("fs.delete", "external", "high", [PATH], "delete files"),
  entry("net.get", "external", "medium", [HOST, PORT], "fetch from the network"),
  entry("net.post", "external", "high", [HOST, PORT], "post to the network"),
  entry("net.put", "external", "high", [HOST, PORT], "put and patch on the network"),
  entry("net.delete", "external", "high", [HOST, PORT], "delete over the network"),
  entry("net.connect", "external", "high", [HOST, PORT, RAW], "let processes open connections"),
  entry("proc.exec", "external", "high", [ROOT, ARGV, MODE], "run programs"),
  entry("proc.eval", "external", "high", [ROOT, MODE], "run shell lines"),
  entry("secret.use", "external", "high", [NAME, TOOL, PLAIN_HOST], "use secrets without seeing them"),
  entry("model.use", "external", "medium", [PROVIDER, MODEL], "use models with the user's credential"),
  entry("mcp.resource", "external", "medium", [SERVER, URI], "read resources and prompts of MCP servers"),
  entry("mcp.elicit", "external", "medium", [SERVER], "let MCP servers ask the person during a call"),
  entry("mcp.sample", "external", "medium", [SERVER], "let MCP servers use the client's model during a call"),
  entry("provider.web_search", "external", "medium", [PLAIN_HOST], "let the model's provider search the web"),
  entry("provider.web_fetch", "external", "medium", [PLAIN_HOST], "let the model's provider fetch pages"),
  entry("provider.code_execution", "external", "high", [], "let the model's provider run code"),
  entry("provider.file_search", "external", "medium", [], "let the model's provider search uploaded files"),
  entry("provider.image_generation", "external", "medium", [], "let the model's provider make images"),
  entry("provider.computer_use", "external", "high", [], "let the model's provider drive a computer"),
];

const BY_VERB: ReadonlyMap<string, VerbEntry> = new Map(CATALOG.map((one) => [one.verb, one]));

export function verbEntry(verb: string): VerbEntry | null {
  return BY_VERB.get(verb) ?? null;
}

export function scopeKeys(verb: VerbEntry): readonly ScopeKey[] {
  return verb.axes.flatMap((axis) => axis.keys);
}

const RISKS: readonly Risk[] = ["high", "medium", "low"];

/** For sorting: the consequential verbs first, then by name. */
export function byRisk(left: VerbEntry, right: VerbEntry): number {
  return (
    RISKS.indexOf(left.risk) - RISKS.indexOf(right.risk) ||
    (left.verb < right.verb ? -1 : left.verb > right.verb ? 1 : 0)
  );
}
