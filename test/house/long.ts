// Two sizes for the same test: `npm test` takes a small case of each shape, `npm run test:long` (AMBIT_LONG=1) the large one.

export const isLong: boolean = process.env["AMBIT_LONG"] === "1";

/** How much of something this run tries. */
export function sizeFor<T>(short: T, long: T): T {
  return isLong ? long : short;
}
