// One call of a file tool: what it asks for, and what it does with files once that is allowed.

import type { Ground } from "../../core/authority/axes/path.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import type { Result } from "../../core/base/result.ts";
import type { FilePath, Files } from "../../core/ports/files.ts";
import type { FileToolDefinition, FileToolName } from "./definitions.ts";

export type FileAnswer =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly code: DenialCode; readonly message: string };

export interface FileCall {
  readonly requests: readonly Request[];
  /** What it changes, where it changes something: two changes of one name wait for each other. */
  readonly changes: FilePath | null;
  /** The answer tells of what is in files: it is to be believed no more than they are. */
  readonly isReading: boolean;
  carry(files: Files): Promise<FileAnswer>;
}

export interface FileTool {
  readonly name: FileToolName;
  readonly definition: FileToolDefinition;
  /** `ground.base`: the working folder. The same input on the same ground is the same call. */
  call(input: JsonObject, ground: Ground): Result<FileCall>;
}
