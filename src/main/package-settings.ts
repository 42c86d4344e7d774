// Which registries the person's own package managers ask: npm's settings as a file, pip's by asking pip.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ServersPorts } from "../cli/mcp/ports.ts";
import { readTextFile } from "../platform/files.ts";
import { sourceCharactersMax } from "../text/read.ts";

const pipMilliseconds = 20_000;
const pipBytesMax = 1_048_576;
/** pip breaks its help at the width of the terminal. */
const helpColumns = "4096";

export function packageSettings(
  home: string | null,
  environment: Readonly<Record<string, string | undefined>>,
): Pick<ServersPorts, "npmSettings" | "pipSettings"> {
  /** Undefined where it cannot be read. */
  const text = (path: string): string | null | undefined => {
    const file = readTextFile(path, sourceCharactersMax);
    return file.ok ? file.text : file.code === "not_found" ? null : undefined;
  };
  return {
    npmSettings: () => ({ environment, settings: home === null ? null : text(join(home, ".npmrc")) }),
    pipSettings: async () => {
      const config = environment["XDG_CONFIG_HOME"] ?? (home === null ? null : join(home, ".config"));
      return {
        environment,
        uvSettings: config === null ? null : text(join(config, "uv", "uv.toml")),
        pip: await pipSays(environment),
      };
    },
  };
}

/** The person's own pip, with their environment. Not in the project's folder: Python would load a `pip.py` from there. */
async function pipSays(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly help: string; readonly settings: string } | null> {
  const run = async (...words: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)("python3", ["-m", "pip", ...words], {
      ...{ cwd: "/", timeout: pipMilliseconds, maxBuffer: pipBytesMax, encoding: "utf8" },
      env: { ...environment, COLUMNS: helpColumns },
    });
    return stdout;
  };
  try {
    const [help, settings] = await Promise.all([run("download", "--help"), run("config", "list")]);
    return { help, settings };
  } catch {
    return null;
  }
}
