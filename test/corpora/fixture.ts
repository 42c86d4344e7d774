// The environment of the cases: who requests, what is granted, and the machine for paths.

import type { Destination, DestinationScope } from "../../src/core/authority/axes/destination.ts";
import { parsePath, tree } from "../../src/core/authority/axes/path.ts";
import { ANY } from "../../src/core/authority/axes/scope.ts";
import { type ScreenedAddress, screen } from "../../src/core/authority/axes/screen.ts";
import type { Authority } from "../../src/core/authority/chain.ts";
import { judge } from "../../src/core/authority/judge.ts";
import { DEEP } from "../../src/core/authority/patterns/segment.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { pathSettingsOf } from "../../src/platform/path-settings.ts";
import { chain, grant, link, moment, verb } from "../forge/authority.ts";

const everyHost: DestinationScope = {
  kind: "destinations",
  names: [[DEEP]],
  ranges: [],
  everyPublic: true,
  openings: [],
};

/** `net.get{hosts=["*"]}` */
export const everywhere: Authority = [chain(link("record", [grant("net.get", [everyHost, ANY])]))];

/** The folder that the path cases are about. */
export const root: readonly string[] = ["srv", "root"];

/** `fs.read{in=/srv/root}` */
const inRoot: Authority = [chain(link("record", [grant("fs.read", [{ kind: "sequences", of: [tree(root)] }])]))];

/** Paths are interpreted as in the product: `~`, relative paths and protected ones. */
const pathSettings = pathSettingsOf({ home: "/home/user", cwd: `/${root.join("/")}` });

/** Whether this text, read in the root, is a path that `fs.read{in=/srv/root}` covers. */
export function isReachable(path: string): boolean {
  const value = parsePath(path, pathSettings);
  if (!value.ok) return false;
  return judge(inRoot, { verb: verb("fs.read"), values: [value.value] }, moment()).outcome === "allow";
}

/** One GET under `net.get{hosts=["*"]}`, with the resolver's answer for the name. */
export function screenGet(host: Destination, port: number, answers: readonly string[] | null): ScreenedAddress {
  const request: Request = { verb: verb("net.get"), values: [host, port] };
  return screen(everywhere, request, answers, moment());
}
