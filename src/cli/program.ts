// The command line: which words there are, and who answers them.
import { Command, CommanderError } from "commander";
import { addAgents } from "./agents/command.ts";
import type { AgentsWorld } from "./agents/world.ts";
import { addApprovals, addPresence } from "./approvals/command.ts";
import { addAudit } from "./audit/command.ts";
import type { AuditWorld } from "./audit/verify.ts";
import type { CallWorld } from "./call/call.ts";
import { addCall } from "./call/command.ts";
import { can } from "./can/can.ts";
import { addChanges } from "./changes/command.ts";
import { addDaemon } from "./daemon/command.ts";
import type { DaemonWorld } from "./daemon/daemon.ts";
import { diff } from "./diff/diff.ts";
import { addDoctor } from "./doctor/command.ts";
import { addExec } from "./exec/command.ts";
import { refusedData } from "./exec/exec.ts";
import type { ExecWorld } from "./exec/world.ts";
import { explainName } from "./explain/explain.ts";
import { helpWords } from "./help-words.ts";
import { addFirstSteps, type FirstStepsWorld } from "./init/command.ts";
import { addLog } from "./log/command.ts";
import { addMcp } from "./mcp/command.ts";
import { addRecords } from "./records/command.ts";
import { addSecrets } from "./secrets/command.ts";
import type { SecretsWorld } from "./secrets/value.ts";
import { addSkills } from "./skills/command.ts";
import { STATUS_EXAMPLES, status } from "./status/status.ts";
import { addPower } from "./stop/command.ts";
import { EXIT, type ExitCode } from "./terminal/exit.ts";
import { test } from "./test/test.ts";
import { addTools } from "./tools/command.ts";
import type { ToolsWorld } from "./tools/tools.ts";
import { TRUST_EXAMPLES, type TrustOptions, trust } from "./trust/trust.ts";
import { addWhy } from "./why/command.ts";

/** Everything the commands together need. */
export type ProgramWorld = AgentsWorld &
  FirstStepsWorld &
  ExecWorld &
  DaemonWorld &
  CallWorld &
  AuditWorld &
  SecretsWorld &
  ToolsWorld;

