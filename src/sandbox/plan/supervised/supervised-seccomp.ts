// The seccomp filter of a command in a sandbox without namespaces. What names an address and what changes a file's mode, owner
// or times is handed over to the supervisor; what would reach other processes or the machine's own network is refused.

import { Assembler, type Instruction } from "../kernel/bpf.ts";
import {
  ALLOW,
  argument,
  DATAGRAM,
  DONE,
  EAFNOSUPPORT,
  ENOSYS,
  EPERM,
  EPROTONOSUPPORT,
  HAND_OVER,
  INET,
  INET6,
  KILL,
  knownArchitecture,
  limits,
  ownProcesses,
  STREAM,
  socketPairs,
  TCP,
  TYPE_MASK,
  UDP,
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

/**
 * File systems change attributes, volumes and encryption by descriptors that need not be writable, so their controls are
 * refused by kind: of all file systems (f, X, v), btrfs, FAT, F2FS. Allowed of them are queries, and copies, which need a
 * descriptor for writing.
 */
const FILE_SYSTEM_CONTROLS: readonly number[] = [0x66, 0x58, 0x76, 0x94, 0x72, 0xf5];
const CONTROL_KIND_MASK = 0xff00;
/** FS_IOC_GETFLAGS, FS_IOC_FIEMAP, FS_IOC_FSGETXATTR, FS_IOC_GETVERSION; FICLONE, FICLONERANGE. */
const ALLOWED_CONTROLS: readonly number[] = [
  ...[0x80086601, 0xc020660b, 0x801c581f, 0x80087601],
  ...[0x40049409, 0x4020940d],
];

function fileControls(program: Assembler): Assembler {
  for (const control of ALLOWED_CONTROLS) program.whenEqual(control, "harmless control");
  program.and(CONTROL_KIND_MASK);
  for (const kind of FILE_SYSTEM_CONTROLS) program.whenEqual(kind << 8, "refused");
  return program.mark("harmless control").answer(ALLOW);
}

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
    .whenEqual(number(CONDITIONAL.ioprio_set), "disk priority")
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
    .answer(hasNetwork ? HAND_OVER : EACCES);
  ownProcesses(program, fileControls);
  ownSchedule(program);
  limits(program);
  program.mark("refused").answer(EPERM).mark("done").answer(DONE);
  if (hasNetwork) internetSockets(program);
  else program.mark("socket").answer(EAFNOSUPPORT);
  socketPairs(program);
  program.mark("family").answer(EAFNOSUPPORT).mark("protocol").answer(EPROTONOSUPPORT);
  sending(program);
  options(program);
}

/** PRIO_PROCESS and IOPRIO_WHO_PROCESS. */
const [PROCESS_PRIORITY, PROCESS_DISK_PRIORITY] = [0, 1];

/** Of the calling thread alone: another process may be outside. */
function ownSchedule(program: Assembler): void {
  program
    .mark("priority")
    .load(argument(0))
    .whenEqual(PROCESS_PRIORITY, "own priority")
    .answer(EPERM)
    .mark("disk priority")
    .load(argument(0))
    .unlessEqual(PROCESS_DISK_PRIORITY, "refused")
    .mark("own priority")
    .load(argument(1))
    .unlessEqual(0, "refused")
    .answer(ALLOW)
    .mark("schedule")
    .load(argument(0))
    .unlessEqual(0, "refused")
    .answer(ALLOW);
}

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
/** IP_RECVERR and IPV6_RECVERR: resolvers of C libraries need them to succeed; they are accepted and ignored. */
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
