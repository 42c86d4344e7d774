// The words of `ambit secrets`, and their help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import type { Asked } from "../terminal/problems.ts";
import { type KeyOptions, secretsKey, secretsLock, secretsUnlock, type UnlockOptions } from "./key.ts";
import {
  type DeleteOptions,
  type PolicyOptions,
  type RotateOptions,
  type SetOptions,
  secretsDelete,
  secretsList,
  secretsPolicy,
  secretsRotate,
  secretsSet,
} from "./secrets.ts";
import type { SecretsWorld } from "./value.ts";

const JSON_TEXT = "one object instead of lines";
const FROM_TEXT = "env:NAME, file:PATH or - for what is piped in; typed where it is not said";
const PRESENCE_TEXT = "who vouches for it, where that is asked for";

/** Adds the commands to the program; `end` is told how they have ended. */
export function addSecrets(program: Command, world: SecretsWorld, end: (exit: ExitCode) => void): void {
  const secrets = program
    .command("secrets")
    .description("values that agents use and never see")
    .addHelpText("after", EXAMPLES);
  bound(secrets.command("set"))
    .description("keep a secret, for these tools at these hosts")
    .argument("<name>")
    .option("--username <name>", "the name that goes with it, where git asks for one")
    .option("--canary", "raise an alarm wherever it appears; never handed out", false)
    .option("--from <where>", FROM_TEXT)
    .option("--presence <name>", PRESENCE_TEXT)
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", SET_EXAMPLES)
    .action(async (name: string, options: SetOptions) => end(await secretsSet(world, name, options)));
  secrets
    .command("list")
    .description("all secrets, with everything but their values")
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", LIST_EXAMPLES)
    .action(async (options: Asked) => end(await secretsList(world, options)));
  secrets
    .command("rotate")
    .description("a new value; what it is bound to stays")
    .argument("<name>")
    .option("--from <where>", FROM_TEXT)
    .option("--presence <name>", PRESENCE_TEXT)
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", ROTATE_EXAMPLES)
    .action(async (name: string, options: RotateOptions) => end(await secretsRotate(world, name, options)));
  bound(secrets.command("policy"))
    .description("bind a secret anew; what is not said stays")
    .argument("<name>")
    .option("--unbind", "begin with nothing", false)
    .option("--presence <name>", PRESENCE_TEXT)
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", POLICY_EXAMPLES)
    .action(async (name: string, options: PolicyOptions) => end(await secretsPolicy(world, name, options)));
  secrets
    .command("delete")
    .description("forget a secret")
    .argument("<name>")
    .option("-y, --yes", "skip the question", false)
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", DELETE_EXAMPLES)
    .action(async (name: string, options: DeleteOptions) => end(await secretsDelete(world, name, options)));
  addKey(secrets, world, end);
}

function addKey(secrets: Command, world: SecretsWorld, end: (exit: ExitCode) => void): void {
  secrets
    .command("lock")
    .description("forget the key until somebody unlocks it")
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", LOCK_EXAMPLES)
    .action(async (options: Asked) => end(await secretsLock(world, options)));
  secrets
    .command("unlock")
    .description("have the key at hand again, from where it is kept")
    .option("--from <where>", `where the passphrase is: ${FROM_TEXT}`)
    .option("--identity <file>", "the file of the age identity that opens the key")
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", LOCK_EXAMPLES)
    .action(async (options: UnlockOptions) => end(await secretsUnlock(world, options)));
  secrets
    .command("key")
    .description("where the key comes from; with one of these, seal everything anew under a key from there")
    .option("--file", "a key in a file that only you can read", false)
    .option("--passphrase", "nothing opens without it, and nobody can bring it back", false)
    .option("--keychain", "a key in the keychain of your desktop", false)
    .option("--age <recipient>", "a key that is sealed for this age recipient (age1...)")
    .option("--identity <file>", "opens it without asking; a file that only you can read")
    .option("--from <where>", "a key from env:NAME, file:PATH or cmd:PROGRAM; with --passphrase, where that one is")
    .option("--presence <name>", PRESENCE_TEXT)
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", KEY_EXAMPLES)
    .action(async (options: KeyOptions) => end(await secretsKey(world, options)));
}

function bound(command: Command): Command {
  const collect = (one: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), one];
  return command
    .option("--tool <tool>", "a tool that may use it; may be said again", collect)
    .option(
      "--host <host>",
      "a host it may be sent to, with :port if it is not the usual one; may be said again",
      collect,
    )
    .option("--uses <number>", "how often it may be used altogether, or `any`");
}

const EXAMPLES = `
Examples:
  ambit secrets set github-token --tool web_fetch --host api.github.com
  ambit secrets list

An agent writes {{secret:github-token}} into a header, a query or a body. The value is put in when the request is sent to a
host it is bound to, over TLS, and taken out of everything that comes back. An agent also needs a grant of secret.use.`;

const SET_EXAMPLES = `
Examples:
  ambit secrets set github-token --tool web_fetch --host api.github.com      the value is typed, and not shown
  pass show github | ambit secrets set github-token --tool web_fetch --host api.github.com
  ambit secrets set git-token --tool git --host git.example.com --username ann --from env:GIT_TOKEN
  ambit secrets set once --tool web_fetch --host api.example.com:8443 --uses 1 --from file:./token
  ambit secrets set decoy --canary --from -

A value has at least 8 characters: shorter ones could not be redacted. It is never an argument: those can be read by every
program on the machine.

Exit status: 0 kept, 1 it could not be, 2 usage, 4 the daemon is not there.`;

const LIST_EXAMPLES = `
Examples:
  ambit secrets list
  ambit secrets list --json | jq -r '.secrets[].name'`;

const ROTATE_EXAMPLES = `
Examples:
  ambit secrets rotate github-token
  pass show github | ambit secrets rotate github-token`;

const POLICY_EXAMPLES = `
Examples:
  ambit secrets policy github-token --host api.github.com --host uploads.github.com
  ambit secrets policy github-token --uses 100
  ambit secrets policy github-token --unbind                                 nothing can use it any more`;

const DELETE_EXAMPLES = `
Examples:
  ambit secrets delete github-token
  ambit secrets delete github-token --yes --json`;

const LOCK_EXAMPLES = `
Examples:
  ambit secrets key --passphrase
  ambit secrets lock
  ambit secrets unlock
  ambit secrets unlock --from file:/run/keys/ambit
  ambit secrets unlock --identity /media/stick/key.txt

While it is locked no secret is used, none is set and none is taken out of what leaves ambit. A key in a file cannot be locked.
A passphrase is asked for; a variable is read from your environment; a keychain, an identity and a program are asked again.`;

const KEY_EXAMPLES = `
Examples:
  ambit secrets key                                                          where it comes from now
  ambit secrets key --file                                                   a new key file; also to change it
  ambit secrets key --passphrase
  ambit secrets key --keychain
  ambit secrets key --age age1... --identity ~/.config/age/key.txt
  ambit secrets key --from "cmd:pass show ambit"
  ambit secrets key --from file:/run/secrets/ambit
  ambit secrets key --from env:AMBIT_KEY                                     unlocked by: ambit secrets unlock

The keychain is asked with secret-tool (package libsecret-tools), on macOS with security. With --age and without --identity the
store stays locked until somebody runs: ambit secrets unlock --identity FILE. What --from gives is any text of at least 8
characters; a program is run without a shell, as you, outside every sandbox, and is looked for in the system's folders alone.
Where the key cannot be had, everything stays locked, and nothing is sealed under another one.

Exit status: 0 done or shown, 1 it could not be, 2 usage, 4 the daemon is not there.`;
