// Connects a command to the daemon, and starts the daemon if it is not running.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isOlderVersion, VERSION } from "../../core/base/version.ts";
import type { CallMessages } from "../../core/ports/daemon/daemon-calls.ts";
import type { ControlMessages, DaemonStatus, Presence } from "../../core/ports/daemon/daemon-control.ts";
import { type Answer, type MessageClient, NO_DAEMON, type Refusal } from "../../core/ports/daemon/exchange.ts";
import type { CallDescription } from "../../core/ports/daemon/refused-call.ts";
import { configFolder, nameConfigFolder } from "../../platform/config-folder.ts";
import { awaitDaemonExit, type DaemonEnd, endDaemonProcess } from "../../platform/daemon/daemon-end.ts";
import { logTail } from "../../platform/daemon/daemon-log.ts";
import { connectStarting, daemonFolder, notStarted } from "../../platform/daemon/daemon-start.ts";
import { keepRefusedCall } from "../../platform/daemon/refused-calls.ts";
import type { UserFolders } from "../../platform/folders.ts";
import { nativeProgram } from "../../platform/native-program.ts";
import { connect } from "./client.ts";
import { makeDaemonFolder } from "./folder.ts";
import { idleSecondsDefault } from "./life.ts";
import type { SocketName } from "./serving.ts";

export interface DaemonClient {
  /** Connects to the control socket and starts the daemon if it is not running. */
  control(): Promise<Answer<MessageClient<ControlMessages>>>;
  /** The status of the running daemon; null if none runs. Never starts one. */
  running(): Promise<Answer<DaemonStatus | null>>;
  /** The control socket of the running daemon; null if none runs. Never starts one. */
  serving(): Promise<MessageClient<ControlMessages> | null>;
  /** Why the daemon does not start automatically for this state folder; null if it does. */
  unstarted?(): Refusal | null;
  /** Like `control`, but also creates the daemon's folder: a person asked for this state folder by name. */
  startDaemon(): Promise<Answer<MessageClient<ControlMessages>>>;
  /** Waits until the process that owns the state has ended, if it still is this process. */
  awaitDaemonEnd(pid: number): Promise<DaemonEnd>;
  /** Ends a daemon that does not answer. */
  endDaemon(): Promise<DaemonEnd>;
  /** The last lines of the daemon's log; null if there is no log. */
  daemonLog(linesMax: number): readonly string[] | null;
  /** Asks the daemon whether this process may widen authority. Allowed at once if no daemon runs and no presence is required. */
  admit(request: AdmitRequest): Promise<Answer<object>>;
  /**
   * Connects to the call socket. `lost` is called when the connection breaks without being closed here. `about` is the call it is
   * for: if no daemon can be reached, the refusal is recorded for the next daemon.
   */
  call(lost?: () => void, about?: CallDescription): Promise<Answer<MessageClient<CallMessages>>>;
  /** Records a call that was refused because no daemon could be reached; the next daemon logs it. */
  refused(about: CallDescription, refusal: Refusal): void;
}

export interface AdmitRequest {
  readonly command: string;
  readonly what: string;
  readonly presence: Presence | null;
}

export interface DaemonClientOptions {
  readonly home: string | null;
  readonly folders: UserFolders;
  readonly program: string;
  /** From the user's own configuration. */
  isPresenceNeeded(): boolean;
}

