// The daemon's process from its arguments to its end: nothing inherited from the process that started it, the state's lock,
// two sockets.
import { dirname, join } from "node:path";
import { VERSION } from "../core/base/version.ts";
import type { Refusal } from "../core/ports/daemon/exchange.ts";
import { announce } from "../daemon/rpc/announcement.ts";
import { type DaemonArguments, readDaemonArguments } from "../daemon/rpc/daemon-arguments.ts";
import { openDaemonFolder } from "../daemon/rpc/folder.ts";
import { startLife } from "../daemon/rpc/life.ts";
import { serveSockets } from "../daemon/rpc/serve.ts";
import { daemonLog } from "../platform/daemon/daemon-log.ts";
import { readPeer } from "../platform/daemon/peers.ts";
import { takeStateLock } from "../platform/daemon/state-lock.ts";
import { nativeProgram } from "../platform/native-program.ts";
import { homeFolder } from "../platform/path-settings.ts";
import { composeDaemon } from "./daemon.ts";

process.title = "ambit-daemon";
process.umask(0o077);
process.chdir("/");
/** Of a user id that the password database does not know it is in the environment; programs of the daemon get none of that. */
const home = homeFolder();
for (const name of Object.keys(process.env)) delete process.env[name];
process.env["PATH"] = "/usr/bin:/bin";

const words = readDaemonArguments(process.argv.slice(2));
if (words === null) process.exit(2);
else void main(words, dirname(__dirname));

async function main({ state, idleSeconds }: DaemonArguments, program: string): Promise<void> {
  const folder = openDaemonFolder(join(state, "daemon"));
  if (!folder.ok) return refuse(folder);
  const native = nativeProgram(program);
  const log = daemonLog(folder.value.path);
  const lock = takeStateLock({ path: folder.value.within("owner.lock"), native });
  if (!lock.ok) return refuse(lock);
  const refuseToServe = (refusal: Refusal): void => {
    log(`not started: ${refusal.message}`);
    refuse(refusal);
  };
  let end: () => void = () => undefined;
  let connections = (): number => 0;
  const composed = await composeDaemon({
    state,
    home,
    program,
    connections: () => connections(),
    stop: () => end(),
    log,
  });
  if (!composed.ok) return refuseToServe(composed);
  const { daemon, close } = composed.value;
  const serving = await serveSockets({
    folder: folder.value,
    handlers: daemon.handlers,
    native,
    version: VERSION,
    look: readPeer,
    log,
  });
  if (!serving.ok) {
    await close();
    return refuseToServe(serving);
  }
  connections = () => serving.value.connections;
  const life = startLife({
    serving: serving.value,
    folder: folder.value,
    idleSeconds,
    isBusy: () => daemon.isBusy,
    close,
    log,
  });
  // After the response has been sent, so that the client receives it.
  end = () => setTimeout(() => life.end("a client requested it"), 20);
  announce({ ok: true, value: null });
}

function refuse(refusal: Refusal): void {
  announce(refusal);
  process.exit(1);
}
