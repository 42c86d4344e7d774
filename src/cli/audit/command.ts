// The words of `ambit audit`, and their help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import type { Asked } from "../terminal/problems.ts";
import { auditExport, auditKey, auditRetain, auditRotate, type ChangeOptions, type RetainOptions } from "./audit.ts";
import { type AuditWorld, auditVerify, type VerifyOptions } from "./verify.ts";

const JSON_TEXT = "one object instead of lines";

/** Adds the commands to the program; `end` is told how they have ended. */
export function addAudit(program: Command, world: AuditWorld, end: (exit: ExitCode) => void): void {
  const audit = program
    .command("audit")
    .description("the proof that no entry of the log was changed, removed or added")
    .addHelpText("after", EXAMPLES);
  audit
    .command("verify")
    .description("check every entry, every signed note, and what was kept elsewhere")
    .option("--head <head>", "place:hash from an earlier time, or a file that holds it: nothing up to it may be gone")
    .option("--file <export>", "an export, without the daemon; needs --key")
    .option("--sink [copy]", "compare with the second copy of the log: the file that is configured, or this one")
    .option("--key <key>", "the key the log began with, or a file that holds it: nothing else is believed")
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", VERIFY_EXAMPLES)
    .action(async (options: VerifyOptions) => end(await auditVerify(world, options)));
  audit
    .command("export")
    .description("the whole log as lines of JSON that can be verified anywhere")
    .argument("[file]", "a file that is not there yet; the output if none is named")
    .option("--json", "say what was written as one object", false)
    .addHelpText("after", EXPORT_EXAMPLES)
    .action(async (file: string | undefined, options: Asked) => end(await auditExport(world, file, options)));
  audit
    .command("key")
    .description("the public keys, the one the log began with first")
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", KEY_EXAMPLES)
    .action(async (options: Asked) => end(await auditKey(world, options)));
  audit
    .command("rotate")
    .description("sign with a new key from now on; the old private key is deleted")
    .option("-y, --yes", "skip the question", false)
    .option("--presence <name>", "who vouches for it, where that is asked for")
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", ROTATE_EXAMPLES)
    .action(async (options: ChangeOptions) => end(await auditRotate(world, options)));
  audit
    .command("retain")
    .description("remove what is older, up to the last signed note before; the rest still verifies")
    .requiredOption("--days <number>", "how many days are kept")
    .option("-y, --yes", "skip the question", false)
    .option("--presence <name>", "who vouches for it, where that is asked for")
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", RETAIN_EXAMPLES)
    .action(async (options: RetainOptions) => end(await auditRetain(world, options)));
}

const EXAMPLES = `
Examples:
  ambit audit verify
  ambit audit export log.jsonl
  ambit audit verify --file log.jsonl --key ambit.pub`;

const VERIFY_EXAMPLES = `
Examples:
  ambit audit verify
  ambit audit verify --json > head.json             keep it on another machine
  ambit audit verify --head head.json               nothing up to then is gone
  ambit audit verify --key ambit.pub                believe nothing but this key
  ambit audit verify --file log.jsonl --key ambit.pub
  ambit audit verify --sink                         the log and its second copy say the same
  ambit audit verify --sink copy.jsonl --key ambit.pub

Without --head or --sink, entries that were cut off behind the last signed note are not missed.
A second copy is kept where your own config.yml says so: audit: { sink: /mnt/log/ambit.jsonl, timeout: 2s }

Exit status: 0 intact, 1 something was changed, removed or added, 4 the daemon is not there, 2 usage.`;

const EXPORT_EXAMPLES = `
Examples:
  ambit audit export log.jsonl
  ambit audit export | gzip > log.jsonl.gz
  ambit audit export | jq -r 'select(.kind == "entry") | .body | fromjson | .outcome'

Exit status: 0 written, 1 it could not be, 4 the daemon is not there.`;

const KEY_EXAMPLES = `
Examples:
  ambit audit key > ambit.pub                       keep it where the log is not`;

const ROTATE_EXAMPLES = `
Examples:
  ambit audit rotate
  ambit audit rotate --yes --json

The key the log began with stays the one to verify with.`;

const RETAIN_EXAMPLES = `
Examples:
  ambit audit export log.jsonl && ambit audit retain --days 90
  ambit audit retain --days 365 --yes --json`;