export function daemonClient({ home, folders, program, isPresenceNeeded }: DaemonClientOptions): DaemonClient {
  const { state, config } = folders;
  if (state === null) return NOWHERE;
  const native = nativeProgram(program);
  const folder = daemonFolder(state);
  const startOrConnect = <D extends SocketName>(socketName: D, isByName: boolean, lost: () => void) =>
    connectStarting({
      state,
      home,
      bundle: join(program, "dist", "daemon.cjs"),
      native,
      idleSeconds: idleSecondsDefault,
      isByName,
      connect: (at) => connect(socketName, { folder: at, version: VERSION, onLost: lost }),
      makeFolder: (at) => {
        const made = makeDaemonFolder(at);
        if (made.ok && isByName) nameConfigFolder(state, config, home);
        return made;
      },
    });
  /** A daemon of an older program is replaced first, unless it has sessions: they go on with it. */
  const starting = async <D extends SocketName>(
    socketName: D,
    isByName: boolean,
    lost: () => void = () => undefined,
  ) => {
    let isReplacing = false;
    const connected = await startOrConnect(socketName, isByName, () => {
      if (!isReplacing) lost();
    });
    if (!connected.ok || !isOlderVersion(connected.value.daemonVersion ?? "", VERSION)) return connected;
    isReplacing = true;
    if ((await endIdle()) === "stays") {
      isReplacing = false;
      return connected;
    }
    connected.value.close();
    return startOrConnect(socketName, isByName, lost);
  };
  const endIdle = async (): Promise<DaemonEnd> => {
    const control = await connect("control", { folder, version: VERSION });
    if (!control.ok) return control.code === NO_DAEMON ? "absent" : "stays";
    try {
      // A daemon of the first version ends at once when it is asked to.
      const status = await control.value.ask("daemon.status", {});
      if (!status.ok || status.value.sessions.length > 0) return "stays";
      const told = await control.value.ask("daemon.stop", { ifIdle: true });
      if (!told.ok || told.value.isStopping === false) return "stays";
      return await awaitDaemonExit(join(folder, "owner.lock"), status.value.pid);
    } finally {
      control.value.close();
    }
  };
  /** A daemon that reads another configuration would not enforce this one. */
  const otherConfiguration = (): Refusal | null => {
    const known = configFolder(state, home);
    if (known === config) return null;
    if (existsSync(folder)) {
      const message = `the daemon of this state reads its configuration in ${known}, but yours is in ${config}`;
      return { ok: false, code: NO_DAEMON, message, fix: "ambit daemon stop && ambit daemon start" };
    }
    // If no daemon starts automatically, its configuration does not matter.
    const unstarted = notStarted({ state, home, isByName: false });
    if (unstarted !== null) return unstarted;
    const message = `an automatically started daemon reads its configuration in ${known}, but yours is in ${config}`;
    return { ok: false, code: NO_DAEMON, message, fix: "ambit daemon start" };
  };
  const refused = (about: CallDescription, { message }: Refusal): void =>
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
    serving: async () => {
      const connected = await connect("control", { folder, version: VERSION });
      return connected.ok ? connected.value : null;
    },
    running: async () => {
      const connected = await connect("control", { folder, version: VERSION });
      if (!connected.ok) return connected.code === NO_DAEMON ? { ok: true, value: null } : connected;
      const status = await connected.value.ask("daemon.status", {});
      connected.value.close();
      return status;
    },
    admit: async (asked) => {
      const served = await connect("control", { folder, version: VERSION });
      // No daemon is running, so there is no session that this process could belong to.
      if (!served.ok && served.code === NO_DAEMON && !isPresenceNeeded()) return { ok: true, value: {} };
      const control = served.ok ? served : await starting("control", false);
      if (!control.ok) return control;
      const answer = await control.value.ask("control.admit", { ...asked, isWidening: true });
      control.value.close();
      return answer;
    },
    awaitDaemonEnd: (pid) => awaitDaemonExit(join(folder, "owner.lock"), pid),
    endDaemon: () => endDaemonProcess(join(folder, "owner.lock")),
    daemonLog: (linesMax) => logTail(folder, linesMax),
  };
}

/** The same; a call after the connection was lost is recorded for the next daemon. */
function handingOver(
  calls: MessageClient<CallMessages>,
  isLost: () => boolean,
  refused: (about: CallDescription, refusal: Refusal) => void,
): MessageClient<CallMessages> {
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
  code: NO_DAEMON,
  message: "no state folder: neither a home folder nor an absolute XDG_STATE_HOME is set",
  fix: "export XDG_STATE_HOME=/an/absolute/folder",
};

const NOWHERE: DaemonClient = {
  control: async () => STATELESS,
  call: async () => STATELESS,
  refused: () => undefined,
  startDaemon: async () => STATELESS,
  running: async () => STATELESS,
  serving: async () => null,
  unstarted: () => STATELESS,
  admit: async () => STATELESS,
  awaitDaemonEnd: async () => "absent",
  endDaemon: async () => "absent",
  daemonLog: () => null,
};
