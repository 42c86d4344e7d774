// The seccomp filter of every program in a sandbox: calls it never needs fail, sockets are limited to the network
// namespace, and a call of another architecture kills the process.

import type { Architecture } from "../start/system.ts";
import { Assembler, type Instruction } from "./bpf.ts";
import {
  CONDITIONAL,
  CONNECT,
  type ConditionalCall,
  LAST_KNOWN,
  numberOf,
  numbersOf,
  REFUSED,
  REFUSED_TO_COMMANDS,
} from "./syscalls.ts";

export const ALLOW = 0x7fff0000;
export const KILL = 0x80000000;
/** The call waits until pid 1 has executed it. */
export const HAND_OVER = 0x7fc00000;
const ERRNO = 0x00050000;
/** Skipped, and reported as successful. */
export const DONE: number = ERRNO | 0;
export const EPERM: number = ERRNO | 1;
export const ENOSYS: number = ERRNO | 38;
export const EPROTONOSUPPORT: number = ERRNO | 93;
export const EAFNOSUPPORT: number = ERRNO | 97;

/** Offsets in `struct seccomp_data`; for an argument, its low half, which is all the kernel uses in these calls. */
const NUMBER = 0;
const ARCHITECTURE = 4;
export const argument = (at: number): number => 16 + 8 * at;
/** The high half, for pointers. */
export const argumentHigh = (at: number): number => argument(at) + 4;

const AUDIT: Readonly<Record<Architecture, number>> = { "x86-64": 0xc000003e, arm64: 0xc00000b7 };
/** x32 calls carry this bit; they alias calls that are refused by number. */
const X32 = 0x40000000;

/** CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID, -NET; NEWTIME has no bit in this call. */
const NEW_NAMESPACES = 0x7e020000;
const [TIOCSTI, TIOCLINUX, TIOCSETD] = [0x5412, 0x541c, 0x5423];
const [UNIX, NETLINK, SEQUENCED] = [1, 16, 5];
export const INET = 2;
export const INET6 = 10;
export const STREAM = 1;
export const DATAGRAM = 2;
export const TCP = 6;
export const UDP = 17;
/** Of a socket's type; the other bits are flags. */
export const TYPE_MASK = 0xf;

export interface SeccompOptions {
  readonly architecture: Architecture;
  /** False: a socket would reach the machine's own network, so there are none. */
  readonly networkNamespace: boolean;
  /**
   * Unix sockets have names. INVARIANT: true only together with `commandProgram` for every command, without which a name
   * would lead to a socket of the host.
   */
  readonly namedSockets: boolean;
}

/** In front of the filter of every process: a command's connect(2) is executed by pid 1 (`native/connect.c`). */
export function commandProgram(architecture: Architecture): readonly Instruction[] {
  const program = knownArchitecture(new Assembler(), architecture);
  for (const refused of numbersOf(REFUSED_TO_COMMANDS, architecture)) program.whenEqual(refused, "refused");
  return program
    .whenEqual(numberOf(CONNECT, architecture) as number, "connect")
    .answer(ALLOW)
    .mark("connect")
    .answer(HAND_OVER)
    .mark("refused")
    .answer(EPERM)
    .mark("killed")
    .answer(KILL)
    .done();
}

export function seccompProgram(options: SeccompOptions): readonly Instruction[] {
  const { architecture, namedSockets } = options;
  const number = (name: ConditionalCall): number => numberOf(CONDITIONAL[name], architecture) as number;
  const program = knownArchitecture(new Assembler(), architecture).whenAtLeast(LAST_KNOWN + 1, "absent");
  const calls = namedSockets ? REFUSED : { ...REFUSED, ...REFUSED_TO_COMMANDS };
  for (const refused of numbersOf(calls, architecture)) program.whenEqual(refused, "refused");
  program
    // Its arguments are in memory, which a filter cannot read; libraries fall back to `clone`.
    .whenEqual(number("clone3"), "absent")
    .whenEqual(number("clone"), "clone")
    .whenEqual(number("ioctl"), "ioctl")
    .whenEqual(number("personality"), "personality")
    .whenEqual(number("socket"), "socket")
    .whenEqual(number("socketpair"), "socketpair")
    .whenEqual(number("setrlimit"), "own limit")
    .whenEqual(number("prlimit64"), "limit")
    .whenEqual(number("setpriority"), "priority")
    .whenEqual(number("ioprio_set"), "disk priority")
    .whenEqual(number("sched_setparam"), "schedule")
    .whenEqual(number("sched_setscheduler"), "schedule")
    .whenEqual(number("sched_setaffinity"), "schedule")
    .whenEqual(number("sched_setattr"), "schedule")
    .answer(ALLOW);
  ownProcesses(program, (controls) => controls.answer(ALLOW));
  sockets(program, options);
  limits(program);
  schedules(program);
  return program
    .mark("refused")
    .answer(EPERM)
    .mark("done")
    .answer(DONE)
    .mark("absent")
    .answer(ENOSYS)
    .mark("family")
    .answer(EAFNOSUPPORT)
    .mark("protocol")
    .answer(EPROTONOSUPPORT)
    .mark("killed")
    .answer(KILL)
    .done();
}

