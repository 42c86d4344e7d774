// The words of `ambit secrets`, and their help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import type { JsonOption } from "../terminal/problems.ts";
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
import type { SecretsPorts } from "./value.ts";

const JSON_TEXT = "print one JSON object";
const FROM_TEXT = "env:NAME, file:PATH, or - for standard input; default: typed at the terminal";
const PRESENCE_TEXT = "confirm as this person, if presence is required";

/** Adds the commands to the program; `end` is told how they have ended. */
export function addSecrets(program: Command, ports: SecretsPorts, end: (exit: ExitCode) => void): void {
  const secrets = program
    .command("secrets")
    .description("manage values that agents can use but never see")
    .addHelpText("after", EXAMPLES);
  bound(secrets.command("set"))
    .description("store a secret and bind it to tools and hosts")
    .argument("<name>")
    .option("--username <name>", "the username to send with it, for git")
    .option("--canary", "a decoy: raise an alarm where it appears; it is never sent", false)
    .option("--from <where>", FROM_TEXT)
    .option("--presence <name>", PRESENCE_TEXT)
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", SET_EXAMPLES)
    .action(async (name: string, options: SetOptions) => end(await secretsSet(ports, name, options)));
  secrets
    .command("list")
    .description("list secrets with their bindings, without values")
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", LIST_EXAMPLES)
    .action(async (options: JsonOption) => end(await secretsList(ports, options)));
  secrets
    .command("rotate")
    .description("replace the value of a secret; its bindings stay")
    .argument("<name>")
    .option("--from <where>", FROM_TEXT)
    .option("--presence <name>", PRESENCE_TEXT)
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", ROTATE_EXAMPLES)
    .action(async (name: string, options: RotateOptions) => end(await secretsRotate(ports, name, options)));
  bound(secrets.command("policy"))
    .description("change a secret's tools and hosts; omitted options stay unchanged")
    .argument("<name>")
    .option("--unbind", "remove all bindings first", false)
    .option("--presence <name>", PRESENCE_TEXT)
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", POLICY_EXAMPLES)
    .action(async (name: string, options: PolicyOptions) => end(await secretsPolicy(ports, name, options)));
  secrets
    .command("delete")
    .description("delete a secret")
    .argument("<name>")
    .option("-y, --yes", "do not ask for confirmation", false)
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", DELETE_EXAMPLES)
    .action(async (name: string, options: DeleteOptions) => end(await secretsDelete(ports, name, options)));
  addKey(secrets, ports, end);
}

function addKey(secrets: Command, ports: SecretsPorts, end: (exit: ExitCode) => void): void {
  secrets
    .command("lock")
    .description("lock the secret store: drop its key from memory")
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", LOCK_EXAMPLES)
    .action(async (options: JsonOption) => end(await secretsLock(ports, options)));
  secrets
    .command("unlock")
    .description("unlock the secret store")
    .option("--from <where>", `read the passphrase from ${FROM_TEXT}`)
    .option("--identity <file>", "the age identity file that decrypts the key")
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", LOCK_EXAMPLES)
    .action(async (options: UnlockOptions) => end(await secretsUnlock(ports, options)));
  secrets
    .command("key")
    .description("show where the key comes from; with an option, re-encrypt all secrets with a key from there")
    .option("--file", "store the key in a file that only you can read", false)
    .option("--passphrase", "derive the key from a passphrase; a lost passphrase cannot be recovered", false)
    .option("--keychain", "store the key in the keychain of your desktop", false)
    .option("--age <recipient>", "encrypt the key for this age recipient (age1...)")
    .option("--identity <file>", "with --age: decrypt the key with this file, without asking")
    .option(
      "--from <where>",
      "read the key, or with --passphrase the passphrase, from env:NAME, file:PATH or cmd:PROGRAM",
    )
    .option("--presence <name>", PRESENCE_TEXT)
    .option("--json", JSON_TEXT, false)
    .addHelpText("after", KEY_EXAMPLES)
    .action(async (options: KeyOptions) => end(await secretsKey(ports, options)));
}

function bound(command: Command): Command {
  const collect = (one: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), one];
  return command
    .option("--tool <tool>", "a tool that may use it; repeatable", collect)
    .option("--host <host>", "a host it may be sent to, with :port unless it is the default port; repeatable", collect)
    .option("--uses <number>", "how often it may be used in total, or `any`")
    .option("--sign-only", "it only signs requests of tools; its value is never sent", false);
}

const EXAMPLES = `
Examples:
  ambit secrets set github-token --tool web_fetch --host api.github.com
  ambit secrets list

An agent writes {{secret:github-token}} in a header, a query or a body. ambit inserts the value when it sends the request
over TLS to a bound host, and redacts it from responses. The agent also needs a grant of secret.use.`;

const SET_EXAMPLES = `
Examples:
  ambit secrets set github-token --tool web_fetch --host api.github.com      asks for the value without showing it
  pass show github | ambit secrets set github-token --tool web_fetch --host api.github.com
  ambit secrets set git-token --tool git --host git.example.com --username ann --from env:GIT_TOKEN
  ambit secrets set once --tool web_fetch --host api.example.com:8443 --uses 1 --from file:./token
  ambit secrets set aws-key --tool upload --host s3.eu-central-1.amazonaws.com --sign-only
  ambit secrets set decoy --canary --from -

Values need at least 8 characters, because shorter ones cannot be redacted. They are never command-line arguments, because
every program on the machine can read those.

Exit status: 0 stored, 1 error, 2 usage, 4 the daemon is not running.`;

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
  ambit secrets policy github-token --unbind                                 disables the secret`;

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

While the store is locked, secrets cannot be used, set or redacted. A store with a key file cannot be locked.
\`unlock\` asks for a passphrase, reads a variable from your environment, or queries the keychain, identity or program again.`;

const KEY_EXAMPLES = `
Examples:
  ambit secrets key                                                          show where it comes from now
  ambit secrets key --file                                                   create or replace the key file
  ambit secrets key --passphrase
  ambit secrets key --keychain
  ambit secrets key --age age1... --identity ~/.config/age/key.txt
  ambit secrets key --from "cmd:pass show ambit"
  ambit secrets key --from file:/run/secrets/ambit
  ambit secrets key --from env:AMBIT_KEY                                     unlock with: ambit secrets unlock

The keychain is read with secret-tool (package libsecret-tools), on macOS with security. With --age and without --identity,
the store stays locked until you run: ambit secrets unlock --identity FILE. --from accepts any text of at least 8
characters; a program runs without a shell, as you, outside every sandbox, and is searched in system folders only.
If the key is unavailable, the store stays locked; ambit never replaces the key by itself.

Exit status: 0 done or shown, 1 error, 2 usage, 4 the daemon is not running.`;
