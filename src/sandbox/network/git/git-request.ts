// Requests of git to the broker's own address: `/HOST/REPOSITORY/info/refs?service=...` and `/HOST/REPOSITORY/git-...-pack`.
// Nothing else passes: other paths of a forge are an API that the credential would open as well.

export const GIT_SERVICES = ["git-upload-pack", "git-receive-pack"] as const;
export type GitService = (typeof GIT_SERVICES)[number];

export interface GitRequest {
  readonly host: string;
  /** Without a slash at its start. */
  readonly repository: string;
  readonly service: GitService;
  /** The list of refs, which has no body; false: the exchange itself. */
  readonly isListing: boolean;
  /** Path and query at the host. */
  readonly path: string;
}

const targetCharactersMax = 2_048;
const HOST = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
/** No escape but a blank's, and no segment of dots: what they mean depends on the server that reads them. */
const SEGMENT = /^(?!\.{1,2}$)(?:[A-Za-z0-9._~+@,-]|%20)+$/;

/** Whether the relay can serve it: an exact name. */
export function isGitHost(host: string): boolean {
  return host.length <= 253 && HOST.test(host);
}

/** Null for anything but git's smart protocol. */
export function gitRequest(method: string, target: string): GitRequest | null {
  if (target.length > targetCharactersMax || !target.startsWith("/")) return null;
  const [path = "", query, ...rest] = target.slice(1).split("?");
  if (rest.length > 0) return null;
  const [host = "", ...segments] = path.split("/");
  if (!isGitHost(host) || !segments.every((one) => SEGMENT.test(one))) return null;
  const found = method === "GET" ? listingOf(segments, query) : exchangeOf(method, segments, query);
  if (found === null || found.repository === "") return null;
  return { host, ...found, path: target.slice(host.length + 1) };
}

type ServiceRequest = Pick<GitRequest, "repository" | "service" | "isListing">;

function listingOf(segments: readonly string[], query: string | undefined): ServiceRequest | null {
  const service = GIT_SERVICES.find((one) => query === `service=${one}`);
  if (service === undefined || segments.at(-1) !== "refs" || segments.at(-2) !== "info") return null;
  return { repository: segments.slice(0, -2).join("/"), service, isListing: true };
}

function exchangeOf(method: string, segments: readonly string[], query: string | undefined): ServiceRequest | null {
  const service = GIT_SERVICES.find((one) => segments.at(-1) === one);
  if (method !== "POST" || service === undefined || query !== undefined) return null;
  return { repository: segments.slice(0, -1).join("/"), service, isListing: false };
}
