// The users as which tests of the command line start it. `npm test` takes the user who runs it; on CI that is root, and
// `scripts/as-user.mjs` runs the same files as an ordinary user. `npm run test:long` takes both where root can become another.
import { isLong } from "./long.ts";
import { ORDINARY } from "./ordinary-user.ts";

const own = process.getuid?.() ?? 0;

export const CALLERS: readonly number[] = isLong && own === 0 ? [0, ORDINARY] : [own];
