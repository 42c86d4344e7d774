// Calls until one is denied, and prints when: on the clock that all processes of a machine share.
import { Denied } from "./daemon-callers.ts";
import type { Call, Watched } from "./worker.ts";

const callsMax = 1_000_000;

export async function watchRevoked(call: Call): Promise<Watched> {
  let asked = 0n;
  for (let count = 0; count < callsMax; count++) {
    const before = process.hrtime.bigint();
    try {
      await call();
      asked = before;
    } catch (problem) {
      if (problem instanceof Denied) return { denied: String(process.hrtime.bigint()), asked: String(asked) };
      throw problem;
    }
  }
  throw new Error("the revocation was never seen");
}