/**
 * Children in the namespaces there are, no terminal controls that act for its user, and the default personality or the query
 * for it. `others` answers the controls that are left. Jumps to "refused".
 */
export function ownProcesses(program: Assembler, others: (program: Assembler) => Assembler): void {
  program.mark("clone").load(argument(0)).whenAnySet(NEW_NAMESPACES, "refused").answer(ALLOW);
  program.mark("ioctl").load(argument(1));
  for (const control of [TIOCSTI, TIOCLINUX, TIOCSETD]) program.whenEqual(control, "refused");
  others(program)
    .mark("personality")
    .load(argument(0))
    .whenEqual(0, "fine")
    .unlessEqual(0xffffffff, "refused")
    .mark("fine")
    .answer(ALLOW);
}

/** On another architecture or x32 the numbers below mean other calls: jumps to "killed". */
export function knownArchitecture(program: Assembler, architecture: Architecture): Assembler {
  program.load(ARCHITECTURE).unlessEqual(AUDIT[architecture], "killed").load(NUMBER);
  return architecture === "x86-64" ? program.whenAtLeast(X32, "killed") : program;
}

/**
 * TCP and UDP over the sandbox's own loopback, also where the plan has no network: listeners there are the program's
 * own, and many programs talk to themselves. Netlink only for routes (interface names). No MPTCP, no raw and no ping
 * sockets. Unix sockets not as datagrams, which are sent to a name without connect(2); and only in pairs where a command's
 * connect(2) is not handed over.
 */
function sockets(program: Assembler, { networkNamespace, namedSockets }: SeccompOptions): void {
  if (networkNamespace) {
    program.mark("socket").load(argument(0));
    if (namedSockets) program.whenEqual(UNIX, "unix");
    program
      .whenEqual(INET, "internet")
      .whenEqual(INET6, "internet")
      .unlessEqual(NETLINK, "family")
      .load(argument(2))
      .unlessEqual(0, "protocol")
      .answer(ALLOW)
      .mark("internet")
      .load(argument(1))
      .and(TYPE_MASK)
      .whenEqual(STREAM, "stream")
      .unlessEqual(DATAGRAM, "protocol")
      .load(argument(2))
      .whenEqual(0, "open")
      .whenEqual(UDP, "open")
      .answer(EPROTONOSUPPORT)
      .mark("stream")
      .load(argument(2))
      .whenEqual(0, "open")
      .unlessEqual(TCP, "protocol")
      .mark("open")
      .answer(ALLOW);
  } else program.mark("socket").answer(EAFNOSUPPORT);
  socketPairs(program);
}

/** Connected Unix sockets; "unix" is for a socket that is known to be one. Jumps to "family" and "protocol". */
export function socketPairs(program: Assembler): void {
  program
    .mark("socketpair")
    .load(argument(0))
    .unlessEqual(UNIX, "family")
    .mark("unix")
    .load(argument(1))
    .and(TYPE_MASK)
    .whenEqual(STREAM, "connected")
    .unlessEqual(SEQUENCED, "protocol")
    .mark("connected")
    .answer(ALLOW);
}

const RLIMIT_CORE = 4;

/**
 * Limits of the calling process only, at "own limit" and "limit"; jumps to "refused" and "done". The core limit is as low as it can be (`setup.ts`); a program that sets it to
 * zero is told that it succeeded, because some programs exit otherwise.
 */
export function limits(program: Assembler): void {
  program
    .mark("own limit")
    .load(argument(0))
    .whenEqual(RLIMIT_CORE, "done")
    .answer(ALLOW)
    .mark("limit")
    .load(argument(0))
    .unlessEqual(0, "refused")
    .load(argument(1))
    .unlessEqual(RLIMIT_CORE, "plain limit")
    // The new limit; a null pointer only queries.
    .load(argument(2))
    .unlessEqual(0, "core limit")
    .load(argumentHigh(2))
    .unlessEqual(0, "core limit")
    .mark("plain limit")
    .answer(ALLOW)
    // The same call queries the old limit, which a filter cannot answer.
    .mark("core limit")
    .load(argument(3))
    .unlessEqual(0, "refused")
    .load(argumentHigh(3))
    .unlessEqual(0, "refused")
    .answer(DONE);
}

const INIT = 1;
const [USER_PRIORITY, USER_DISK_PRIORITY] = [2, 3];

/** Pid 1 has the same user, so the kernel would let a command lower its priority for all later commands. */
function schedules(program: Assembler): void {
  program
    .mark("priority")
    .load(argument(0))
    .whenEqual(USER_PRIORITY, "refused")
    .load(argument(1))
    .whenEqual(INIT, "refused")
    .answer(ALLOW)
    .mark("disk priority")
    .load(argument(0))
    .whenEqual(USER_DISK_PRIORITY, "refused")
    .load(argument(1))
    .whenEqual(INIT, "refused")
    .answer(ALLOW)
    .mark("schedule")
    .load(argument(0))
    .whenEqual(INIT, "refused")
    .answer(ALLOW);
}
