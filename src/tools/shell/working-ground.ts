// The base of relative paths in a call: the session's folder if it is in the agent's own root, else that root.
import type { Ground } from "../../core/authority/axes/path.ts";
import type { Reading } from "../../core/notation/reading.ts";

export function workingGround({ ground, workingRoot = null }: Reading): Ground {
  const { base } = ground;
  if (workingRoot === null || (base !== null && workingRoot.every((name, at) => name === base[at]))) return ground;
  return { ...ground, base: workingRoot };
}
