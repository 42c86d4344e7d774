// The way from a command to the daemon: connected where it serves, started where it does not.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AdmitWorld } from "../../cli/trust/admit.ts";
import type { DaemonWorld } from "../../cli/daemon/daemon.ts";
import { VERSION } from "../../core/base/version.ts";
import type { Door } from "./serving.ts";
import { connect } from "./client.ts";
import { makeDaemonFolder } from "./folder.ts";
import { idleSecondsDefault } from "./life.ts";
import { connectStarting, daemonFolder, notStarted } from "../../platform/daemon/daemon-start.ts";
import { awaitOwnerEnd, endOwner } from "../../platform/daemon/daemon-end.ts";
import { logTail } from "../../platform/daemon/daemon-log.ts";
import type { UserFolders } from "../../platform/folders.ts";
import { keepRefusedCall } from "../../platform/daemon/refused-calls.ts";
import type { CallMessages } from "../../core/ports/daemon/daemon-calls.ts";
import type { Answer, Asking, Refusal } from "../../core/ports/daemon/exchange.ts";
import type { CallAbout } from "../../core/ports/daemon/refused-call.ts";
import { configFolder, nameConfigFolder } from "../../platform/config-folder.ts";
import { nativeProgram } from "../../platform/native-program.ts";

export type DaemonWays = Pick<
  DaemonWorld,
  "control" | "running" | "unstarted" | "startDaemon" | "awaitDaemonEnd" | "endDaemon" | "daemonLog"
> &
  Pick<AdmitWorld, "admit"> & {
    /**
     * `lost` rings when the connection is gone and nobody of us closed it. `about`: the call it is for; where nobody serves, it
     * is handed over to the daemon that comes next.
     */
    call(lost?: () => void, about?: CallAbout): Promise<Answer<Asking<CallMessages>>>;
    /** A call was refused because nobody serves: the next daemon writes that down. */
    refused(about: CallAbout, refusal: Refusal): void;
  };

export interface DaemonClientAsked {
  readonly home: string | null;
  readonly folders: UserFolders;
  readonly program: string;
  /** By the user's own configuration. */
  isPresenceNeeded(): boolean;
}

export function daemonClient({ home, folders, program, isPresenceNeeded }: DaemonClientAsked): DaemonWays {
  const { state, config } = folders;
  if (state === null) return NOWHERE;
  const native = nativeProgram(program);
  const folder = daemonFolder(state);
  const starting = <D extends Door>(door: D, isByName: boolean, lost: () => void = () => undefined) =>
    connectStarting({
      state,
      home,
      bundle: join(program, "dist", "daemon.cjs"),
      native,
      idleSeconds: idleSecondsDefault,
      isByName,
      connect: (at) => connect(door, { folder: at, version: VERSION, onLost: lost }),
      makeFolder: (at) => {
        const made = makeDaemonFolder(at);
        if (made.ok && isByName) nameConfigFolder(state, config, home);
        return made;
      },
    });
  /** A daemon that reads another configuration would not hold what is written in ours. */
  const otherConfiguration = (): Refusal | null => {
    const known = configFolder(state, home);
    if (known === config) return null;
    if (existsSync(folder)) {
      const message = `the daemon of this state reads its configuration in ${known}, and you read yours in ${config}`;
      return { ok: false, code: "not_available", message, fix: "ambit daemon stop && ambit daemon start" };
    }
    // Where none starts by itself at all, it matters to nobody what it would read.
    const unstarted = notStarted({ state, home, isByName: false });
    if (unstarted !== null) return unstarted;
    const message = `a daemon that starts by itself reads its configuration in ${known}, and you read yours in ${config}`;
    return { ok: false, code: "not_available", message, fix: "ambit daemon start" };
  };
  const refused = (about: CallAbout, { message }: Refusal): void =>
    void keepRefusedCall(state, { ...about, at: Date.now(), reason: message });
  return {
    control: async () => otherConfiguration() ?? (await starting("control", false)),
    call: async (lost, about) => {
      let isLost = false;
      const connected =
        otherConfiguration() ??
        (await starting("call", false, () => {
          isLost = true;
          lost?.();
        }));
      if (!connected.ok && about !== undefined) refused(about, connected);
      return connected.ok ? { ok: true, value: handingOver(connected.value, () => isLost, refused) } : connected;
    },
    refused,
    unstarted: () => notStarted({ state, home, isByName: false }) ?? otherConfiguration(),
    startDaemon: async () => {
      const made = makeDaemonFolder(folder);
      if (!made.ok) return made;
      nameConfigFolder(state, config, home);
      return starting("control", true);
    },
    running: async () => {
      const connected = await connect("control", { folder, version: VERSION });
      if (!connected.ok) return connected.code === "not_available" ? { ok: true, value: null } : connected;
      const status = await connected.value.ask("daemon.status", {});
      connected.value.close();
      return status;
    },
    admit: async (asked) => {
      const served = await connect("control", { folder, version: VERSION });
      // Nobody serves: there is no session that this process could belong to.
      if (!served.ok && served.code === "not_available" && !isPresenceNeeded()) return { ok: true, value: {} };
      const control = served.ok ? served : await starting("control", false);
      if (!control.ok) return control;
      const answer = await control.value.ask("control.admit", { ...asked, isWidening: true });
      control.value.close();
      return answer;
    },
    awaitDaemonEnd: (pid) => awaitOwnerEnd(join(folder, "owner.lock"), pid),
    endDaemon: () => endOwner(join(folder, "owner.lock")),
    daemonLog: (linesMax) => logTail(folder, linesMax),
  };
}

/** The same; a call that is made after the connection was lost reaches nobody, and is handed over. */
function handingOver(
  calls: Asking<CallMessages>,
  isLost: () => boolean,
  refused: (about: CallAbout, refusal: Refusal) => void,
): Asking<CallMessages> {
  let opened = { agent: "", face: "", cwd: "" };
  return {
    ask: async (name, value, along) => {
      const wasLost = isLost();
      if (name === "session.open") {
        const { agent, face, cwd } = value as CallMessages["session.open"]["asks"];
        opened = { agent, face, cwd };
      }
      const answer = await calls.ask(name, value, along);
      if (wasLost && !answer.ok && CALLS.has(name))
        refused({ ...opened, tool: (value as CallMessages["call.do"]["asks"]).tool }, answer);
      return answer;
    },
    tell: (name, value) => calls.tell(name, value),
    close: () => calls.close(),
  };
}

const CALLS: ReadonlySet<string> = new Set(["call.do", "call.run", "call.commit"]);

const STATELESS: Refusal = {
  ok: false,
  code: "not_available",
  message: "there is no state folder: no home, and no absolute XDG_STATE_HOME",
  fix: "export XDG_STATE_HOME=/an/absolute/folder",
};

const NOWHERE: DaemonWays = {
  control: async () => STATELESS,
  call: async () => STATELESS,
  refused: () => undefined,
  startDaemon: async () => STATELESS,
  running: async () => STATELESS,
  unstarted: () => STATELESS,
  admit: async () => STATELESS,
  awaitDaemonEnd: async () => "nobody",
  endDaemon: async () => "nobody",
  daemonLog: () => null,
};
