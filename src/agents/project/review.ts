// A whole project beside what a person trusted of it: every text, every agent, and where it stands.
import { alikeAgentId } from "../../core/base/agent-id.ts";
import type { Source } from "../../core/notation/source.ts";
import type { Digest } from "../../core/ports/digest.ts";
import type { AuthorityFile, TrustedFile, TrustStore } from "../../core/ports/trust.ts";
import type { Agent } from "./agent.ts";
import { agentNameOf, CONFIG_PATH, type Project, type ProjectAgent, refusedFor } from "./project.ts";
import { shownGrants } from "./shown-grants.ts";
import { authorityDigest } from "./trust.ts";

export interface ReviewedAgent extends ProjectAgent {
  readonly source: Source;
}

export type TrustState = "own" | "untrusted" | "trusted" | "changed";

export interface Review {
  readonly state: TrustState;
  readonly digest: string;
  /** As they stand; agents by the order of their paths. */
  readonly agents: readonly ReviewedAgent[];
  /** As they were trusted, those whose file is gone included. */
  readonly before: readonly { readonly agent: Agent; readonly source: Source }[];
  readonly files: readonly { readonly path: string; readonly change: "added" | "changed" | "removed" | "same" }[];
  /** What is to be kept if a person trusts it now: exactly the texts that were looked at. */
  readonly toTrust: readonly TrustedFile[];
}

/** `store` is null where nobody but the user could have written the project. */
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
    const source = { name: path, text };
    return { path, text, source, agent: name === null ? null : project.agent(source, name, path) };
  });
  const ids = read.flatMap(({ agent }) => (agent === null ? [] : [agent.own.id]));
  for (const { path, text, source, agent: found } of read) {
    const agent = found === null ? null : toldApart(found, source, ids);
    if (agent !== null) agents.push({ ...agent, source });
    // A text that grants nothing for its mistakes shows nothing; were it trusted, it could grant unseen another day.
    if (agent?.own.refused === true) continue;
    const roots = path === CONFIG_PATH ? project.configRoots : (agent?.roots ?? []);
    const kept = { path, text, roots, digest: digest(text), config: path === CONFIG_PATH ? null : configDigest };
    toTrust.push(agent === null ? kept : { ...kept, shown: shownGrants(agent.own) });
  }
  const known = store?.exists === true ? store.paths() : [];
  const before = known.flatMap((path) => {
    const name = agentNameOf(path);
    const was = name === null ? null : project.trusted(path, name, path);
    return was === null ? [] : [was];
  });
  const whole = authorityDigest(files, digest);
  const same =
    store?.digest === whole && agents.every(({ own, standing }) => own.refused || standing.kind === "trusted");
  const state = store === null ? "own" : !store.exists ? "untrusted" : same ? "trusted" : "changed";
  return { state, digest: whole, agents, before, files: changes(files, known, store), toTrust };
}

/** Of two ids that a person cannot tell apart neither is trusted. */
function toldApart(agent: ProjectAgent, source: Source, ids: readonly string[]): ProjectAgent {
  const other = alikeAgentId(agent.own.id, ids);
  if (other === null) return agent;
  const own = refusedFor(agent.own, source, `${JSON.stringify(agent.own.id)} reads like ${JSON.stringify(other)}`);
  return { ...agent, own, written: own, agent: own };
}

/**
 * What is to be kept after a person changed an agent through us, so that they need not trust their own edit. Null where
 * that would trust more than the edit: the text before it, or the configuration around it, waits for trust itself.
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
  const kind = before === null ? "trusted" : project.agent(before, name, path).standing.kind;
  const { own, roots } = project.agent(after, name, path);
  if ((kind !== "trusted" && kind !== "narrowed") || own.refused) return null;
  const config = project.config === null ? null : digest(project.config.source.text);
  return { path, text: after.text, roots, digest: digest(after.text), config, shown: shownGrants(own) };
}

function changes(files: readonly AuthorityFile[], known: readonly string[], store: TrustStore | null): Review["files"] {
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
