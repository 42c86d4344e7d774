// Which links outside the root a plan repeats: those that lead to what it shows, at places where nothing else is.
import { expect, test } from "vitest";
import type { Plan, PlanLink } from "./plan.ts";
import { withLinks } from "./root-rules.ts";
import { at, FACTS, PLAN } from "./testing/plan.ts";

const plan: Plan = { ...PLAN, root: { path: at("/data/work/ws"), mode: "draft" }, masked: [at("/data/work/ws/key")] };

function linksFrom(...links: readonly (readonly [path: string, target: string])[]): readonly string[] {
  const found: PlanLink[] = links.map(([path, target]) => ({ path: at(path), target: at(target) }));
  return (withLinks(plan, found, FACTS).links ?? []).map((one) => `/${one.path.join("/")}`);
}

test.each<[path: string, target: string, why: string]>([
  ["/home/u/work", "/data/work", "above the root"],
  ["/home/u/ws", "/data/work/ws", "the root"],
  ["/home/u/src", "/data/work/ws/src", "below the root"],
  ["/w", "/data/work", "at the top of the machine"],
  ["/home/u/top", "/", "the top of the machine: what the sandbox has there"],
  ["/data/other", "/data/work", "beside the root"],
])("%s -> %s is repeated: %s", (path, target) => {
  expect(linksFrom([path, target])).toEqual([path]);
});

test.each<[path: string, target: string, why: string]>([
  ["/home/u/work", "/data/works", "beside the root"],
  ["/home/u/work", "/data/work/ws2", "a name that begins like the root's"],
  ["/home/u/.ssh", "/data/work", "a protected path"],
  ["/home/u/.ssh/work", "/data/work", "inside a protected path"],
  ["/home/v/.aws/work", "/data/work", "inside a protected path of another user"],
  ["/home/u/.config/ambit/work", "/data/work", "inside our configuration"],
  ["/home/u/x/.ambit", "/data/work", "an authority folder"],
  ["/data/work/ws/link", "/data/work/ws", "inside the root"],
  ["/data/work/ws", "/data/work/ws/src", "in place of the root"],
  ["/data", "/data/work", "above the root: it would hide it"],
  ["/home/u/.tools/node", "/data/work/ws", "in place of a program tree"],
  ["/home/u/.tools/node/lib", "/data/work/ws", "inside a program tree"],
  ["/home/u/.tools", "/data/work/ws", "above a program tree"],
  ["/tmp/w", "/data/work", "inside the folder that is emptied"],
  ["/etc/ld.so.preload", "/data/work/ws/a.so", "a file that loaders trust"],
  ["/usr/local/lib/w", "/data/work", "inside the system's programs"],
  ["/bin", "/data/work/ws/bin", "the system's programs"],
  ["/run/ambit/bin", "/data/work/ws/bin", "our own folder"],
  ["/proc/self/cwd", "/data/work/ws", "the kernel's"],
  ["/dev/shm", "/data/work/ws", "devices"],
  ["/home/u/key", "/data/work/ws/key", "to a hidden name"],
  ["/home/u/key", "/data/work/ws/key/x", "to a name below a hidden one"],
  ["/home/u/a\0b", "/data/work", "a name that is no plain text"],
  ["/", "/data/work", "no name"],
])("%s -> %s is not: %s", (path, target) => {
  expect(linksFrom([path, target])).toEqual([]);
});

test("one of two that are in each other's place, in the order they were found", () => {
  expect(linksFrom(["/home/u/w", "/data"], ["/home/u/w/x", "/data/work"], ["/home/u/w", "/data/work"])).toEqual([
    "/home/u/w",
  ]);
});

test("a bounded number, and none without a root", () => {
  const many = Array.from({ length: 100 }, (_, place) => [`/home/u/w${place}`, "/data/work"] as const);
  expect(linksFrom(...many)).toHaveLength(16);
  const link = { path: at("/home/u/w"), target: at("/data") };
  expect(withLinks({ ...plan, root: null }, [link], FACTS)).toEqual({ ...plan, root: null });
});
