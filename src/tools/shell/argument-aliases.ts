// Accepts argument names that other systems use for `shell`: `program` and `args`, or `cmd`. Ambiguous
// arguments stay unchanged, and the tool's schema refuses them.
import { isJsonList, type JsonObject, member } from "../../core/base/json.ts";

export function withAliases(tool: string, input: JsonObject): JsonObject {
  if (tool !== "shell") return input;
  const { program, args, cmd, ...rest } = input;
  const isOurs = member(input, "script") !== undefined || member(input, "argv") !== undefined;
  if (isOurs || (program === undefined) === (cmd === undefined)) return input;
  if (cmd !== undefined) return args === undefined ? { ...rest, script: cmd } : input;
  if (program === undefined || (args !== undefined && !isJsonList(args))) return input;
  return { ...rest, argv: [program, ...(args ?? [])] };
}
