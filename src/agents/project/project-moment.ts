// A project's configuration at one moment, now or when it was trusted, and its links at that moment.
import { pathText } from "../../core/authority/axes/path.ts";
import { type Config, configUnreadable } from "../../core/notation/config/config.ts";
import type { ConfigLevel } from "../../core/notation/config/config-keys.ts";
import type { Reading, RealRoot } from "../../core/notation/reading.ts";
import type { Source } from "../../core/notation/source.ts";
import type { Roots } from "../../core/ports/trust.ts";
import type { Agent } from "./agent.ts";
import { type ConfigRead, type Levels, levelsOf } from "./hoist-levels.ts";

/** Parsers of agents and configurations. They need readers of YAML, TOML and JSON, which this room does not import. */
export interface Readers {
  config(source: Source, level: ConfigLevel, reading: Reading): Config;
  agent(source: Source, name: string, reading: Reading): Agent;
  /** One agent of an org file. */
  member(source: Source, name: string, reading: Reading): Agent;
}

/** A config.yml as found; with a problem if it exists and cannot be read. */
export interface ConfigText {
  readonly source: Source;
  readonly problem: string | null;
}

export interface MomentParts {
  readonly readers: Readers;
  /** Relative to the workspace: `base` is its folder, `realRoot` follows symbolic links as they are now. */
  readonly reading: Reading;
  readonly user: ConfigRead | null;
}

/** A project's configuration at one moment, now or when it was trusted. */
export interface Moment {
  readonly levels: Levels;
  readonly reading: Reading;
  readonly config: ConfigRead | null;
  readonly configRoots: Roots;
  readonly seen: Map<string, string | null>;
}

/** Configuration and agent each use the symbolic links recorded when they were trusted, which may be two moments. */
export function momentOf(
  { readers, reading, user }: MomentParts,
  text: ConfigText | null,
  configReal: RealRoot,
  agentReal: RealRoot,
): Moment {
  const seen = new Map<string, string | null>();
  const watched = (real: RealRoot): Reading => ({
    ...reading,
    realRoot: (root) => {
      const found = real(root);
      seen.set(pathText(root), found === null ? null : pathText(found));
      return found;
    },
  });
  const config = text === null ? null : readLevel(text, "project", watched(configReal), readers);
  const configRoots = [...seen];
  return { levels: levelsOf(user, config), reading: watched(agentReal), config, configRoots, seen };
}

export function readLevel(
  { source, problem }: ConfigText,
  level: ConfigLevel,
  reading: Reading,
  readers: Pick<Readers, "config">,
): ConfigRead {
  const config =
    problem === null ? readers.config(source, level, reading) : configUnreadable(level, source.name, problem);
  return { source, config };
}

export function asWritten(root: readonly string[]): readonly string[] {
  return root;
}

/** INVARIANT: a root that was not recorded when it was trusted resolves to nothing. */
export function recordedRootResolver(roots: Roots): RealRoot {
  const known = new Map(roots);
  return (root) => {
    const real = known.get(pathText(root)) ?? null;
    return real === null ? null : real.split("/").filter((name) => name !== "");
  };
}

export function sameRoots(left: Roots, right: Roots): boolean {
  const known = new Map(left);
  return (
    left.length === right.length && right.every(([written, real]) => known.has(written) && known.get(written) === real)
  );
}
