// Arguments as clients of other servers spell them, for tools of the same name: one command as `program` and `args`, a script
// as `cmd`. What is meant twice is left as it is, and refused.
import { isJsonList, type JsonObject, member } from "../authority/json.ts";

export function ourSpelling(tool: string, input: JsonObject): JsonObject {
  if (tool !== "shell") return input;
  const { program, args, cmd, ...rest } = input;
  const isOurs = member(input, "script") !== undefined || member(input, "argv") !== undefined;
  if (isOurs || (program === undefined) === (cmd === undefined)) return input;
  if (cmd !== undefined) return args === undefined ? { ...rest, script: cmd } : input;
  if (program === undefined || (args !== undefined && !isJsonList(args))) return input;
  return { ...rest, argv: [program, ...(args ?? [])] };
}
