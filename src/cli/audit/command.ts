// The words of `ambit audit`, and their help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import type { JsonOption } from "../terminal/problems.ts";
import { auditExport, auditKey, auditRetain, auditRotate, type ChangeOptions, type RetainOptions } from "./audit.ts";
import { type AuditPorts, auditVerify, type VerifyOptions } from "./verify.ts";

const JSON_TEXT = "print one JSON object";

/** Adds the commands to the program; `end` is told how they have ended. */
export function addAudit(program: Command, ports: AuditPorts, end: (exit: ExitCode) => void): void {
  const audit = program
    .command("audit")
    .description("verify, export and rotate the signed log")
    .addHelpText("after", EXAMPLES);
  audit
    .command("verify")
    .description("check every entry and every signed checkpoint, and compare with a stored head or second copy")
    .option("--head <head>", "a head (place:hash) stored earlier, or a file with it; detects entries removed since")
    .option("--file <export>", "verify an export without the daemon; requires --key")
    .option("--sink [copy]", "compare with the second copy of the log: the configured file, or this one")
    .option("--key <key>", "the first public key of the log, or a file with it; trust no other key")
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", VERIFY_EXAMPLES)
    .action(async (options: VerifyOptions) => end(await auditVerify(ports, options)));
  audit
    .command("export")
    .description("write the whole log as JSON lines that can be verified anywhere")
    .argument("[file]", "a new file; default: standard output")
    .option("--json", "report what was written as one JSON object", false)
    .addHelpText("after", EXPORT_EXAMPLES)
    .action(async (file: string | undefined, options: JsonOption) => end(await auditExport(ports, file, options)));
  audit
    .command("key")
    .description("show the public keys, oldest first")
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", KEY_EXAMPLES)
    .action(async (options: JsonOption) => end(await auditKey(ports, options)));
  audit
    .command("rotate")
    .description("sign with a new key and delete the old private key")
    .option("-y, --yes", "do not ask for confirmation", false)
    .option("--presence <name>", "confirm as this person, if presence is required")
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", ROTATE_EXAMPLES)
    .action(async (options: ChangeOptions) => end(await auditRotate(ports, options)));
  audit
    .command("retain")
    .description("delete older entries up to a signed checkpoint; the rest still verifies")
    .requiredOption("--days <number>", "keep entries of this many days")
    .option("-y, --yes", "do not ask for confirmation", false)
    .option("--presence <name>", "confirm as this person, if presence is required")
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", RETAIN_EXAMPLES)
    .action(async (options: RetainOptions) => end(await auditRetain(ports, options)));
}

const EXAMPLES = `
Examples:
  ambit audit verify
  ambit audit export log.jsonl
  ambit audit verify --file log.jsonl --key ambit.pub`;

const VERIFY_EXAMPLES = `
Examples:
  ambit audit verify
  ambit audit verify --json > head.json             store it on another machine
  ambit audit verify --head head.json               detects truncation since then
  ambit audit verify --key ambit.pub                trust no other key
  ambit audit verify --file log.jsonl --key ambit.pub
  ambit audit verify --sink                         compare the log with its second copy
  ambit audit verify --sink copy.jsonl --key ambit.pub

Without --head or --sink, truncation after the last signed checkpoint is not detected.
Configure a second copy in your own config.yml: audit: { sink: /mnt/log/ambit.jsonl, timeout: 2s }

Exit status: 0 intact, 1 an entry was changed, removed or added, 4 the daemon is not running, 2 usage.`;

const EXPORT_EXAMPLES = `
Examples:
  ambit audit export log.jsonl
  ambit audit export | gzip > log.jsonl.gz
  ambit audit export | jq -r 'select(.kind == "entry") | .body | fromjson | .outcome'

Exit status: 0 written, 1 error, 4 the daemon is not running.`;

const KEY_EXAMPLES = `
Examples:
  ambit audit key > ambit.pub                       store it away from the log`;

const ROTATE_EXAMPLES = `
Examples:
  ambit audit rotate
  ambit audit rotate --yes --json

Verify with the first key of the log, also after a rotation.`;

const RETAIN_EXAMPLES = `
Examples:
  ambit audit export log.jsonl && ambit audit retain --days 90
  ambit audit retain --days 365 --yes --json`;
