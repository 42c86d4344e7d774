// How tools may change what a request names. Requests that change no file are free.

import { isSegments } from "../../core/authority/axes/scope.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Request } from "../../core/authority/request.ts";
import type { CliPorts } from "../ports.ts";

const CHANGING: readonly string[] = ["fs.write", "fs.delete"];

export function changeClass(
  ports: Pick<CliPorts, "changeClass">,
  authority: Authority,
  { verb, values: [place] }: Request,
): ReturnType<CliPorts["changeClass"]> {
  if (!CHANGING.includes(verb.verb) || place === undefined || !isSegments(place)) return "free";
  return ports.changeClass(authority, place.segments);
}
