import { join } from "node:path";
import { test } from "vitest";
import { environment, root } from "./ambit.ts";
import { walkFirstFiveMinutes } from "./first-five-minutes.ts";

test("the first five minutes work as printed", () => {
  walkFirstFiveMinutes({ environment: { ...environment, PATH: `${join(root, "bin")}:${process.env["PATH"]}` } });
});
