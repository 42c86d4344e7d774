// A project in memory, parsed by the real parsers, trusted and changed at will.

import { orgOf } from "../../src/agents/disk/org-file.ts";
import type { ConfigRead } from "../../src/agents/project/hoist-levels.ts";
import { agentFromOrg } from "../../src/agents/project/org-agent.ts";
import { CONFIG_PATH, Project } from "../../src/agents/project/project.ts";
import { type Readers, readLevel } from "../../src/agents/project/project-moment.ts";
import { shownGrants } from "../../src/agents/project/reviewed-grants.ts";
import { configRefused, readConfig } from "../../src/core/notation/config/config.ts";
import type { Reading, RealRoot } from "../../src/core/notation/reading.ts";
import { READING } from "../../src/core/notation/testing/notation.ts";
import type { TrustedFile, TrustReader } from "../../src/core/ports/trust.ts";
import { agentOf } from "../../src/main/compose.ts";
import { readYaml } from "../../src/text/yaml.ts";

export const MOMENT = { now: 0, clean: true, generation: 0, revoked: null, exhausted: null } as const;
export const AGENT_PATH = ".ambit/agents/scout.md";

const readers: Readers = {
  config: (source, level, reading) => {
    const { tree, diagnostics } = readYaml(source);
    return tree === null ? configRefused(level, diagnostics) : readConfig(tree, level, reading);
  },
  agent: (source, name, reading) => agentOf(source, name, ".md", reading, MOMENT),
  member: (source, name, reading) => agentFromOrg(orgOf(source), name, reading),
};

/** The texts of a project with one agent, and the targets of its links. */
export interface Texts {
  readonly agent: string | null;
  readonly config?: string | null;
  readonly links?: Readonly<Record<string, string>>;
}

/** Stands for SHA-256: a value unique to this text. */
export const digest = (text: string): string => `digest of ${text}`;

export function projectOf(now: Texts, trusted: TrustReader | null, user: string | null = null): Project {
  const reading: Reading = { ...READING, realRoot: links(now.links ?? {}) };
  const config = now.config ?? null;
  return new Project({
    readers,
    reading,
    user: user === null ? null : userLevel(user),
    config: config === null ? null : { source: { name: CONFIG_PATH, text: config }, problem: null },
    trusted,
  });
}

export function userLevel(text: string): ConfigRead {
  return readLevel({ source: { name: "user.yml", text }, problem: null }, "user", READING, readers);
}

/** What is stored when a person trusts these texts. */
export function trustOf(texts: Texts, user: string | null = null): TrustReader {
  const project = projectOf(texts, null, user);
  const files: TrustedFile[] = [];
  const config = texts.config ?? null;
  if (config !== null)
    files.push({ path: CONFIG_PATH, text: config, roots: project.configRoots, digest: digest(config), config: null });
  if (texts.agent !== null) {
    const source = { name: AGENT_PATH, text: texts.agent };
    const { roots, own } = project.agent(source, "scout", AGENT_PATH);
    const beside = config === null ? null : digest(config);
    const shown = shownGrants(own);
    files.push({ path: AGENT_PATH, text: texts.agent, roots, digest: digest(texts.agent), config: beside, shown });
  }
  return { exists: true, digest: "all", file: (path) => files.find((file) => file.path === path) ?? null };
}

export const UNTRUSTED: TrustReader = { exists: false, digest: null, file: () => null };

export function scout(
  now: Texts,
  trusted: TrustReader | null,
  user: string | null = null,
): ReturnType<Project["agent"]> {
  return projectOf(now, trusted, user).agent({ name: AGENT_PATH, text: now.agent ?? "" }, "scout", AGENT_PATH);
}

export function record(...lines: readonly string[]): string {
  return ["---", ...lines, "---", ""].join("\n");
}

function links(table: Readonly<Record<string, string>>): RealRoot {
  return (root) => {
    const text = `/${root.join("/")}`;
    for (const [from, to] of Object.entries(table)) {
      if (text !== from && !text.startsWith(`${from}/`)) continue;
      return to === "" ? null : `${to}${text.slice(from.length)}`.split("/").filter((name) => name !== "");
    }
    return root;
  };
}
