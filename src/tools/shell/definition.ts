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
    "Run a short script of plain commands, each confined to a folder. Supported: words, quotes, `|`, `&&`, `||`, `;`, newlines, " +
    "`<`, `>`, `>>`, `2>`, `2>>`, `2>&1`, file-name patterns, and the variables PWD, HOME, TMPDIR, USER, LOGNAME, SHELL, " +
    "LANG, TERM. It is not a full shell: substitutions, subshells, loops, functions, assignments, `cd`, background jobs and " +
    "here-documents are refused. The whole script is checked first; if one part is denied, nothing runs. " +
    "Returns the exit status of the last command, the output, and the exit status of each command.",
  input: objectSchema({
    script: textSchema("The script. Pass either this or `argv`.", 1, scriptCharactersMax),
    argv: textsSchema(
      "One command instead of a script: the program and its arguments, passed literally.",
      wordsMax,
      131_072,
    ),
    in: textSchema("The folder to run in; default: the working folder.", 1, folderCharactersMax),
    root: choiceSchema(
      "Whether commands may change that folder; default: ro. Redirections do not need rw, but a grant to write their file.",
      ["ro", "rw"],
    ),
    seconds: countSchema(`Timeout of the whole script in seconds; default ${scriptSecondsUsual}.`, 1, scriptSecondsMax),
  }),
  verbs: ["proc.exec"],
};
