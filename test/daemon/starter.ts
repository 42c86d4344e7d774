// One of many concurrent clients of the daemon: connects, prints which daemon it found, and stays until told to exit.

import type { Answer } from "../../src/core/ports/daemon/exchange.ts";
import { connect } from "../../src/daemon/rpc/client.ts";
import { makeDaemonFolder } from "../../src/daemon/rpc/folder.ts";
import { connectStarting } from "../../src/platform/daemon/daemon-start.ts";

interface Echo {
  ask(name: string, value: object): Promise<Answer<{ readonly daemon: number }>>;
  close(): void;
}

async function main([state, home, bundle, native]: readonly string[]): Promise<void> {
  const found = await connectStarting<Echo>({
    state: state ?? "",
    home: home ?? "",
    bundle: bundle ?? "",
    native: native ?? "",
    idleSeconds: 60,
    isByName: false,
    connect: (folder) => connect("call", { folder, version: "starter" }) as Promise<Answer<Echo>>,
    makeFolder: makeDaemonFolder,
  });
  const who = found.ok ? await found.value.ask("who", {}) : found;
  process.stdout.write(`${who.ok ? who.value.daemon : `${who.code}: ${who.message}`}\n`);
  process.stdin.on("data", () => undefined).on("end", () => process.exit(0));
}

void main(process.argv.slice(2));
