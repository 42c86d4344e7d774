// Runs the filter call by call: which calls fail, which are missing, which kill the process, and that all others are
// allowed.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Architecture } from "../start/system.ts";
import { answerOf } from "../testing/bpf.ts";
import { instructionBytes } from "./bpf.ts";
import { filesSeccompProgram } from "./files-syscalls.ts";
import {
  ALLOW,
  commandProgram,
  DONE,
  EAFNOSUPPORT,
  ENOSYS,
  EPERM,
  EPROTONOSUPPORT,
  HAND_OVER,
  KILL,
  seccompProgram,
} from "./seccomp.ts";
import { CONDITIONAL, CONNECT, LAST_KNOWN, numberOf, numbersOf, REFUSED, REFUSED_TO_COMMANDS } from "./syscalls.ts";

const AUDIT: Readonly<Record<Architecture, number>> = { "x86-64": 0xc000003e, arm64: 0xc00000b7 };
const ARCHITECTURES: readonly Architecture[] = ["x86-64", "arm64"];
const HIGH = 0x1_0000_0000n;

describe.each(ARCHITECTURES)("on %s", (architecture) => {
  const program = seccompProgram({ architecture, networkNamespace: true, namedSockets: false });
  const named = seccompProgram({ architecture, networkNamespace: true, namedSockets: true });
  const on = (number: number, ...values: readonly (number | bigint)[]): number =>
    answerOf(program, { number, architecture: AUDIT[architecture], arguments: values.map(BigInt) });
  const of = (name: keyof typeof CONDITIONAL): number => numberOf(CONDITIONAL[name], architecture) as number;

  test("every known call gets the answer of its table", () => {
    const refused = new Set(numbersOf({ ...REFUSED, ...REFUSED_TO_COMMANDS }, architecture));
    const byArguments = new Set(numbersOf(CONDITIONAL, architecture));
    const wrong: number[] = [];
    for (let number = 0; number <= 1_024; number++) {
      if (byArguments.has(number)) continue;
      const wanted = number > LAST_KNOWN ? ENOSYS : refused.has(number) ? EPERM : ALLOW;
      if (on(number, 7, 7, 7, 7, 7, 7) !== wanted) wrong.push(number);
    }
    expect(wrong).toEqual([]);
    expect(refused.size).toBeGreaterThan(50);
  });

  test("another architecture's calls kill the process, whatever their number", () => {
    for (const other of [AUDIT[architecture === "arm64" ? "x86-64" : "arm64"], 0x40000003, 0x40000028, 0])
      for (const number of [0, 1, 41, 198, 425]) expect(answerOf(program, { number, architecture: other })).toBe(KILL);
  });

  test("numbers with the x32 bit do not bypass it", () => {
    const wanted = architecture === "x86-64" ? KILL : ENOSYS;
    for (const number of [0, 41, 101, 512, 547]) expect(on(0x40000000 + number)).toBe(wanted);
    expect(on(0xffffffff)).toBe(wanted);
  });

  test("a new process may have no new namespace, and clone3 does not exist", () => {
    expect(on(of("clone"), 0x01200011)).toBe(ALLOW);
    expect(on(of("clone"), 0x003d0f00)).toBe(ALLOW);
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(on(of("clone"), flag | 17)).toBe(EPERM);
      expect(on(of("clone"), HIGH + BigInt(flag))).toBe(EPERM);
    }
    expect(on(of("clone3"))).toBe(ENOSYS);
  });

  test("nothing is typed into a terminal, also not with a high bit set", () => {
    for (const asked of [0x5412, 0x541c, 0x5423]) {
      expect(on(of("ioctl"), 0, asked)).toBe(EPERM);
      expect(on(of("ioctl"), 0, HIGH + BigInt(asked))).toBe(EPERM);
    }
    for (const asked of [0x5401, 0x5411, 0x5413, 0x541b, 0x541d, 0x5422, 0x5424])
      expect(on(of("ioctl"), 0x5412, asked)).toBe(ALLOW);
  });

  test("a personality is the default one or a query", () => {
    expect(on(of("personality"), 0)).toBe(ALLOW);
    expect(on(of("personality"), 0xffffffff)).toBe(ALLOW);
    for (const other of [0x0040000, 0x0400000, 8, 0xfffffffe]) expect(on(of("personality"), other)).toBe(EPERM);
  });

  test("a process may change its own limits, except that of core dumps", () => {
    const pointer = 0x7fff_0000_0000n;
    expect(on(of("prlimit64"), 0, 7, pointer, 0)).toBe(ALLOW);
    expect(on(of("prlimit64"), 0, 4, 0, pointer)).toBe(ALLOW);
    for (const other of [1, 2, 0xffffffff, HIGH + 1n]) expect(on(of("prlimit64"), other, 7, 0, pointer)).toBe(EPERM);
    expect(on(of("prlimit64"), 0, 4, pointer, 0)).toBe(DONE);
    expect(on(of("prlimit64"), 0, HIGH + 4n, 0x1000, 0)).toBe(DONE);
    expect(on(of("prlimit64"), 0, 4, pointer, pointer)).toBe(EPERM);
    expect(on(of("prlimit64"), 0, 4, 0x1000, 0x1000)).toBe(EPERM);
    expect(on(of("setrlimit"), 4, pointer)).toBe(DONE);
    for (const resource of [0, 3, 5, 7]) expect(on(of("setrlimit"), resource, pointer)).toBe(ALLOW);
  });

  test("no process inside may change the scheduling of pid 1", () => {
    for (const name of ["sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr"] as const) {
      for (const process of [0, 2, 11]) expect(on(of(name), process)).toBe(ALLOW);
      for (const process of [1, HIGH + 1n]) expect(on(of(name), process)).toBe(EPERM);
    }
    for (const [name, byProcess, byUser] of [
      ["setpriority", 0, 2],
      ["ioprio_set", 1, 3],
    ] as const) {
      expect(on(of(name), byProcess, 0)).toBe(ALLOW);
      expect(on(of(name), byProcess, 2)).toBe(ALLOW);
      for (const group of [byProcess, byProcess + 1]) expect(on(of(name), group, 1)).toBe(EPERM);
      expect(on(of(name), byUser, 0)).toBe(EPERM);
    }
  });

  test.each([
    // family, type, protocol
    [2, 1, 0, ALLOW],
    [2, 1, 6, ALLOW],
    [2, 1 | 0x80000 | 0x800, 6, ALLOW],
    [10, 1, 0, ALLOW],
    [2, 2, 0, ALLOW],
    [10, 2 | 0x80000, 17, ALLOW],
    [16, 3, 0, ALLOW],
    [16, 2 | 0x80000, 0, ALLOW],
    [2, 1, 17, EPROTONOSUPPORT],
    [2, 1, 262, EPROTONOSUPPORT],
    [2, 1, 132, EPROTONOSUPPORT],
    [2, 2, 6, EPROTONOSUPPORT],
    [2, 2, 1, EPROTONOSUPPORT],
    [10, 2, 58, EPROTONOSUPPORT],
    [2, 2, 136, EPROTONOSUPPORT],
    [2, 3, 0, EPROTONOSUPPORT],
    [2, 3, 1, EPROTONOSUPPORT],
    [10, 3, 255, EPROTONOSUPPORT],
    [2, 5, 0, EPROTONOSUPPORT],
    [2, 0, 0, EPROTONOSUPPORT],
    [16, 3, 4, EPROTONOSUPPORT],
    [16, 3, 12, EPROTONOSUPPORT],
    [16, 3, 16, EPROTONOSUPPORT],
    [1, 1, 0, EAFNOSUPPORT],
    [1, 2, 0, EAFNOSUPPORT],
    [17, 3, 3, EAFNOSUPPORT],
    [40, 1, 0, EAFNOSUPPORT],
    [38, 5, 0, EAFNOSUPPORT],
    [0, 1, 0, EAFNOSUPPORT],
    [44, 3, 0, EAFNOSUPPORT],
  ])("socket(%i, %i, %i)", (family, type, protocol, wanted) => {
    expect(on(of("socket"), family, type, protocol)).toBe(wanted);
    expect(on(of("socket"), HIGH + BigInt(family), HIGH + BigInt(type), HIGH + BigInt(protocol))).toBe(wanted);
  });

  test("every other family is refused", () => {
    for (let family = 0; family < 64; family++)
      if (![2, 10, 16].includes(family)) expect(on(of("socket"), family, 1, 0)).toBe(EAFNOSUPPORT);
  });

  test("Unix sockets have names where commands hand connect(2) over, and are never datagrams", () => {
    const socket = (program_: typeof program, type: number): number =>
      answerOf(program_, {
        number: of("socket"),
        architecture: AUDIT[architecture],
        arguments: [1n, BigInt(type), 0n],
      });
    for (const type of [1, 5, 1 | 0x80000 | 0x800]) {
      expect(socket(named, type)).toBe(ALLOW);
      expect(socket(program, type)).toBe(EAFNOSUPPORT);
    }
    for (const type of [0, 2, 3, 2 | 0x80000]) expect(socket(named, type)).toBe(EPROTONOSUPPORT);
  });

  test("a command hands connect(2) over and may not do what pid 1 does for it", () => {
    const command = commandProgram(architecture);
    const answer = (number: number): number =>
      answerOf(command, { number, architecture: AUDIT[architecture], arguments: [] });
    const connect = numberOf(CONNECT, architecture) as number;
    const refused = numbersOf(REFUSED_TO_COMMANDS, architecture);
    expect(answer(connect)).toBe(HAND_OVER);
    for (const number of refused) expect(answer(number)).toBe(EPERM);
    for (let number = 0; number <= 1_024; number++)
      if (number !== connect && !refused.includes(number)) expect(answer(number)).toBe(ALLOW);
    for (const other of [AUDIT[architecture === "arm64" ? "x86-64" : "arm64"], 0x40000003])
      expect(answerOf(command, { number: connect, architecture: other })).toBe(KILL);
  });

  test("without names Unix sockets exist only as connected pairs", () => {
    expect(on(of("socketpair"), 1, 1 | 0x80000, 0)).toBe(ALLOW);
    expect(on(of("socketpair"), 1, 5, 0)).toBe(ALLOW);
    expect(on(of("socketpair"), 1, 2, 0)).toBe(EPROTONOSUPPORT);
    expect(on(of("socketpair"), 30, 1, 0)).toBe(EAFNOSUPPORT);
  });

  test("without a network namespace there is no socket at all", () => {
    const bare = seccompProgram({ architecture, networkNamespace: false, namedSockets: true });
    for (const family of [1, 2, 10, 16, 40])
      expect(
        answerOf(bare, {
          number: of("socket"),
          architecture: AUDIT[architecture],
          arguments: [BigInt(family), 1n, 0n],
        }),
      ).toBe(EAFNOSUPPORT);
  });

  test("every comparison leads forward to an answer", () => {
    for (const [place, { code, yes, no }] of program.entries())
      if (code !== 0x06) expect(place + 1 + Math.max(yes, no)).toBeLessThan(program.length);
  });
});

