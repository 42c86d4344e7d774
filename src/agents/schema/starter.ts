// The files that `ambit init` writes: a configuration, the records of the chosen presets, and their schemas, as text.
import { newestPreset, PRESETS } from "../../core/notation/record/presets.ts";
import type { Surroundings } from "../../core/ports/surroundings.ts";
import { modeline, type SchemaName, schemaOf, schemaPath } from "./schema.ts";

export type Starter = "reader" | "reviewer" | "coder" | "researcher";

export interface StarterEntry {
  readonly name: Starter;
  readonly does: string;
  /** Requests that hold for the record in every project. */
  readonly tests: readonly string[];
  /** A first request to try; `FILE` is a file of the project. */
  readonly first: string;
  readonly body: string;
}

export const STARTERS: readonly StarterEntry[] = [
  {
    name: "reader",
    does: "reads the files of this project and nothing else",
    tests: ["{ allow: fs.read README.md }", "{ deny: fs.write README.md }", "{ deny: fs.read /etc/passwd }"],
    first: "fs.read FILE",
    body: "You read this project and answer questions about it.",
  },
  {
    name: "reviewer",
    does: "reads files and the git history",
    tests: ["{ allow: proc.exec git log }", "{ deny: proc.exec git push }", "{ deny: fs.write README.md }"],
    first: "proc.exec -- git log",
    body: "You review changes in this project.",
  },
  {
    name: "coder",
    does: "reads and writes here; runs read-only git commands, and asks before it runs anything else",
    tests: [
      "{ allow: proc.exec git status }",
      "{ ask: proc.exec npm test }",
      "{ ask: proc.exec rm -rf build }",
      "{ deny: net.get https://example.com/ }",
    ],
    first: "proc.exec -- git status",
    body: "You write code in this project.",
  },
  {
    name: "researcher",
    does: "fetches from the network and keeps notes; no files, no programs",
    tests: [
      "{ allow: net.get https://example.com/ }",
      "{ deny: net.post https://example.com/ }",
      "{ deny: fs.read README.md }",
    ],
    first: "net.get https://example.com/",
    body: "You look things up and write down what you find.",
  },
];

export interface StarterFile {
  /** Relative to the project. */
  readonly path: string;
  readonly text: string;
}

/** INVARIANT: detected facts grant nothing. They are written as comments, for the user to decide on. */
export function starterFiles(chosen: readonly Starter[], found: Surroundings): readonly StarterFile[] {
  const records = STARTERS.filter(({ name }) => chosen.includes(name)).map((entry) => ({
    path: agentPath(entry.name),
    text: recordText(entry),
  }));
  const schemas = (["config", "mcp", "record"] satisfies SchemaName[]).map((name) => ({
    path: schemaPath(name),
    text: `${JSON.stringify(schemaOf(name), null, 2)}\n`,
  }));
  return [...records, { path: ".ambit/config.yml", text: configText(found) }, ...schemas];
}

export function agentPath(name: Starter): string {
  return `.ambit/agents/${name}.md`;
}

/** The request of the first command to try, as arguments of `ambit can <agent>`. */
export function firstRequest(name: Starter, found: Surroundings): string {
  const entry = STARTERS.find((one) => one.name === name);
  return (entry?.first ?? "").replace("FILE", found.sample ?? "README.md");
}

function recordText({ name, does, tests, body }: StarterEntry): string {
  const preset = newestPreset(name) ?? `ambit:${name}@1`;
  const specs = PRESETS.get(preset) ?? [];
  return [
    "---",
    modeline("../schema/record.json"),
    `# ${does}`,
    `id: ${name}`,
    "class: agent",
    "sandbox: .",
    `# ${preset} never changes; it contains:`,
    ...specs.map((spec) => `#   ${spec}`),
    `extends: ${preset}`,
    "# If one of these tests fails, the record grants nothing. Run them: ambit test",
    "tests:",
    ...tests.map((test) => `  - ${test}`),
    "---",
    "",
    body,
    "",
  ].join("\n");
}

function configText({ clients, servers, toolchains }: Surroundings): string {
  const folders = toolchains.flatMap(({ keeper }) => keeper?.folders ?? []);
  const lines = [
    modeline("schema/config.json"),
    "# ambit: settings for every agent of this project. The agents themselves are in agents/*.md.",
    "# Users who clone this project have to trust it first: ambit trust",
    "",
    "# The folder that contains every agent's sandbox.",
    "sandbox: .",
  ];
  if (folders.length > 0) {
    const names = toolchains.flatMap(({ name, keeper }) => (keeper === null ? [] : [`${name} (${keeper.name})`]));
    lines.push("", `# Folders every sandbox sees, read-only: ${names.join(", ")}.`, "runtime:");
    lines.push(...[...new Set(folders)].map((folder) => `  - ${folder}`));
  }
  if (clients.length > 0)
    lines.push(
      "",
      `# Agent clients found here: ${clients.map((one) => `${one.client} (${one.because.join(", ")})`).join("; ")}.`,
    );
  if (servers.length > 0) {
    lines.push(
      "",
      "# MCP servers found here. No agent can call their tools until a record grants them (tool.invoke: { tools: [...] }):",
    );
    lines.push(...servers.map(({ name, file }) => `#   ${name}  (${file})`));
  }
  return `${lines.join("\n")}\n`;
}
