// The version of an agent client on this machine, as it says.
import { spawn } from "node:child_process";
import { connectionOf } from "../clients/connect/connections.ts";

const versionMillisecondsMax = 10_000;

/** What the first of these programs that starts says about itself. Not in the project, whose files it could read. */
export async function clientVersion(
  client: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  for (const program of connectionOf(client)?.programs ?? []) {
    const child = spawn(program, ["--version"], {
      ...{ cwd: "/", env: environment, timeout: versionMillisecondsMax, stdio: ["ignore", "pipe", "ignore"] },
    });
    let out = "";
    child.stdout?.on("data", (part: Buffer) => {
      out += part;
    });
    const status = await new Promise<number | null>((over) => {
      child.on("error", () => over(null));
      child.on("close", over);
    });
    const version = status === 0 ? /\d+\.\d+(?:\.\d+)?/.exec(out)?.[0] : undefined;
    if (version !== undefined) return version;
  }
  return null;
}
