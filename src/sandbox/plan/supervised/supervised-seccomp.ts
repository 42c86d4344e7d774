// The seccomp filter of a command in a sandbox without namespaces. What names an address and what changes a file's mode, owner
// or times is handed over to the supervisor; what would reach other processes or the machine's own network is refused.

import { Assembler, type Instruction } from "../kernel/bpf.ts";
import {
  ALLOW,
  argument,
  argumentHigh,
  DONE,
  EAFNOSUPPORT,
  ENOSYS,
  EPERM,
  EPROTONOSUPPORT,
  HAND_OVER,
  KILL,
  knownArchitecture,
} from "../kernel/seccomp.ts";
import {
  CONDITIONAL,
  CONNECT,
  LAST_KNOWN,
  type Numbers,
  numberOf,
  numbersOf,
  REFUSED,
  REFUSED_TO_COMMANDS,
} from "../kernel/syscalls.ts";
import type { Architecture } from "../start/system.ts";
import {
  ATTRIBUTES,
  METADATA,
  NO_ACCESS,
  OTHERS_REFUSED,
  OUTDATED,
  SENDING,
  SHARED_OBJECTS,
} from "./supervised-calls.ts";

const ERRNO = 0x00050000;
export const EACCES: number = ERRNO | 13;
export const ENOPROTOOPT: number = ERRNO | 92;
export const EOPNOTSUPP: number = ERRNO | 95;

export interface SupervisedFilter {
  readonly architecture: Architecture;
  /** False: there are no sockets but pairs. */
  readonly hasNetwork: boolean;
}

export function supervisedProgram(options: SupervisedFilter): readonly Instruction[] {
  const { architecture } = options;
  const program = knownArchitecture(new Assembler(), architecture).whenAtLeast(LAST_KNOWN + 1, "unknown");
  const group = (tables: readonly Readonly<Record<string, Numbers>>[], label: string, answer: number): void => {
    for (const table of tables) for (const number of numbersOf(table, architecture)) program.whenEqual(number, label);
    // Jumps are short: each group is followed by its answer, which the other calls skip.
    program.whenAtLeast(0, `after ${label}`).mark(label).answer(answer).mark(`after ${label}`);
  };
  group([REFUSED, REFUSED_TO_COMMANDS, SHARED_OBJECTS, OTHERS_REFUSED], "refused call", EPERM);
  program.whenAtLeast(0, "known").mark("killed").answer(KILL).mark("unknown").answer(ENOSYS).mark("known");
  group([ATTRIBUTES], "attributes", EOPNOTSUPP);
  group([OUTDATED, { clone3: CONDITIONAL.clone3 }], "absent call", ENOSYS);
  group([NO_ACCESS], "no access", EACCES);
  group([METADATA], "metadata", HAND_OVER);
  conditional(program, options);
  return program.done();
}

/** CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID, -NET. */
const NEW_NAMESPACES = 0x7e020000;
/** Terminals; then attributes of files, their protection by digest, and encryption, by descriptors that need not be writable. */
const REFUSED_CONTROLS: readonly number[] = [
  ...[0x5412, 0x541c, 0x5423],
  ...[0x40086602, 0x401c5820, 0x40806685, 0x800c6613],
];

function conditional(program: Assembler, { architecture, hasNetwork }: SupervisedFilter): void {
  const number = (numbers: Numbers): number => numberOf(numbers, architecture) as number;
  program
    .whenEqual(number(CONDITIONAL.clone), "clone")
    .whenEqual(number(CONDITIONAL.ioctl), "ioctl")
    .whenEqual(number(CONDITIONAL.personality), "personality")
    .whenEqual(number(CONDITIONAL.socket), "socket")
    .whenEqual(number(CONDITIONAL.socketpair), "socketpair")
    .whenEqual(number(CONDITIONAL.setrlimit), "own limit")
    .whenEqual(number(CONDITIONAL.prlimit64), "limit")
    .whenEqual(number(CONDITIONAL.setpriority), "priority")
    .whenEqual(number(CONDITIONAL.ioprio_set), "priority")
    .whenEqual(number(CONDITIONAL.sched_setparam), "schedule")
    .whenEqual(number(CONDITIONAL.sched_setscheduler), "schedule")
    .whenEqual(number(CONDITIONAL.sched_setaffinity), "schedule")
    .whenEqual(number(CONDITIONAL.sched_setattr), "schedule")
    .whenEqual(number(CONNECT), "connect")
    .whenEqual(number(SENDING.sendto), "fourth flags")
    .whenEqual(number(SENDING.sendmmsg), "fourth flags")
    .whenEqual(number(SENDING.sendmsg), "third flags")
    .whenEqual(number(SENDING.setsockopt), "option")
    .answer(ALLOW)
    .mark("connect")
    .answer(hasNetwork ? HAND_OVER : EACCES)
    .mark("clone")
    .load(argument(0))
    .whenAnySet(NEW_NAMESPACES, "refused")
    .answer(ALLOW)
    .mark("ioctl")
    .load(argument(1));
  for (const control of REFUSED_CONTROLS) program.whenEqual(control, "refused");
  program
    .answer(ALLOW)
    .mark("personality")
    .load(argument(0))
    .whenEqual(0, "fine")
    .unlessEqual(0xffffffff, "refused")
    .mark("fine")
    .answer(ALLOW);
  ownProcess(program);
  limits(program);
  program.mark("refused").answer(EPERM).mark("done").answer(DONE);
  if (hasNetwork) internetSockets(program);
  else program.mark("socket").answer(EAFNOSUPPORT);
  pairs(program);
  sending(program);
  options(program);
}

