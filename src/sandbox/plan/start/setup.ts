// The plan as set-up frames for pid 1 of a sandbox, in the order of `native/PROTOCOL.md`.
import type { PortRange } from "../../../core/authority/axes/scope.ts";
import { instructionBytes } from "../kernel/bpf.ts";
import { type KernelPin, kernelPins, PIN_BASE } from "../kernel/kernel-pins.ts";
import { type LandlockRules, landlockRules } from "../kernel/landlock.ts";
import { commandProgram, seccompProgram } from "../kernel/seccomp.ts";
import { type RootOverlay, rootOverlay } from "../overlay.ts";
import type { Limits, Plan, PlanNetwork, PlanPath } from "../plan.ts";
import { homeFolder, temporaryFolder } from "../plan-path.ts";
import { frameOf, PayloadWriter } from "./frame.ts";
import type { SystemFacts } from "./system.ts";

export type Encode = (text: string) => Uint8Array;

/** Facts of one sandbox once it has started. */
export interface StartFacts {
  /** From the program's first frame. 0: no Landlock. */
  readonly landlock: number;
  /** A control group limits the memory of the whole tree. */
  readonly treeMemoryHeld: boolean;
  /** Pid 1 can connect the sockets of a command, from its first frame. */
  readonly connects: boolean;
}

export function setupFrames(plan: Plan, system: SystemFacts, start: StartFacts, encode: Encode): readonly Uint8Array[] {
  const landlock = landlockRules(plan, system, start.landlock);
  // Landlock keeps their names in the private folder.
  const namedSockets = start.connects && landlock !== null;
  const seccomp = seccompProgram({ architecture: system.architecture, networkNamespace: true, namedSockets });
  return [
    ...overlayFrames(plan, encode),
    ...pinFrames(kernelPins(system), encode),
    ...(landlock === null ? [] : landlockFrames(landlock, encode)),
    frameOf("S", instructionBytes(seccomp)),
    ...limitFrames(resourcesOf(plan.limits, start)),
    ...temporaryFrames(plan, encode),
    ...(namedSockets ? [socketFrame(plan, system, encode)] : []),
    ...(plan.hasTerminals === true ? [frameOf("Y", new PayloadWriter().u32(terminalsMax).done())] : []),
    ...(plan.network === null ? [] : [networkFrame(plan.network)]),
    frameOf("G", new Uint8Array(0)),
  ];
}

/** In one sandbox. The kernel counts the terminals of all instances together, and the person needs some. */
const terminalsMax = 64;

const MODES = { "read-only": 1, draft: 2 } as const satisfies Record<RootOverlay, number>;

function overlayFrames(plan: Plan, encode: Encode): readonly Uint8Array[] {
  const overlay = rootOverlay(plan);
  if (overlay === null || plan.root === null) return [];
  const depth = plan.root.path.length;
  return [
    frameOf(
      "V",
      new PayloadWriter()
        .u8(MODES[overlay])
        .text(encode(pathOf(plan.root.path)))
        .done(),
    ),
    ...plan.masked.map((path) => frameOf("M", new PayloadWriter().text(encode(path.slice(depth).join("/"))).done())),
  ];
}

const ACTIONS = { readonly: 1, masked: 2 } as const satisfies Record<KernelPin["action"], number>;

function pinFrames(pins: readonly KernelPin[], encode: Encode): readonly Uint8Array[] {
  if (pins.length === 0) return [];
  return [
    frameOf("T", new PayloadWriter().text(encode(pathOf(PIN_BASE))).done()),
    ...pins.map(({ path, action }) =>
      frameOf(
        "P",
        new PayloadWriter()
          .u8(ACTIONS[action])
          .text(encode(path.join("/")))
          .done(),
      ),
    ),
  ];
}

function pathOf(path: PlanPath): string {
  return `/${path.join("/")}`;
}

export function landlockFrames({ handled, rules }: LandlockRules, encode: Encode): readonly Uint8Array[] {
  const { files, network, scopes } = handled;
  return [
    frameOf("H", new PayloadWriter().u64(files).u64(network).u64(scopes).done()),
    ...rules.map(({ rights, path }) =>
      frameOf(
        "L",
        new PayloadWriter()
          .u64(rights)
          .text(encode(`/${path.join("/")}`))
          .done(),
      ),
    ),
  ];
}

