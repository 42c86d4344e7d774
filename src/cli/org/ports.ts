// The ports of the commands about an org.

import type { RecordMember, WholeOrg } from "../../agents/disk/org-members.ts";
import type { Failure, Result } from "../../core/base/result.ts";
import type { Source } from "../../core/notation/source.ts";
import type { OrgTree } from "../../org/org-markdown.ts";
import type { ControlPorts } from "../control-ports.ts";
import type { CliPorts } from "../ports.ts";

export type FileResult<T> = Result<T, Failure>;

/** A file to write, by its path inside the workspace. */
export interface NewFile {
  readonly path: string;
  readonly text: string;
}

export interface OrgPorts extends CliPorts, ControlPorts {
  /** The same with files read anew. */
  fresh(): OrgPorts;
  readonly orgs: {
    /** The org of this workspace; null where there is none. */
    whole(): WholeOrg | null;
    read(path: string): FileResult<Source>;
    /** The tree of a text; the ending of its name says the form. */
    parse(source: Source): OrgTree;
    /** The agent of a record, as an org file would have it; null if the record does not belong to an org. */
    parseRecord(source: Source, id: string): RecordMember | null;
    /** Writes files that are not there yet: none of them where one is. The message names it. */
    write(files: readonly NewFile[]): FileResult<null>;
    /** The org file itself; null where there is none, or where it has no effect as a whole. */
    file(): { readonly path: string; readonly source: Source } | null;
    /** Writes a text in place of the one that was read, and trusts the edit. Refused if the file has another text now. */
    edit(file: { readonly path: string; readonly source: Source }, text: string): { readonly ok: true } | Failure;
  };
}