describe.each(ARCHITECTURES)("the file worker on %s", (architecture) => {
  const program = filesSeccompProgram(architecture);
  const on = (number: number, ...values: readonly number[]): number =>
    answerOf(program, { number, architecture: AUDIT[architecture], arguments: values.map(BigInt) });
  const [mmap, openat, execve, socket, mprotect, openat2, ptrace, clone, connect] =
    architecture === "x86-64" ? [9, 257, 59, 41, 10, 437, 101, 56, 42] : [222, 56, 221, 198, 226, 437, 117, 220, 203];

  test("opens below its trees, and cannot execute or connect", () => {
    expect(on(openat2)).toBe(ALLOW);
    for (const number of [execve, socket, mprotect, ptrace, clone, connect, 425, 435, 1_000])
      expect(on(number)).toBe(EPERM);
  });

  test("names may be resolved through links, content may not be opened through them", () => {
    expect(on(openat, 5, 0, 0x280000)).toBe(ALLOW);
    expect(on(openat, 5, 0, 0x80000)).toBe(EPERM);
    expect(on(openat, 5, 0, 2)).toBe(EPERM);
  });

  test("memory is never executable", () => {
    expect(on(mmap, 0, 4096, 3)).toBe(ALLOW);
    expect(on(mmap, 0, 4096, 5)).toBe(EPERM);
    expect(on(mmap, 0, 4096, 7)).toBe(EPERM);
  });

  test("fewer than fifty calls are allowed", () => {
    const allowed = Array.from({ length: 1_024 }, (_, number) => number).filter((number) => on(number) === ALLOW);
    expect(allowed.length).toBeGreaterThan(35);
    expect(allowed.length).toBeLessThan(50);
  });

  test("another architecture's calls kill the process", () => {
    expect(answerOf(program, { number: openat2, architecture: 0x40000003 })).toBe(KILL);
  });
});

