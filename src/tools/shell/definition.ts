// Definition of the `shell` tool for models: name, description and input schema. Data only.
import type { JsonSchema } from "../../runtime/tool/json-schema.ts";
import { choiceSchema, countSchema, objectSchema, textSchema, textsSchema } from "../../runtime/tool/schema-parts.ts";
import { scriptCharactersMax, scriptSecondsMax, scriptSecondsUsual, wordsMax } from "./language/limits.ts";

export interface ShellDefinition {
  readonly name: "shell";
  readonly description: string;
  readonly input: JsonSchema;
  readonly verbs: readonly string[];
}

const folderCharactersMax = 4096;

export const SHELL_DEFINITION: ShellDefinition = {
  name: "shell",
  description:
    "Run a short script of plain commands, each confined to a folder: words, quotes, `|`, `&&`, `||`, `;`, line ends, " +
    "`<`, `>`, `>>`, `2>`, `2>>`, `2>&1`, file-name patterns, and the variables PWD, HOME, TMPDIR, USER, LOGNAME, SHELL, " +
    "LANG, TERM. No shell runs it: substitutions, subshells, loops, functions, assignments, `cd`, background jobs and " +
    "here-documents are refused. Everything the script needs is decided first; if one part is not allowed, nothing runs. " +
    "Returns how the last command ended, what was written, and how each command ended.",
  input: objectSchema({
    script: textSchema("The script. Give this or `argv`.", 1, scriptCharactersMax),
    argv: textsSchema("One command instead of a script: the program and its arguments as they are.", wordsMax, 131_072),
    in: textSchema("The folder it runs in; the working folder if left out.", 1, folderCharactersMax),
    root: choiceSchema(
      "Whether the commands may change that folder: ro if left out. Redirections need leave to write their file, not this.",
      ["ro", "rw"],
    ),
    seconds: countSchema(`How long all of it may take; ${scriptSecondsUsual} if left out.`, 1, scriptSecondsMax),
  }),
  verbs: ["proc.exec"],
};
