// The words of `ambit records`, and its help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import type { JsonOption } from "../terminal/problems.ts";
import {
  type RecordsListOptions,
  type RecordsNewOptions,
  type RecordsPorts,
  recordsList,
  recordsNew,
  recordsSearch,
  recordsShow,
} from "./records.ts";

/** Adds the commands to the program; `end` is told how the one that ran has ended. */
export function addRecords(program: Command, ports: RecordsPorts, end: (exit: ExitCode) => void): void {
  const records = program
    .command("records")
    .description("list, show, search and create records: notes, tasks and other classes");
  records
    .command("list")
    .description("list records")
    .option("--class <class>", "only this class")
    .option("--json", "print one JSON object", false)
    .action((options: RecordsListOptions) => end(recordsList(ports, options)));
  records
    .command("show")
    .description("show one record, with its links and backlinks")
    .argument("<id>", "the path below .ambit/records without .md, or the `id` in the record")
    .option("--json", "print one JSON object", false)
    .action((id: string, options: JsonOption) => end(recordsShow(ports, id, options)));
  records
    .command("search")
    .description("find records that contain all of these words or word beginnings")
    .argument("<words...>", "words in the title, tags, id or body")
    .option("--class <class>", "only this class")
    .option("--json", "print one JSON object", false)
    .action((words: string[], options: RecordsListOptions) => end(recordsSearch(ports, words, options)));
  records
    .command("new")
    .description("create a record; never overwrites an existing one")
    .argument("<id>", "such as notes/first")
    .requiredOption("--class <class>", "the class of the record")
    .option("--title <title>", "the title of the record")
    .option("--json", "print one JSON object", false)
    .action((id: string, options: RecordsNewOptions) => end(recordsNew(ports, id, options)));
  for (const one of [records, ...records.commands]) one.addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit records list --class note
  ambit records show notes/first
  ambit records search release git --class decision
  ambit records new notes/first --class note --title "What we know"

Exit status: 0 done, 1 a file is missing or unreadable, 2 usage.`;