/** Numbers of `setrlimit`, the same on both architectures. */
const RESOURCES = {
  cpu: 0,
  fileSize: 1,
  data: 2,
  core: 4,
  processes: 6,
  openFiles: 7,
  lockedMemory: 8,
  memory: 9,
} as const;

export type Resources = readonly (readonly [resource: keyof typeof RESOURCES, limit: number])[];

const lockedMemoryBytesMax = 65_536;

/**
 * A core dump is a copy of everything the process knew. A limit of one byte prevents it, and is the only value that
 * also keeps the kernel from starting the machine's own core collector, outside and as root: zero does not.
 */
const coreBytesMax = 1;

export function resourcesOf(limits: Limits, { treeMemoryHeld }: Pick<StartFacts, "treeMemoryHeld">): Resources {
  return [
    ["cpu", limits.cpuSeconds],
    ["fileSize", limits.fileBytes],
    // Limits writable memory: reserved address space is free. Not with a control group, because sanitizers map more
    // than they use.
    ...(treeMemoryHeld ? [] : [["data", limits.treeMemoryBytes + (limits.unusedBytes ?? 0)] as const]),
    ["core", coreBytesMax],
    ["processes", limits.processes],
    ["openFiles", limits.openFiles],
    ["lockedMemory", lockedMemoryBytesMax],
    ...(limits.memoryBytes === null ? [] : [["memory", limits.memoryBytes] as const]),
  ];
}

export function limitFrames(resources: Resources): readonly Uint8Array[] {
  return resources.map(([resource, limit]) =>
    frameOf(
      "U",
      new PayloadWriter()
        .u32(RESOURCES[resource])
        .u64(BigInt(count(limit)))
        .done(),
    ),
  );
}

/** INVARIANT: no number wraps around in a frame, where the largest ones mean "no limit". */
export function count(number: number): number {
  if (!Number.isSafeInteger(number) || number < 0) throw new RangeError("a limit is a whole number");
  return number;
}

const bytesMax = 0xffffffff;

/** A home folder that is in the temporary folder is emptied and created again with it. */
function temporaryFrames(plan: Plan, encode: Encode): readonly Uint8Array[] {
  const bytes = Math.min(count(plan.limits.temporaryBytes), bytesMax);
  return [temporaryFolder(plan), ...(plan.home === undefined ? [homeFolder(plan)] : [])].map((path) =>
    frameOf(
      "D",
      new PayloadWriter()
        .u32(bytes)
        .text(encode(`/${path.join("/")}`))
        .done(),
    ),
  );
}

/** Where sockets may have names, and the filter that hands the connections of a command over. */
function socketFrame(plan: Plan, system: SystemFacts, encode: Encode): Uint8Array {
  const program = instructionBytes(commandProgram(system.architecture));
  const path = encode(`/${temporaryFolder(plan).join("/")}`);
  return frameOf("Q", new PayloadWriter().text(path).bytes(program).done());
}

/** Single listeners are for kernels on which not every port can be redirected at once. */
const portsMax = 64;
const COMMON: readonly number[] = [443, 80, 22, 8_443, 8_080, 5_432, 3_306, 6_379, 9_418];

/** Of ranges too wide to open port by port, the common ports and then the lowest: less than granted, never more. */
export function listedPorts(ranges: readonly PortRange[]): readonly number[] {
  const isIn = (port: number): boolean => ranges.some(({ low, high }) => port >= low && port <= high);
  const ports = new Set(COMMON.filter(isIn));
  for (const { low, high } of ranges)
    for (let port = Math.max(low, 1); port <= Math.min(high, 65_535) && ports.size < portsMax; port++) ports.add(port);
  return [...ports].sort((left, right) => left - right);
}

function networkFrame({ ports: ranges, loopback: granted, relay }: PlanNetwork): Uint8Array {
  const ports = listedPorts(ranges);
  const loopback = relay === undefined ? granted : [...granted, relay];
  const payload = new PayloadWriter().u8(1).u16(ports.length).u16(loopback.length);
  for (const port of [...ports, ...loopback]) payload.u16(port);
  return frameOf("N", payload.done());
}