const PROCESS = [0, 1];

/** Of the calling thread alone: another process may be outside. PRIO_PROCESS is 0, IOPRIO_WHO_PROCESS is 1. */
function ownProcess(program: Assembler): void {
  const [priority, disk] = PROCESS as [number, number];
  program
    .mark("priority")
    .load(argument(0))
    .whenEqual(priority, "own priority")
    .unlessEqual(disk, "refused")
    .mark("own priority")
    .load(argument(1))
    .unlessEqual(0, "refused")
    .answer(ALLOW)
    .mark("schedule")
    .load(argument(0))
    .unlessEqual(0, "refused")
    .answer(ALLOW);
}

const RLIMIT_CORE = 4;

/** As in every sandbox: limits of the calling process, and the core limit is told to be set. */
function limits(program: Assembler): void {
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
    .load(argument(2))
    .unlessEqual(0, "core limit")
    .load(argumentHigh(2))
    .unlessEqual(0, "core limit")
    .mark("plain limit")
    .answer(ALLOW)
    .mark("core limit")
    .load(argument(3))
    .unlessEqual(0, "refused")
    .load(argumentHigh(3))
    .unlessEqual(0, "refused")
    .answer(DONE);
}

const [UNIX, INET, INET6] = [1, 2, 10];
const [STREAM, DATAGRAM, SEQUENCED] = [1, 2, 5];
const [TCP, UDP] = [6, 17];
const TYPE_MASK = 0xf;

/**
 * TCP sockets are real and can do nothing by themselves: connect(2) is handed over, bind(2) and listen(2) are refused. A
 * datagram socket could send by itself, so the supervisor makes one that leads to our name server. No Unix sockets with
 * names, no netlink, no other family.
 */
function internetSockets(program: Assembler): void {
  program
    .mark("socket")
    .load(argument(0))
    .whenEqual(INET, "internet")
    .unlessEqual(INET6, "family")
    .mark("internet")
    .load(argument(1))
    .and(TYPE_MASK)
    .whenEqual(STREAM, "stream")
    .unlessEqual(DATAGRAM, "protocol")
    .load(argument(2))
    .whenEqual(0, "datagram")
    .unlessEqual(UDP, "protocol")
    .mark("datagram")
    .answer(HAND_OVER)
    .mark("stream")
    .load(argument(2))
    .whenEqual(0, "open")
    .unlessEqual(TCP, "protocol")
    .mark("open")
    .answer(ALLOW);
}

function pairs(program: Assembler): void {
  program
    .mark("socketpair")
    .load(argument(0))
    .unlessEqual(UNIX, "family")
    .load(argument(1))
    .and(TYPE_MASK)
    .whenEqual(STREAM, "connected")
    .unlessEqual(SEQUENCED, "protocol")
    .mark("connected")
    .answer(ALLOW)
    .mark("family")
    .answer(EAFNOSUPPORT)
    .mark("protocol")
    .answer(EPROTONOSUPPORT);
}

/** MSG_FASTOPEN: sending would connect, to an address that no filter can read. */
const SEND_CONNECTS = 0x20000000;

function sending(program: Assembler): void {
  program
    .mark("fourth flags")
    .load(argument(3))
    .whenAnySet(SEND_CONNECTS, "connecting")
    .answer(ALLOW)
    .mark("third flags")
    .load(argument(2))
    .whenAnySet(SEND_CONNECTS, "connecting")
    .answer(ALLOW)
    .mark("connecting")
    .answer(EOPNOTSUPP);
}

const [SOL_IP, SOL_SOCKET, SOL_TCP, SOL_IPV6] = [0, 1, 6, 41];
/** Type of service, time to live, discovery of the path's size, binding late. Absent on purpose: source routes. */
const IP_OPTIONS: readonly number[] = [1, 2, 10, 13, 24];
/** The same, and whether the older protocol is spoken. Absent on purpose: routing headers. */
const IPV6_OPTIONS: readonly number[] = [16, 23, 26, 66, 67];
/** Errors of the network: a C library asks no name server over a socket without them, and ours has none to tell. */
const [IP_ERRORS, IPV6_ERRORS] = [11, 25];

/** Options of a connected socket must not lead its packets elsewhere. */
function options(program: Assembler): void {
  program
    .mark("option")
    .load(argument(1))
    .whenEqual(SOL_SOCKET, "harmless")
    .whenEqual(SOL_TCP, "harmless")
    .whenEqual(SOL_IP, "ip")
    .whenEqual(SOL_IPV6, "ipv6")
    .answer(ENOPROTOOPT)
    .mark("ip")
    .load(argument(2))
    .whenEqual(IP_ERRORS, "told");
  for (const option of IP_OPTIONS) program.whenEqual(option, "harmless");
  program.answer(ENOPROTOOPT).mark("ipv6").load(argument(2)).whenEqual(IPV6_ERRORS, "told");
  for (const option of IPV6_OPTIONS) program.whenEqual(option, "harmless");
  program.answer(ENOPROTOOPT).mark("harmless").answer(ALLOW).mark("told").answer(DONE);
}
