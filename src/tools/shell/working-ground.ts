// Where relative names of a call begin: in the session's folder where that lies in the agent's own root, else in that root.
import type { Ground } from "../../core/authority/axes/path.ts";
import type { Reading } from "../../core/notation/reading.ts";

export function workingGround({ ground, workingRoot = null }: Reading): Ground {
  const { base } = ground;
  if (workingRoot === null || (base !== null && workingRoot.every((name, at) => name === base[at]))) return ground;
  return { ...ground, base: workingRoot };
}
