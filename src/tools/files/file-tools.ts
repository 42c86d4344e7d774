// The built-in file tools: each input is checked against its schema, then parsed as one call.

import type { Ground } from "../../core/authority/axes/path.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { type Result, refuse } from "../../core/base/result.ts";
import { inputParser } from "../../runtime/tool/input.ts";
import { type DeleteInput, deleteCall, type WriteInput, writeCall } from "./change.ts";
import { FILE_TOOL_DEFINITIONS, type FileToolDefinition, type FileToolName } from "./definitions.ts";
import { type EditInput, editCall } from "./edit.ts";
import type { FileCall, FileTool } from "./file-call.ts";
import { type GlobInput, type GrepInput, globCall, grepCall, type ListInput, listCall } from "./find.ts";
import { type ReadInput, readCall } from "./read.ts";

export function fileTools(): readonly FileTool[] {
  return FILE_TOOL_DEFINITIONS.map(toolOf);
}

function toolOf(definition: FileToolDefinition): FileTool {
  const { name, input: schema } = definition;
  const acceptor = inputParser(schema);
  return {
    name,
    definition,
    call: (input, ground) => {
      const accepted = acceptor.accept(input);
      if (accepted.ok) return callOf(name, input, ground);
      const [issue] = accepted.issues;
      return refuse(
        "bad_value",
        issue === undefined ? "the arguments do not match the tool's input" : `${issue.at} ${issue.message}`.trim(),
      );
    },
  };
}

/** INVARIANT: the input passed the tool's own schema; the types below repeat that schema. */
function callOf(name: FileToolName, input: JsonObject, ground: Ground): Result<FileCall> {
  const given: unknown = input;
  switch (name) {
    case "fs_read":
      return readCall(given as ReadInput, ground);
    case "fs_write":
      return writeCall(given as WriteInput, ground);
    case "fs_edit":
      return editCall(given as EditInput, ground);
    case "fs_delete":
      return deleteCall(given as DeleteInput, ground);
    case "fs_list":
      return listCall(given as ListInput, ground);
    case "fs_glob":
      return globCall(given as GlobInput, ground);
    case "fs_grep":
      return grepCall(given as GrepInput, ground);
    default:
      return name satisfies never;
  }
}
