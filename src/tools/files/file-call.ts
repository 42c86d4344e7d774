// One call of a file tool: its requests, and its execution once they are allowed.

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
  /** The path it changes, if any: changes of one path run one after another. */
  readonly changes: FilePath | null;
  /** The answer contains file content, and is as untrusted as the files. */
  readonly isReading: boolean;
  carry(files: Files): Promise<FileAnswer>;
}

export interface FileTool {
  readonly name: FileToolName;
  readonly definition: FileToolDefinition;
  /** `ground.base`: the working folder. The same input on the same ground is the same call. */
  call(input: JsonObject, ground: Ground): Result<FileCall>;
}