/** Changing a filter is deliberate: review the change, then record the new sum here. */
test.each([
  [
    "x86-64",
    seccompProgram({ architecture: "x86-64", networkNamespace: true, namedSockets: false }),
    "0193b92074fccfd6",
  ],
  ["arm64", seccompProgram({ architecture: "arm64", networkNamespace: true, namedSockets: false }), "45e8fd223fd9931a"],
  [
    "x86-64, sockets",
    seccompProgram({ architecture: "x86-64", networkNamespace: true, namedSockets: true }),
    "1487975bff4906a1",
  ],
  [
    "arm64, sockets",
    seccompProgram({ architecture: "arm64", networkNamespace: true, namedSockets: true }),
    "4682ce52c6370b84",
  ],
  ["x86-64, commands", commandProgram("x86-64"), "d2984385be7c7b8d"],
  ["arm64, commands", commandProgram("arm64"), "851a01361524a799"],
  ["x86-64, files", filesSeccompProgram("x86-64"), "253ce4dece27a938"],
  ["arm64, files", filesSeccompProgram("arm64"), "db09f785b12ab088"],
] as const)("the filter of %s is the reviewed one", (_, program, sum) => {
  expect(createHash("sha256").update(instructionBytes(program)).digest("hex").slice(0, 16)).toBe(sum);
});
