// Every property starts from the same numbers in `npm test`, so the same commit gives the same answer everywhere;
// `npm run test:long` looks at new ones. A failure prints its seed: AMBIT_SEED=<number> tries it again.
import fc from "fast-check";

const FIXED = 20_261;
const asked = process.env["AMBIT_SEED"];
if (asked !== undefined && !/^\d{1,9}$/.test(asked)) throw new Error(`AMBIT_SEED is a number, not ${asked}`);
if (asked !== undefined || process.env["AMBIT_LONG"] !== "1")
  fc.configureGlobal({ seed: asked === undefined ? FIXED : Number(asked) });
