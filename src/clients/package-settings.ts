// What of the person's package managers every client gets: which registries they ask and whom they trust, never a credential.

import { credentialInSetting } from "./credential-patterns.ts";
import type { ClientSetting } from "./profile.ts";

export const PACKAGE_SETTINGS: readonly ClientSetting[] = [
  { kind: "lines", path: ".npmrc", authorities: "cafile" },
  { kind: "lines", path: ".config/pip/pip.conf", authorities: "cert" },
  { kind: "lines", path: ".pip/pip.conf", authorities: "cert" },
  { kind: "lines", path: ".config/go/env" },
  { kind: "toml", path: ".config/uv/uv.toml", only: null, without: [], set: {} },
  // Its other keys name programs and folders of the person's home.
  {
    kind: "toml",
    path: ".cargo/config.toml",
    only: ["source", "registries", "registry", "net", "http"],
    without: [],
    set: {},
  },
];

/** Variables that name a registry. */
export const REGISTRY_VARIABLES: readonly string[] = [
  ...["npm_config_registry", "NPM_CONFIG_REGISTRY", "COREPACK_NPM_REGISTRY", "YARN_NPM_REGISTRY_SERVER"],
  ...["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX"],
  ...["GOPROXY", "GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GOSUMDB"],
];

const valueCharactersMax = 2048;

export interface RegistryVariables {
  readonly variables: readonly (readonly [name: string, value: string])[];
  /** For a person: what is not passed on. */
  readonly notes: readonly string[];
}

export function registryVariables(environment: Readonly<Record<string, string | undefined>>): RegistryVariables {
  const variables: (readonly [string, string])[] = [];
  const notes: string[] = [];
  for (const name of REGISTRY_VARIABLES) {
    const value = environment[name];
    if (value === undefined || value === "") continue;
    const isSecret = credentialInSetting(value) || /:\/\/[^/\s,|]*@/.test(value);
    if (isSecret) notes.push(`${name} is not passed on: it contains a credential`);
    else if (value.length > valueCharactersMax || !/^[\x20-\x7e]+$/.test(value))
      notes.push(`${name} is not passed on: it is not one line of printable characters`);
    else variables.push([name, value]);
  }
  return { variables, notes };
}
