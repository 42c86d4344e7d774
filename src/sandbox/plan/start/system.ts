// What of the machine itself a sandbox sees: its programs and libraries, and the few files of /etc they need.
import type { PlanPath } from "../plan.ts";

/** What the machine is like, asked once outside. */
export interface SystemFacts {
  readonly architecture: Architecture;
  readonly user: UserFacts;
  /** Where `ambit-native` lies on the host. */
  readonly program: PlanPath;
  /** The folders of programs and libraries directly below `/`. */
  readonly top: readonly TopFolder[];
  /** The names in /etc. */
  readonly etc: readonly string[];
}

export type Architecture = "x86-64" | "arm64";

export interface UserFacts {
  readonly name: string;
  readonly user: number;
  readonly group: number;
}

export interface TopFolder {
  readonly name: string;
  /** Where the name leads, as the link says it ("usr/bin"); null for a folder of its own. */
  readonly link: string | null;
}

/** The names directly below `/` that hold programs and libraries beside /usr. */
export const TOP_NAMES: readonly string[] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/** Only what leads into /usr is a link we repeat: another target would be a name for something we did not mean. */
export function topLinks({ top }: SystemFacts): readonly (TopFolder & { readonly link: string })[] {
  return top.filter(
    (one): one is TopFolder & { readonly link: string } =>
      TOP_NAMES.includes(one.name) && one.link !== null && /^\/?usr\/[a-z0-9]+$/.test(one.link),
  );
}

/** Folders that are read and executed: /usr, and what is a folder of its own beside it. */
export function programTrees({ top }: SystemFacts): readonly PlanPath[] {
  const folders = top.filter(({ name, link }) => TOP_NAMES.includes(name) && link === null);
  return [["usr"], ...folders.map(({ name }) => [name])];
}

/**
 * Files and folders of /etc that programs cannot do without and that say nothing about this machine or its users.
 * Absent on purpose: /etc as a whole, hosts, passwd, resolv.conf and nsswitch.conf (ours instead), machine-id, and
 * settings of package managers, which like to hold passwords.
 */
const ETC: readonly RegExp[] = [
  /^ld\.so\.(cache|conf|conf\.d)$/,
  /^(alternatives|crypto-policies|pki|fonts)$/,
  /^(localtime|mime\.types|services|protocols)$/,
  /^java(-\d+(-[a-z]+)?)?$/,
];

/** Below /etc, read only. Of ssl only what is public: its keys stay where they are. */
export function etcTrees({ etc }: SystemFacts): readonly PlanPath[] {
  const names = etc.filter((name) => ETC.some((pattern) => pattern.test(name)));
  const ssl = etc.includes("ssl") ? ["certs", "openssl.cnf", "cert.pem"].map((name) => ["etc", "ssl", name]) : [];
  return [...names.map((name) => ["etc", name]), ...ssl];
}
