// A machine and a plan for tests: home /home/u, one workspace, our folders below the home.
import type { Plan } from "../plan.ts";
import { DEFAULT_LIMITS, type ExistingName, type PlanFacts } from "../plan-facts.ts";
import type { SystemFacts } from "../start/system.ts";

export function at(text: string): readonly string[] {
  return text.split("/").filter((name) => name !== "");
}

/** An existing name; `target` and `by` are a link's. */
export function existingName(
  path: string,
  kind: ExistingName["kind"],
  target = "",
  ...by: readonly string[]
): ExistingName {
  return { path: at(path), kind, target: target === "" ? null : at(target), by: by.map(at) };
}

/** Plain ASCII; production code passes a real encoder. */
export function encode(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

export const SYSTEM: SystemFacts = {
  architecture: "x86-64",
  user: { name: "u", user: 1000, group: 1000 },
  program: at("/opt/ambit/native/ambit-native"),
  top: [
    { name: "bin", link: "usr/bin" },
    { name: "lib", link: "usr/lib" },
    { name: "lib64", link: null },
    { name: "sbin", link: "/etc" },
  ],
  etc: ["hosts", "ld.so.cache", "localtime", "npmrc", "passwd", "shadow", "ssl"],
};

export const FACTS: PlanFacts = {
  home: at("/home/u"),
  workspaces: [at("/home/u/work/ws")],
  ours: [at("/home/u/.local/state/ambit"), at("/home/u/.config/ambit"), at("/run/user/1000/ambit")],
  program: at("/opt/ambit"),
  runtime: [],
  protectedPaths: [at("/home/u/.ssh"), at("/home/*/.aws"), at("/home/u/work/ws/.ambit"), at("/etc/shadow")],
  found: [],
  listed: [],
  host: { user: "u", terminal: "xterm-256color", language: "C.UTF-8", timeZone: "Europe/Berlin", allowed: [] },
  limits: DEFAULT_LIMITS,
  moment: { now: 0, clean: true, generation: 0, revoked: null, exhausted: null },
};

export const PLAN: Plan = {
  root: { path: at("/home/u/work/ws"), mode: "draft" },
  runtime: [at("/home/u/.tools/node")],
  masked: [at("/home/u/work/ws/secrets"), at("/home/u/work/ws/deep/key")],
  directory: at("/home/u/work/ws/src"),
  environment: [
    ["PATH", "/usr/bin:/bin"],
    ["HOME", "/tmp/home"],
  ],
  network: null,
  limits: DEFAULT_LIMITS,
};

export const NETWORK: NonNullable<Plan["network"]> = {
  ports: [{ low: 443, high: 443 }],
  loopback: [],
  chains: [[["net.connect{hosts=[example.com],ports=[443]}"]]],
};
