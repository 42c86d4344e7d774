// Makes warrants. INVARIANT: imported by `gate/` alone; the tidy test holds that.

import type { Warrant } from "./warrant.ts";
import { mark } from "./warrant-brand.ts";

/** The warrant is a frozen copy without a prototype: nothing on it leads anywhere, nothing on it can be changed. */
export function mint(content: Warrant): Warrant {
  const { agent, tool, arguments: input, requests, basis, receipt } = content;
  const warrant: Warrant = Object.assign(Object.create(null) as object, {
    agent,
    tool,
    arguments: deepFreeze(input),
    requests: Object.freeze(
      requests.map((request) => Object.freeze({ ...request, values: deepFreeze([...request.values]) })),
    ),
    basis: deepFreeze(basis.map(({ chain, grants }) => ({ chain, grants: [...grants] }))),
    receipt,
  });
  mark(warrant);
  return Object.freeze(warrant);
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  // By number and by name: a list of what is inside would be made for every one of them.
  if (Array.isArray(value)) for (let at = 0; at < value.length; at++) deepFreeze<unknown>(value[at]);
  else for (const key of Object.keys(value)) deepFreeze<unknown>((value as Record<string, unknown>)[key]);
  return Object.freeze(value);
}
