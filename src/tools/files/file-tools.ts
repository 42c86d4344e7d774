// The built-in file tools: what each requests, and what it does with the files of its context.

import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import { type Result, refuse } from "../../core/base/result.ts";
import type { Context } from "../../runtime/context/context.ts";
import { readEdits } from "../../runtime/context/file-edit.ts";
import { editBytesMax } from "../../runtime/context/limits.ts";
import type { Edit } from "../../runtime/context/replace.ts";
import { type UseResult, useResult } from "../../runtime/context/use-result.ts";
import { type BuiltinTool, type CallReading, requestsFor } from "../../runtime/tool/builtin.ts";
import { FILE_TOOL_DEFINITIONS, type FileToolName } from "./definitions.ts";
import { displayPath } from "./display-path.ts";
import { glob, globRequests, grep, grepRequests, list } from "./find.ts";
import { read } from "./read.ts";

interface PathInput {
  readonly path: string;
}

interface WriteInput extends PathInput {
  readonly content: string;
}

interface EditInput extends PathInput {
  readonly edits: readonly Edit[];
}

const ACTS: Readonly<Record<FileToolName, Pick<BuiltinTool, "requests" | "execute">>> = {
  fs_read: { requests: pathRequests("fs.read"), execute: read },
  fs_write: { requests: writeRequests, execute: write },
  fs_edit: { requests: editRequests, execute: edit },
  fs_delete: { requests: pathRequests("fs.delete"), execute: remove },
  fs_list: { requests: pathRequests("fs.read"), execute: list },
  fs_glob: { requests: globRequests, execute: glob },
  fs_grep: { requests: grepRequests, execute: grep },
};

export const FILE_TOOLS: readonly BuiltinTool[] = FILE_TOOL_DEFINITIONS.map((definition) => ({
  ...definition,
  ...ACTS[definition.name],
}));

/** Of the named path; of the working folder by default. */
function pathRequests(verb: "fs.read" | "fs.delete"): BuiltinTool["requests"] {
  return (input, reading) => {
    const { path = "." } = input as Partial<PathInput>;
    return requestsFor(reading, { verb, path });
  };
}

function writeRequests(input: JsonObject, reading: CallReading): Result<readonly Request[]> {
  const { path, content } = input as unknown as WriteInput;
  const length = Buffer.byteLength(content);
  // A lone surrogate would be written as another character. If every character is one byte, there is none.
  if (length !== content.length && /\p{Surrogate}/u.test(content))
    return refuse("bad_value", "the content has an unpaired surrogate");
  if (length > editBytesMax) return refuse("too_long", `the content is longer than ${editBytesMax} bytes`);
  return requestsFor(reading, { verb: "fs.write", path });
}

async function write(input: JsonObject, { files }: Context): Promise<UseResult<Json>> {
  const { path, content } = input as unknown as WriteInput;
  const at = await files.locate(path);
  if (!at.ok) return at;
  const written = await files.write(path, content, { folders: true });
  return written.ok ? useResult({ path: displayPath(at.value), bytes: Buffer.byteLength(content) }) : written;
}

function editRequests(input: JsonObject, reading: CallReading): Result<readonly Request[]> {
  const { path, edits } = input as unknown as EditInput;
  const read = readEdits(edits);
  return read.ok ? requestsFor(reading, { verb: "fs.read", path }, { verb: "fs.write", path }) : read;
}

async function edit(input: JsonObject, { files }: Context): Promise<UseResult<Json>> {
  const { path, edits } = input as unknown as EditInput;
  const at = await files.locate(path);
  if (!at.ok) return at;
  const edited = await files.edit(path, edits);
  if (!edited.ok) return edited;
  const made = edited.value.edits.map(({ replaced, line }) => ({ replaced, line }));
  return useResult({ path: displayPath(at.value), edits: made, bytes: edited.value.bytes });
}

async function remove(input: JsonObject, { files }: Context): Promise<UseResult<Json>> {
  const { path } = input as unknown as PathInput;
  const at = await files.locate(path);
  if (!at.ok) return at;
  const gone = await files.remove(path);
  return gone.ok ? useResult({ path: displayPath(at.value), deleted: true }) : gone;
}
