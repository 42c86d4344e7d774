// The index that a person's pip asks, from an option or from what pip itself says about its settings. No address is written here:
// the default is pip's own.
import type { RegistryChoice } from "./npm-registry.ts";
import { checkedRegistry } from "./npm-registry.ts";

export interface IndexSources {
  /** As the command line says. */
  readonly option: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The text of the user's own `uv.toml`; null where there is none, undefined where it cannot be read. */
  readonly uvSettings: string | null | undefined;
  /** `pip download --help`, whose defaults are those in effect, and `pip config list`; null: pip does not run. */
  readonly pip: { readonly help: string; readonly settings: string } | null;
}

const FIX = "choose the index for all of them: --registry https://…";
const UV_VARIABLES = ["UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"];
const UV_SETTING = /^\s*(?:\[\[index\]\]|(?:index|index-url|extra-index-url|find-links|no-index)\s*=)/m;
/** A setting of one command alone, or a place beside the index. The same name there can be another person's package. */
const PIP_SETTING = /^(\S*\.(?:extra-index-url|find-links|no-index)|install\.index-url)=/m;

export function pipIndex({ option, environment, uvSettings, pip }: IndexSources): RegistryChoice {
  if (option !== null) return checkedRegistry(option, FIX);
  const variable = UV_VARIABLES.find((name) => (environment[name] ?? "") !== "");
  if (variable !== undefined) return elsewhere(`your variable ${variable} names an index for uv`);
  if (uvSettings === undefined) return { ok: false, message: "your uv.toml cannot be read", fix: FIX };
  if (uvSettings !== null && UV_SETTING.test(uvSettings)) return elsewhere("your uv.toml names an index for uv");
  if (pip === null)
    return {
      ok: false,
      message: "pip does not run here, which fetches packages of Python",
      fix: "sudo apt install python3-pip, and try again",
    };
  const setting = PIP_SETTING.exec(pip.settings)?.[1];
  if (setting !== undefined)
    return elsewhere(`your pip has ${setting.replace(/^:env:\./, "").replace(/^global\./, "")}`);
  const index = /--index-url <url>.*?\(default:? (\S+)\)/s.exec(pip.help)?.[1];
  return index === undefined
    ? { ok: false, message: "pip does not say which index it asks", fix: FIX }
    : checkedRegistry(index, FIX);
}

function elsewhere(why: string): RegistryChoice {
  return { ok: false, message: `${why}: packages may be at several places, and ambit asks one index`, fix: FIX };
}
