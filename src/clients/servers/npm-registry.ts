// The registry that a person's npm asks, from an option, a variable or their own .npmrc. A project's .npmrc does not count: it
// would choose where code of the person's own servers comes from.

export interface RegistrySources {
  /** As the command line says. */
  readonly option: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The text of `~/.npmrc`; null where there is none, undefined where it cannot be read. */
  readonly settings: string | null | undefined;
}

export type RegistryChoice =
  | { readonly ok: true; readonly registry: string }
  | { readonly ok: false; readonly message: string; readonly fix: string };

const DEFAULT = "https://registry.npmjs.org/";
const FIX = "--registry https://registry.npmjs.org/";

export function npmRegistry(name: string, { option, environment, settings }: RegistrySources): RegistryChoice {
  if (option !== null) return checkedRegistry(option, FIX);
  // It may name another registry for this package.
  if (settings === undefined) return { ok: false, message: "your .npmrc cannot be parsed", fix: FIX };
  const lines = new Map(
    (settings ?? "").split(/\r?\n/).flatMap((line): readonly (readonly [string, string])[] => {
      const [, key, value] = /^\s*([^=;#\s]+)\s*=\s*"?(.*?)"?\s*$/.exec(line) ?? [];
      return key === undefined || value === undefined ? [] : [[key, value]];
    }),
  );
  const [scope] = name.startsWith("@") ? name.split("/") : [null];
  // The same name on another registry can be another person's package.
  const ofScope = scope === null ? undefined : lines.get(`${scope}:registry`);
  if (ofScope !== undefined)
    return {
      ok: false,
      message: `your .npmrc has a registry of its own for ${scope}, and its packages may need others from elsewhere`,
      fix: `choose the registry for all of them: --registry ${ofScope}`,
    };
  const variable = environment["npm_config_registry"] ?? environment["NPM_CONFIG_REGISTRY"];
  const found = [variable, lines.get("registry")].find((one) => one !== undefined && one !== "");
  return checkedRegistry(found ?? DEFAULT, FIX);
}

/** An address alone; a credential in it would stand in the log. */
export function checkedRegistry(registry: string, fix: string): RegistryChoice {
  const isPlain = /^https?:\/\/[^\s/@?#$]+(?:\/[^\s@?#$]*)?$/.test(registry);
  if (isPlain) return { ok: true, registry: registry.endsWith("/") ? registry : `${registry}/` };
  return { ok: false, message: "the registry must be a plain URL without a credential", fix };
}
