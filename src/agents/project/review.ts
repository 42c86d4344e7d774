// A whole project compared with its trusted version: every text, every agent, and its trust state.
import { alikeAgentId } from "../../core/base/agent-id.ts";
import type { Source } from "../../core/notation/source.ts";
import type { Digest } from "../../core/ports/digest.ts";
import type { AuthorityFile, TrustedFile, TrustStore } from "../../core/ports/trust.ts";
import type { Agent } from "./agent.ts";
import {
  agentNameOf,
  CONFIG_PATH,
  filePathOf,
  isMemberPath,
  type Project,
  type ProjectAgent,
  refusedFor,
} from "./project.ts";
import { shownGrants } from "./reviewed-grants.ts";
import { authorityDigest } from "./trust.ts";

export interface ReviewedAgent extends ProjectAgent {
  readonly source: Source;
}

export type TrustState = "own" | "untrusted" | "trusted" | "changed";

export interface Review {
  readonly state: TrustState;
  readonly digest: string;
  /** The current agents, in the order of their paths. */
  readonly agents: readonly ReviewedAgent[];
  /** The trusted versions, including those whose file is gone. */
  readonly before: readonly { readonly agent: Agent; readonly source: Source }[];
  readonly files: readonly { readonly path: string; readonly change: "added" | "changed" | "removed" | "same" }[];
  /** What to store if the user trusts the project now: exactly the reviewed texts. */
  readonly toTrust: readonly TrustedFile[];
}

/** `store` is null if only the user could have written the project. */
export function reviewOf(
  project: Project,
  files: readonly AuthorityFile[],
  store: TrustStore | null,
  digest: Digest,
  step: (done: number, total: number) => void = () => {},
): Review {
  const configDigest = project.config === null ? null : digest(project.config.source.text);
  const agents: ReviewedAgent[] = [];
  const toTrust: TrustedFile[] = [];
  const read = files.map(({ path, text }, at) => {
    step(at, files.length);
    const name = agentNameOf(path);
    const source = { name: filePathOf(path), text };
    return { path, text, source, agent: name === null ? null : project.agent(source, name, path) };
  });
  const ids = read.flatMap(({ agent }) => (agent === null ? [] : [agent.own.id]));
  for (const { path, text, source, agent: found } of read) {
    const agent = found === null ? null : toldApart(found, source, ids);
    if (agent !== null) agents.push({ ...agent, source });
    // A refused text shows no grants; if it were trusted, it could later grant something that was never reviewed.
    if (agent?.own.refused === true) continue;
    const roots = path === CONFIG_PATH ? project.configRoots : (agent?.roots ?? []);
    const kept = { path, text, roots, digest: digest(text), config: path === CONFIG_PATH ? null : configDigest };
    toTrust.push(agent === null ? kept : { ...kept, shown: shownGrants(agent.own) });
  }
  const known = store?.exists === true ? store.paths() : [];
  const before = known.flatMap((path) => {
    const name = agentNameOf(path);
    const was = name === null ? null : project.trusted(path, name, filePathOf(path));
    return was === null ? [] : [was];
  });
  const whole = authorityDigest(files, digest);
  const changed = changes(files, known, store);
  // A person's own edit through ambit is kept file by file, and leaves the digest of the whole as it was.
  const isSameText = store?.digest === whole || changed.every(({ change }) => change === "same");
  const same = isSameText && agents.every(({ own, status }) => own.refused || status.kind === "trusted");
  const state = store === null ? "own" : !store.exists ? "untrusted" : same ? "trusted" : "changed";
  return { state, digest: whole, agents, before, files: changed, toTrust };
}

/** Of two ids that look alike, neither is trusted. */
function toldApart(agent: ProjectAgent, source: Source, ids: readonly string[]): ProjectAgent {
  const other = alikeAgentId(agent.own.id, ids);
  if (other === null) return agent;
  const own = refusedFor(agent.own, source, `${JSON.stringify(agent.own.id)} looks like ${JSON.stringify(other)}`);
  return { ...agent, own, written: own, agent: own };
}

/**
 * What to store after a user changed an agent through ambit, so that the edit needs no second review. Null if that
 * would trust more than the edit: the text before it, or the configuration around it, is not trusted itself.
 */
export function trustedEdit(
  project: Project,
  path: string,
  before: Source | null,
  after: Source,
  digest: Digest,
): TrustedFile | null {
  const name = agentNameOf(path);
  if (name === null || !project.isConfigAsTrusted) return null;
  const kind = before === null ? "trusted" : project.agent(before, name, path).status.kind;
  const { own, roots } = project.agent(after, name, path);
  if ((kind !== "trusted" && kind !== "narrowed") || own.refused) return null;
  const config = project.config === null ? null : digest(project.config.source.text);
  return { path, text: after.text, roots, digest: digest(after.text), config, shown: shownGrants(own) };
}

/** An org file is listed once, not for each of its agents. */
function changes(all: readonly AuthorityFile[], paths: readonly string[], store: TrustStore | null): Review["files"] {
  const files = all.filter(({ path }) => !isMemberPath(path));
  const known = paths.filter((path) => !isMemberPath(path));
  const here = new Set(files.map(({ path }) => path));
  const gone = known.filter((path) => !here.has(path)).sort();
  return [
    ...files.map(({ path, text }) => {
      const was = store?.exists === true ? store.file(path) : null;
      return {
        path,
        change: was === null ? ("added" as const) : was.text === text ? ("same" as const) : ("changed" as const),
      };
    }),
    ...gone.map((path) => ({ path, change: "removed" as const })),
  ];
}
