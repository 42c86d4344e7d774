// A project's agents in effect: each text read inside its levels and compared with its trusted version.
import { parseAgentId } from "../../core/base/agent-id.ts";
import type { Diagnostic } from "../../core/notation/diagnostic.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { Source } from "../../core/notation/source.ts";
import type { Roots, TrustedFile, TrustReader } from "../../core/ports/trust.ts";
import { type Agent, agentRefused } from "./agent.ts";
import { type ConfigRead, type Levels, readingUnder, unlessBroken, withLimits } from "./hoist-levels.ts";
import {
  asWritten,
  type ConfigText,
  type Moment,
  type MomentParts,
  momentOf,
  recordedRootResolver,
  sameRoots,
} from "./project-moment.ts";
import { asReviewed, isAsReviewed } from "./reviewed-grants.ts";
import { type AgentTrust, changedAgent, untrustedAgent } from "./trust.ts";

export interface ProjectParts extends MomentParts {
  /** The project's current configuration; null if there is none. */
  readonly config: ConfigText | null;
  /** Null: only the user could have written here. */
  readonly trusted: TrustReader | null;
}

export const CONFIG_PATH = ".ambit/config.yml";
const AGENTS_PATH = ".ambit/agents/";

/** The path of one agent of an org file. */
export function memberPath(path: string, id: string): string {
  return `${path}#${id}`;
}

const MEMBER = /^\.ambit\/org\.(?:md|yml)#(.+)$/s;

/** Whether a path is that of one agent of an org file. */
export function isMemberPath(path: string): boolean {
  return MEMBER.test(path);
}

/** The file that a path names: for an agent of an org file, the org file. */
export function filePathOf(path: string): string {
  return isMemberPath(path) ? path.slice(0, path.indexOf("#")) : path;
}

/** The id of an agent's file, from its path inside the workspace; null for a file that is not an agent's. */
export function agentNameOf(path: string): string | null {
  const member = MEMBER.exec(path)?.[1];
  if (member !== undefined) return member;
  return path.startsWith(AGENTS_PATH) ? path.slice(AGENTS_PATH.length).replace(/\.[^./]*$/, "") : null;
}

export interface ProjectAgent extends AgentTrust {
  /** The text by itself without limits, for comparison with another text. */
  readonly own: Agent;
  /** What its meaning depends on besides its text; stored when it is trusted. */
  readonly roots: Roots;
}

export class Project {
  readonly #parts: ProjectParts;
  readonly #now: Moment;

  constructor(parts: ProjectParts) {
    this.#parts = parts;
    const { realRoot = asWritten } = parts.reading;
    this.#now = momentOf(parts, parts.config, realRoot, realRoot);
  }

  get levels(): Levels {
    return this.#now.levels;
  }

  get config(): ConfigRead | null {
    return this.#now.config;
  }

  /** The roots that the configuration was read with. */
  get configRoots(): Roots {
    return this.#now.configRoots;
  }

