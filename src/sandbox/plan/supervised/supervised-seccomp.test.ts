// Runs the filter of a sandbox without namespaces call by call, on both architectures.
import { describe, expect, test } from "vitest";
import { ALLOW, DONE, EAFNOSUPPORT, ENOSYS, EPERM, EPROTONOSUPPORT, HAND_OVER, KILL } from "../kernel/seccomp.ts";
import {
  CONDITIONAL,
  CONNECT,
  LAST_KNOWN,
  numberOf,
  numbersOf,
  REFUSED,
  REFUSED_TO_COMMANDS,
} from "../kernel/syscalls.ts";
import type { Architecture } from "../start/system.ts";
import { answerOf } from "../testing/bpf.ts";
import {
  ATTRIBUTES,
  METADATA,
  NO_ACCESS,
  OTHERS_REFUSED,
  OUTDATED,
  SENDING,
  SHARED_OBJECTS,
} from "./supervised-calls.ts";
import { EACCES, ENOPROTOOPT, EOPNOTSUPP, supervisedProgram } from "./supervised-seccomp.ts";

const AUDIT: Readonly<Record<Architecture, number>> = { "x86-64": 0xc000003e, arm64: 0xc00000b7 };

describe.each(["x86-64", "arm64"] as const)("on %s", (architecture) => {
  const programs = [true, false].map((hasNetwork) => supervisedProgram({ architecture, hasNetwork }));
  const run = (hasNetwork: boolean, number: number, ...values: readonly (number | bigint)[]): number =>
    answerOf(programs[hasNetwork ? 0 : 1] ?? [], {
      number,
      architecture: AUDIT[architecture],
      arguments: values.map(BigInt),
    });
  const on = (number: number, ...values: readonly (number | bigint)[]): number => run(true, number, ...values);
  const of = (name: keyof typeof CONDITIONAL): number => numberOf(CONDITIONAL[name], architecture) as number;
  const connect = numberOf(CONNECT, architecture) as number;
  const sends = (name: keyof typeof SENDING): number => numberOf(SENDING[name], architecture) as number;

  test("every known call gets the answer of its table, and newer ones do not exist", () => {
    const answers = new Map<number, number>();
    const tables = [
      [{ ...REFUSED, ...REFUSED_TO_COMMANDS, ...SHARED_OBJECTS, ...OTHERS_REFUSED }, EPERM],
      [ATTRIBUTES, EOPNOTSUPP],
      [OUTDATED, ENOSYS],
      [NO_ACCESS, EACCES],
      [METADATA, HAND_OVER],
    ] as const;
    for (const [table, answer] of tables) for (const one of numbersOf(table, architecture)) answers.set(one, answer);
    const byArguments = new Set([
      ...numbersOf(CONDITIONAL, architecture),
      ...numbersOf(SENDING, architecture),
      connect,
    ]);
    const wrong: number[] = [];
    for (let number = 0; number <= 1_024; number++) {
      if (byArguments.has(number)) continue;
      const wanted = number > LAST_KNOWN ? ENOSYS : (answers.get(number) ?? ALLOW);
      if (on(number, 7, 7, 7, 7, 7, 7) !== wanted || run(false, number, 7, 7, 7, 7, 7, 7) !== wanted)
        wrong.push(number);
    }
    expect(wrong).toEqual([]);
    expect(answers.size).toBeGreaterThan(90);
  });

  test("another architecture's calls kill the process", () => {
    const program = programs[0] ?? [];
    for (const other of [AUDIT[architecture === "arm64" ? "x86-64" : "arm64"], 0x40000003, 0])
      for (const number of [0, 41, 198, 425]) expect(answerOf(program, { number, architecture: other })).toBe(KILL);
    if (architecture === "x86-64") expect(on(0x40000000 + 42)).toBe(KILL);
  });

  test("connecting is always handed over, and refused where there is no network", () => {
    expect([on(connect, 3, 0x1000, 16), run(false, connect, 3, 0x1000, 16)]).toEqual([HAND_OVER, EACCES]);
  });

  test.each([
    ["TCP", 2, 1, 0, ALLOW],
    ["TCP by its number, without waiting", 2, 0o2004001, 6, ALLOW],
    ["TCP over the newer protocol", 10, 1, 6, ALLOW],
    ["datagrams", 2, 2, 0, HAND_OVER],
    ["datagrams by their number, closed on exec", 10, 0o2000002, 17, HAND_OVER],
    ["ping", 2, 2, 1, EPROTONOSUPPORT],
    ["raw", 2, 3, 0, EPROTONOSUPPORT],
    ["multipath TCP", 2, 1, 262, EPROTONOSUPPORT],
    ["Unix", 1, 1, 0, EAFNOSUPPORT],
    ["netlink", 16, 3, 0, EAFNOSUPPORT],
    ["packets", 17, 3, 0, EAFNOSUPPORT],
    ["virtual machines", 40, 1, 0, EAFNOSUPPORT],
  ])("a socket: %s", (_, family, type, protocol, answer) => {
    expect(on(of("socket"), family, type, protocol)).toBe(answer);
    expect(run(false, of("socket"), family, type, protocol)).toBe(EAFNOSUPPORT);
  });

  test("pairs are connected Unix sockets, with and without a network", () => {
    for (const hasNetwork of [true, false]) {
      const pair = (...values: readonly number[]): number => run(hasNetwork, of("socketpair"), ...values);
      expect([pair(1, 1, 0), pair(1, 5, 0), pair(1, 2, 0), pair(2, 1, 0)]).toEqual([
        ...[ALLOW, ALLOW, EPROTONOSUPPORT, EAFNOSUPPORT],
      ]);
    }
  });

  test("no sending connects", () => {
    const connecting = 0x20000000 | 0x4000;
    expect(on(sends("sendto"), 3, 1, 1, connecting, 0x1000, 16)).toBe(EOPNOTSUPP);
    expect(on(sends("sendmsg"), 3, 1, connecting)).toBe(EOPNOTSUPP);
    expect(on(sends("sendmmsg"), 3, 1, 1, connecting)).toBe(EOPNOTSUPP);
    expect(on(sends("sendto"), 3, 1, 1, 0x4000, 0, 0)).toBe(ALLOW);
    expect(on(sends("sendmsg"), 3, 1, 0x4000)).toBe(ALLOW);
    expect(on(sends("sendmmsg"), 3, 1, 1, 0x4000)).toBe(ALLOW);
  });

  test.each([
    ["no delay", 6, 1, ALLOW],
    ["keep alive", 1, 9, ALLOW],
    ["type of service", 0, 1, ALLOW],
    ["one protocol alone", 41, 26, ALLOW],
    ["errors of the network, which are told to be reported", 0, 11, DONE],
    ["the same of the newer protocol", 41, 25, DONE],
    ["a source route", 0, 4, ENOPROTOOPT],
    ["another sender", 0, 19, ENOPROTOOPT],
    ["a routing header", 41, 57, ENOPROTOOPT],
    ["a packet's options", 41, 6, ENOPROTOOPT],
    ["another protocol", 132, 1, ENOPROTOOPT],
  ])("an option: %s", (_, level, name, answer) => {
    expect(on(sends("setsockopt"), 3, level, name)).toBe(answer);
  });

  test("schedules, priorities and limits are changed of the caller alone", () => {
    for (const name of ["sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"] as const)
      expect([on(of(name), 0), on(of(name), 4_711)]).toEqual([ALLOW, EPERM]);
    const priorities = [0, 1, 2].map((which) => on(of("setpriority"), which, 0));
    expect([...priorities, on(of("setpriority"), 0, 4_711)]).toEqual([ALLOW, EPERM, EPERM, EPERM]);
    const disks = [1, 0, 2, 3].map((which) => on(of("ioprio_set"), which, 0));
    expect([...disks, on(of("ioprio_set"), 1, 4_711)]).toEqual([ALLOW, EPERM, EPERM, EPERM, EPERM]);
    expect([on(of("prlimit64"), 0, 7, 0, 1), on(of("prlimit64"), 4_711, 7, 0, 1)]).toEqual([ALLOW, EPERM]);
  });

  test("no new namespace, no attribute by ioctl", () => {
    expect([on(of("clone"), 0x01200011), on(of("clone"), 0x10000011), on(of("clone3"))]).toEqual([
      ALLOW,
      EPERM,
      ENOSYS,
    ]);
    const terminal = [0x5412, 0x541c, 0x5423];
    const attributes = [0x40086602, 0x401c5820, 0x40806685, 0x800c6613, 0x40087602, 0x40047211, 0x4004f501];
    const volumes = [0xc0189436, 0x5000940e, 0x50009401, 0x5000940f, 0x50009417];
    for (const control of [...terminal, ...attributes, ...volumes]) expect(on(of("ioctl"), 3, control)).toBe(EPERM);
    const queries = [0x5401, 0x5421, 0x541b, 0x80086601, 0x801c581f, 0x80087601, 0xc020660b];
    const copies = [0x40049409, 0x4020940d];
    for (const control of [...queries, ...copies]) expect(on(of("ioctl"), 3, control)).toBe(ALLOW);
  });
});
