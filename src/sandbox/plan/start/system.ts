// What a sandbox sees of the machine itself: programs and libraries, and the few files of /etc they need.
import type { PlanPath } from "../plan.ts";

/** Facts about the machine, read once outside. */
export interface SystemFacts {
  readonly architecture: Architecture;
  readonly user: UserFacts;
  /** The host path of `ambit-native`. */
  readonly program: PlanPath;
  /** The folders of programs and libraries directly below `/`. */
  readonly top: readonly TopFolder[];
  /** The names in /etc. */
  readonly etc: readonly string[];
  /** A container's engine forbids host names: programs see the container's own. */
  readonly keepsHostname?: boolean;
}

export type Architecture = "x86-64" | "arm64";

export interface UserFacts {
  readonly name: string;
  readonly user: number;
  readonly group: number;
}

export interface TopFolder {
  readonly name: string;
  /** The link's target ("usr/bin"); null for a real folder. */
  readonly link: string | null;
}

/** The names directly below `/` that hold programs and libraries beside /usr. */
export const TOP_NAMES: readonly string[] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/** Only links into /usr are repeated: another target would expose something else. */
export function topLinks({ top }: SystemFacts): readonly (TopFolder & { readonly link: string })[] {
  return top.filter(
    (one): one is TopFolder & { readonly link: string } =>
      TOP_NAMES.includes(one.name) && one.link !== null && /^\/?usr\/[a-z0-9]+$/.test(one.link),
  );
}

/** Readable and executable folders: /usr, and the real folders beside it. */
export function programTrees({ top }: SystemFacts): readonly PlanPath[] {
  const folders = top.filter(({ name, link }) => TOP_NAMES.includes(name) && link === null);
  return [["usr"], ...folders.map(({ name }) => [name])];
}

/**
 * Files and folders of /etc that programs need and that disclose nothing about this machine or its users. Absent on
 * purpose: /etc as a whole, hosts, passwd, resolv.conf and nsswitch.conf (ours instead), machine-id, and settings of
 * package managers, which often contain passwords.
 */
const ETC: readonly RegExp[] = [
  /^ld\.so\.(cache|conf|conf\.d)$/,
  /^(alternatives|crypto-policies|pki|fonts)$/,
  /^(localtime|mime\.types|services|protocols)$/,
  /^java(-\d+(-[a-z]+)?)?$/,
];

/** Below /etc, read-only. Of ssl only the public part, never the keys. */
export function etcTrees({ etc }: SystemFacts): readonly PlanPath[] {
  const names = etc.filter((name) => ETC.some((pattern) => pattern.test(name)));
  const ssl = etc.includes("ssl") ? ["certs", "openssl.cnf", "cert.pem"].map((name) => ["etc", "ssl", name]) : [];
  return [...names.map((name) => ["etc", name]), ...ssl];
}