  /** Whether the configuration is the trusted one, with the same symbolic links. */
  get isConfigAsTrusted(): boolean {
    const config = this.#parts.trusted?.file(CONFIG_PATH) ?? null;
    const isSameText = (config?.text ?? null) === (this.#parts.config?.source.text ?? null);
    return isSameText && sameRoots(config?.roots ?? [], this.configRoots);
  }

  /** INVARIANT: a requirement of the trusted configuration holds until one without it is trusted. */
  get isUserRequired(): boolean {
    if (this.#isUserRequiredAt(this.#now)) return true;
    const { trusted } = this.#parts;
    const config = trusted?.exists === true ? trusted.file(CONFIG_PATH) : null;
    if (config === null || this.isConfigAsTrusted) return false;
    return this.#isUserRequiredAt(this.#trustedMoment(config, config.roots));
  }

  /** The reading for an agent of the project, now. */
  readingOf(name: string): Reading {
    return readingUnder(this.#now.levels, this.#now.reading, name);
  }

  /** A file that the user named: read inside the levels, without need of trust. */
  given(source: Source, name: string): AgentTrust {
    const { agent: read } = this.#read(this.#now, source, name, null);
    // A file name is accepted as the id; an id written in the text must follow the rules of ids.
    const agent = withLimits(this.levels, read.id === name ? read : namedWell(read, source));
    return { status: { kind: "own" }, written: agent, agent };
  }

  /** An agent of the project, from the file at `path` inside the workspace. */
  agent(source: Source, name: string, path: string): ProjectAgent {
    const { agent: read, roots } = this.#read(this.#now, source, name, path);
    const own = namedWell(read, source);
    const { status, agent } = this.#trustOf(source, name, path, own, roots);
    // Compared without the levels' limits, then limited by them: today's limits are not part of the change.
    return { status, own, roots, written: withLimits(this.levels, own), agent: withLimits(this.levels, agent) };
  }

  /** The trusted version of the agent by itself; null if the text was not trusted, or not with its configuration. */
  trusted(path: string, name: string, shown: string): { readonly agent: Agent; readonly source: Source } | null {
    const file = this.#parts.trusted?.file(path) ?? null;
    const config = this.#parts.trusted?.file(CONFIG_PATH) ?? null;
    // Texts that were not trusted together are not combined.
    if (file === null || file.config !== (config?.digest ?? null)) return null;
    // Keeps the extension, because it determines the notation.
    const source = { name: `trusted:${shown}`, text: file.text };
    const moment = this.#trustedMoment(config, file.roots);
    const { agent } = this.#read(moment, source, name, path);
    return { agent: file.shown === undefined ? agent : asReviewed(agent, file.shown, this.#parts.reading), source };
  }

  #trustedMoment(config: TrustedFile | null, roots: Roots): Moment {
    const was = { name: `trusted:${CONFIG_PATH}`, text: config?.text ?? "" };
    const before = config === null ? null : { source: was, problem: null };
    return momentOf(this.#parts, before, recordedRootResolver(config?.roots ?? []), recordedRootResolver(roots));
  }

  #trustOf(source: Source, name: string, path: string, written: Agent, roots: Roots): AgentTrust {
    const { trusted, reading } = this.#parts;
    if (trusted === null) return { status: { kind: "own" }, written, agent: written };
    if (!trusted.exists) return untrustedAgent(written);
    const shown = trusted.file(path)?.shown;
    if (
      this.#isAsTrusted(trusted, source, path, roots) &&
      (shown === undefined || written.refused || isAsReviewed(written, shown))
    )
      return { status: { kind: "trusted" }, written, agent: written };
    const was = this.trusted(path, name, source.name)?.agent ?? null;
    return changedAgent(written, was, reading.pathSettings.protectedPaths);
  }

  /** The same texts with the same symbolic links: no comparison of authority is needed. */
  #isAsTrusted(trusted: TrustReader, source: Source, path: string, roots: Roots): boolean {
    const file = trusted.file(path);
    const config = trusted.file(CONFIG_PATH);
    return (
      file !== null &&
      file.text === source.text &&
      file.config === (config?.digest ?? null) &&
      sameRoots(file.roots, roots) &&
      this.isConfigAsTrusted
    );
  }

  /** `path`: inside the workspace. */
  #read(
    moment: Moment,
    source: Source,
    name: string,
    path: string | null,
  ): { readonly agent: Agent; readonly roots: Roots } {
    moment.seen.clear();
    const isOfProject = path !== null && agentNameOf(path) === name;
    const reading = readingUnder(moment.levels, moment.reading, name);
    const { readers } = this.#parts;
    const agent =
      path !== null && isMemberPath(path)
        ? readers.member(source, name, reading)
        : readers.agent(source, name, isOfProject ? { ...reading, fileId: name } : reading);
    const around = [moment.config, this.#parts.user].flatMap((level) => (level === null ? [] : [level.source]));
    const read = {
      ...unlessBroken(moment.levels, agent),
      around,
      isUserRequired: this.#isUserRequiredAt(moment),
      needsReview: agent.needsReview || this.#needsReviewAt(moment),
    };
    return { agent: read, roots: [...moment.seen] };
  }

  /** `land: ask` of any level applies to every agent. */
  #needsReviewAt({ config }: Moment): boolean {
    return [config, this.#parts.user].some((level) => level?.config.land === "ask");
  }

  /** A level that cannot be read grants nothing to any user, so it need not require a record. */
  #isUserRequiredAt({ config }: Moment): boolean {
    const isRequired = (level: ConfigRead | null): boolean => level?.config.users === "required";
    return isRequired(config) || isRequired(this.#parts.user);
  }
}

/** An id that looks like another one gets no grants. */
function namedWell(agent: Agent, source: Source): Agent {
  const id = parseAgentId(agent.id);
  return id.ok ? agent : refusedFor(agent, source, id.message);
}

/** An agent is called as its file, so no line of the file helps. */
const RENAME = "rename the file, such as to scout.md";

export function refusedFor(agent: Agent, { name, text }: Source, message: string): Agent {
  const span = { source: name, start: 0, end: Math.max(0, text.indexOf("\n")) };
  const fault: Diagnostic = { severity: "error", code: "bad_value", message, span, suggestion: null, fix: RENAME };
  const { around, tests } = agent;
  return { ...agentRefused(agent.id, agent.form, [fault, ...agent.diagnostics]), around, tests };
}
