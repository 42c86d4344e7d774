// The words of `ambit org`, and its help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import type { JsonOption } from "../terminal/problems.ts";
import type { OrgPorts } from "./ports.ts";
import { orgBudgets, orgShow } from "./show.ts";
import { type ExportOptions, type ImportOptions, orgExport, orgImport } from "./transfer.ts";

export function addOrg(program: Command, ports: OrgPorts, end: (exit: ExitCode) => void): void {
  const org = program.command("org").description("show the agents of an org file, and convert org files");
  org
    .command("show")
    .description("show who reports to whom, each capability, its decision and the line it comes from")
    .option("--json", "print one JSON object", false)
    .action(async (options: JsonOption) => end(await orgShow(ports, options)));
  org
    .command("budgets")
    .description("show what each budget of the org has spent, and what is left of it")
    .option("--json", "print one JSON object", false)
    .action(async (options: JsonOption) => end(await orgBudgets(ports, options)));
  org
    .command("import")
    .description("write an org file of another system as records, or as .ambit/org.md or .ambit/org.yml")
    .argument("<file>", "a Markdown file such as QUORUM.md, or a YAML file of the same content")
    .option("--to <form>", "records, markdown or yaml", "records")
    .option("--dry-run", "print the files without writing them", false)
    .option("--json", "print one JSON object", false)
    .action((path: string, options: ImportOptions) => end(orgImport(ports, path, options)));
  org
    .command("export")
    .description("print the org of this workspace, its records included, as one file")
    .option("--to <form>", "markdown or yaml", "markdown")
    .option("--json", "print one JSON object", false)
    .action((options: ExportOptions) => end(orgExport(ports, options)));
  for (const one of [org, ...org.commands]) one.addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit org show
  ambit org budgets
  ambit org import QUORUM.md
  ambit org import QUORUM.md --to yaml --dry-run
  ambit org export --to markdown

Exit status: 0 done, 1 no org file or not written, 2 usage, 3 the org file has errors.`;
