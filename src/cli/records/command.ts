// The words of `ambit records`, and its help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import type { Asked } from "../terminal/problems.ts";
import {
  type RecordsListOptions,
  type RecordsNewOptions,
  type RecordsWorld,
  recordsList,
  recordsNew,
  recordsSearch,
  recordsShow,
} from "./records.ts";

/** Adds the commands to the program; `end` is told how the one that ran has ended. */
export function addRecords(program: Command, world: RecordsWorld, end: (exit: ExitCode) => void): void {
  const records = program.command("records").description("the workspace's records: notes, tasks, whatever has a class");
  records
    .command("list")
    .description("all records, or those of one class")
    .option("--class <class>", "only this class")
    .option("--json", "one object instead of lines", false)
    .action((options: RecordsListOptions) => end(recordsList(world, options)));
  records
    .command("show")
    .description("one record, with what it links to and what links to it")
    .argument("<id>", "its path below .ambit/records without .md, or its own `id`")
    .option("--json", "one object instead of lines", false)
    .action((id: string, options: Asked) => end(recordsShow(world, id, options)));
  records
    .command("search")
    .description("records that have all of these words, or words that begin like them")
    .argument("<words...>", "in the title, the tags, the id or the body")
    .option("--class <class>", "only this class")
    .option("--json", "one object instead of lines", false)
    .action((words: string[], options: RecordsListOptions) => end(recordsSearch(world, words, options)));
  records
    .command("new")
    .description("write a new record; never over one that is there")
    .argument("<id>", "such as notes/first")
    .requiredOption("--class <class>", "what kind of record it is")
    .option("--title <title>", "what it is about")
    .option("--json", "one object instead of a line", false)
    .action((id: string, options: RecordsNewOptions) => end(recordsNew(world, id, options)));
  for (const one of [records, ...records.commands]) one.addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit records list --class note
  ambit records show notes/first
  ambit records search release git --class decision
  ambit records new notes/first --class note --title "What we know"

Exit status: 0 done, 1 a file could not be read or is not there, 2 usage.`;