/** Runs one command line and says how it ended. Everything behind `--` belongs to the request, dashes and all. */
export async function run(argv: readonly string[], world: ProgramWorld): Promise<ExitCode> {
  const split = argv.indexOf("--");
  const own = split < 0 ? argv : argv.slice(0, split);
  const behind = split < 0 ? [] : argv.slice(split + 1);
  let exit: ExitCode = EXIT.ok;
  const program = new Command("ambit")
    .description("The bounds of what an agent may do.")
    .version(world.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => world.print(text.trimEnd()),
      writeErr: (text) => world.printError(text.trimEnd()),
    })
    .showSuggestionAfterError(true)
    .addHelpText("after", EXAMPLES);
  program
    .command("can")
    .description("decide one request, and say why")
    .argument("<agent>", "an id in .ambit/agents, or a file: record, manifest, Caveats, tool declaration")
    .argument("<request...>", "a verb and what it is about")
    .option("--json", "one object instead of sentences", false)
    .addHelpText("after", CAN_EXAMPLES)
    .action((agent: string, words: string[], options: { json: boolean }) => {
      exit = can(world, agent, [...words, ...(split < 0 ? [] : ["--", ...behind])], options);
    });
  program
    .command("test")
    .description("run the tests that records bring")
    .argument("[agents...]", "ids or files; all agents of the workspace if none is named")
    .option("--json", "one object instead of lines", false)
    .action((agents: string[], options: { json: boolean }) => {
      exit = test(world, agents, options);
    });
  program
    .command("diff")
    .description("what became possible between two files, folders or git revisions")
    .argument("<before>", "a file, a folder, a git revision, or a file in one (HEAD:path)")
    .argument("<after>", "the same")
    .option("--json", "one object instead of lines", false)
    .option("--allow-widening", "end with status 0 although something became possible", false)
    .addHelpText("after", DIFF_EXAMPLES)
    .action((before: string, after: string, options: { json: boolean; allowWidening: boolean }) => {
      exit = diff(world, before, after, options);
    });
  program
    .command("trust")
    .description("see what this project's authority makes possible, and let it count")
    .option("--yes", "skip the question", false)
    .option("--revoke", "nothing of this project counts any more", false)
    .option("--json", "one object instead of lines", false)
    .addHelpText("after", TRUST_EXAMPLES)
    .action(async (options: TrustOptions) => {
      exit = await trust(world, options);
    });
  program
    .command("status")
    .description("this workspace: trust, agents by risk, mistakes, what is not protected")
    .option("--json", "one object instead of lines", false)
    .addHelpText("after", STATUS_EXAMPLES)
    .action(async (options: { json: boolean }) => {
      exit = await status(world, options);
    });
  program
    .command("explain")
    .description("what a code or a verb means, and what to do about it")
    .argument("<name>", "a denial code, a diagnostic code or a verb")
    .option("--json", "one object instead of a page", false)
    .action((name: string, options: { json: boolean }) => {
      exit = explainName(world, name, options);
    });
  const end = (code: ExitCode): void => {
    exit = code;
  };
  addAgents(program, world, end);
  addDoctor(program, world.doctor, end);
  addExec(program, world, behind, end);
  addRecords(program, world, end);
  addSkills(program, world, end);
  addApprovals(program, world, end);
  addPresence(program, world, end);
  addChanges(program, world, end);
  addCall(program, world, end);
  addPower(program, world, end);
  addLog(program, world, end);
  addWhy(program, world, end);
  addAudit(program, world, end);
  addDaemon(program, world, end);
  addSecrets(program, world, end);
  addTools(program, world, end, world);
  addMcp(program, async () => notBuilt(world), end);
  addFirstSteps(program, world, behind, end);
  try {
    await program.parseAsync([...helpWords(program, own)], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Whoever asked for one object gets one, whatever is wrong with the words.
    if (error.exitCode !== 0 && own[0] === "exec" && own.includes("--json")) {
      const refused = { code: "invalid_input", message: error.message, fix: "ambit exec --help" } as const;
      world.print(JSON.stringify(refusedData(refused, null)));
      return EXIT.refused;
    }
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  return exit;
}

/** The starter hands `mcp` to a program of its own, where that is there. */
function notBuilt(world: ProgramWorld): ExitCode {
  world.printError("error: the server is not built\n  fix: node scripts/setup.mjs");
  return EXIT.error;
}

const EXAMPLES = `
Examples:
  ambit can scout net.get https://api.github.com/repos
  ambit can ./agents/scout.md fs.read ./src/index.ts
  ambit test
  ambit explain scope_violation`;

const DIFF_EXAMPLES = `
Examples:
  ambit diff old.md new.md
  ambit diff HEAD~1 HEAD
  ambit diff origin/main . --json

Exit status: 0 nothing became possible, 13 something did, 3 the new policy is not valid, 1 error.`;

const CAN_EXAMPLES = `
Requests:
  net.get URL              net.connect HOST:PORT      fs.read PATH
  proc.exec -- argv...     records.update id=.. class=..
  memory.write KEY         secret.use NAME            tool.invoke NAME JSON
  agent.grant ID SPEC      agent.update ID            task.schedule

Examples:
  ambit can scout net.get https://api.github.com/repos
  ambit can scout proc.exec -- git -C ../other push
  ambit can scout tool.invoke send_money '{"amount": 5}'
  ambit can scout agent.grant helper 'net.get{hosts=[api.github.com]}' --json

Exit status: 0 allow, 10 deny, 11 ask, 12 expired, 3 the policy itself is not valid, 2 usage, 1 error.`;
