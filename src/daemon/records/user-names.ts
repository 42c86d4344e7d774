// Users that have a record, by the names of their files in the user's own configuration.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../platform/path-target.ts";

const recordsMax = 10_000;

/** Null if unknown. */
export function userNames(config: string | null): readonly string[] | null {
  if (config === null) return [];
  try {
    const names = readdirSync(join(config, "users")).filter((name) => name.endsWith(".md"));
    return names.length > recordsMax ? null : names.map((name) => name.slice(0, -".md".length));
  } catch (error) {
    return codeOf(error) === "ENOENT" ? [] : null;
  }
}
