// The command line: which words there are, and who answers them.
import { Command, CommanderError } from "commander";
import { addAgents } from "./agents/command.ts";
import type { AgentsPorts } from "./agents/ports.ts";
import { addApprovals, addPresence } from "./approvals/command.ts";
import { addAudit } from "./audit/command.ts";
import type { AuditPorts } from "./audit/verify.ts";
import type { CallCommandPorts } from "./call/call.ts";
import { addCall } from "./call/command.ts";
import { type CanOptions, can } from "./can/can.ts";
import { addChanges } from "./changes/command.ts";
import { addCompile } from "./compile/compile.ts";
import { addConnect, type ConnectPorts } from "./connect/connect.ts";
import { addDaemon } from "./daemon/command.ts";
import type { DaemonPorts } from "./daemon/daemon.ts";
import { diff } from "./diff/diff.ts";
import { addDoctor } from "./doctor/command.ts";
import { addExec } from "./exec/command.ts";
import { refusedData } from "./exec/exec.ts";
import type { ExecPorts } from "./exec/ports.ts";
import { explainName } from "./explain/explain.ts";
import { GroupedHelp } from "./help-groups.ts";
import { helpWords } from "./help-words.ts";
import { addHook } from "./hook/hook.ts";
import { addImport } from "./import/import.ts";
import { addFirstSteps, type FirstStepsPorts } from "./init/command.ts";
import { addInstall, type InstallPorts } from "./install/install.ts";
import { addLog } from "./log/command.ts";
import { addLsp } from "./lsp/command.ts";
import { addMcp } from "./mcp/command.ts";
import type { ServersPorts } from "./mcp/ports.ts";
import { addOrg } from "./org/command.ts";
import type { OrgPorts } from "./org/ports.ts";
import { addRecords } from "./records/command.ts";
import { clientWords } from "./run/client-words.ts";
import { addRun } from "./run/command.ts";
import { addSchedules } from "./schedules/schedules.ts";
import { addSecrets } from "./secrets/command.ts";
import type { SecretsPorts } from "./secrets/value.ts";
import { addSkills } from "./skills/command.ts";
import { STATUS_EXAMPLES, type StatusOptions, status } from "./status/status.ts";
import { addPower } from "./stop/command.ts";
import { addStore } from "./store/command.ts";
import { addTasks } from "./tasks/command.ts";
import type { TasksPorts } from "./tasks/ports.ts";
import { EXIT, type ExitCode } from "./terminal/exit.ts";
import { test } from "./test/test.ts";
import { addTokens } from "./tokens/tokens.ts";
import { addTools } from "./tools/command.ts";
import type { ToolsPorts } from "./tools/tools.ts";
import { TRUST_EXAMPLES, type TrustOptions, trust } from "./trust/trust.ts";
import { addWhy } from "./why/command.ts";

/** Everything the commands together need. */
export type ProgramPorts = AgentsPorts &
  FirstStepsPorts &
  ExecPorts &
  DaemonPorts &
  InstallPorts &
  CallCommandPorts &
  ConnectPorts &
  AuditPorts &
  SecretsPorts &
  OrgPorts &
  ServersPorts &
  TasksPorts &
  ToolsPorts & {
    /** A variable with Caveats that is set, though only `ambit mcp serve` without an agent reads it. */
    readonly caveatsVariable: string | null;
  };

const FROM_RECORDS: readonly string[] = ["call", "can", "exec", "run"];

/** Runs one command line and says how it ended. Everything behind `--` belongs to the request, dashes and all. */
export async function run(words: readonly string[], ports: ProgramPorts): Promise<ExitCode> {
  const argv = clientWords(words);
  const split = argv.indexOf("--");
  const own = split < 0 ? argv : argv.slice(0, split);
  const behind = split < 0 ? [] : argv.slice(split + 1);
  let exit: ExitCode = EXIT.ok;
  const program = new Command("ambit")
    .description(
      "Declare what AI agents may do, check every tool call against it, enforce it with an OS sandbox, and log every decision.",
    )
    .version(ports.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => ports.print(text.trimEnd()),
      writeErr: (text) => ports.printError(text.trimEnd()),
    })
    .showSuggestionAfterError(true)
    .addHelpText("after", EXAMPLES);
  program.createHelp = () => new GroupedHelp();
  program.hook("preAction", (_, command) => {
    if (ports.caveatsVariable === null || command.parent !== program || !FROM_RECORDS.includes(command.name())) return;
    ports.printError(
      `hint: ${ports.caveatsVariable} has no effect here: grants come from the agent's record. To limit them, use --pledge; ` +
        "`ambit mcp serve` without --agent reads the variable",
    );
  });
  program
    .command("can")
    .description("decide one request and explain the decision")
    .argument("<agent>", "an id in .ambit/agents, or a file: record, manifest, Caveats or tool declaration")
    .argument("<request...>", "a verb and its target; see below")
    .option("--user <name>", "decide for this user, as `ambit call --user` would")
    .option("--pledge <specs...>", "decide under this pledge, as `ambit call --pledge` would; after the request")
    .option("--json", "print one JSON object", false)
    .addHelpText("after", CAN_EXAMPLES)
    .action(async (agent: string, words: string[], options: CanOptions) => {
      exit = await can(ports, agent, [...words, ...(split < 0 ? [] : ["--", ...behind])], options);
    });
  program
    .command("test")
    .description("run the tests declared in agent records")
    .argument("[agents...]", "ids or files; default: all agents of the workspace")
    .option("--json", "print one JSON object", false)
    .action((agents: string[], options: { json: boolean }) => {
      exit = test(ports, agents, options);
    });
  program
    .command("diff")
    .description("show what agents may do in one version of the policy and not in another")
    .argument("<before>", "a file, a folder, a git revision, or a file in one (HEAD:path)")
    .argument("<after>", "the version to compare with it, in the same form")
    .option("--json", "print one JSON object", false)
    .option("--allow-widening", "exit with status 0 even if an agent may do more", false)
    .addHelpText("after", DIFF_EXAMPLES)
    .action((before: string, after: string, options: { json: boolean; allowWidening: boolean }) => {
      exit = diff(ports, before, after, options);
    });
  program
    .command("trust")
    .description("review what this project's agents could do, and trust it")
    .option("--yes", "do not ask for confirmation", false)
    .option("--all", "show every file and change, each change with a request as the example", false)
    .option("--revoke", "stop trusting this project; its files have no effect", false)
    .option("--json", "print one JSON object", false)
    .addHelpText("after", TRUST_EXAMPLES)
    .action(async (options: TrustOptions) => {
      exit = await trust(ports, options);
    });
  program
    .command("status")
    .description("show this workspace: trust, agents by risk, errors, missing protection")
    .option("--all", "also list the sessions of other workspaces", false)
    .option("--json", "print one JSON object", false)
    .addHelpText("after", STATUS_EXAMPLES)
    .action(async (options: StatusOptions) => {
      exit = await status(ports, options);
    });
  program
    .command("explain")
    .description("explain a code or a verb, and how to fix it; without a name, list them all")
    .argument("[name]", "a denial code, a diagnostic code or a verb")
    .option("--json", "print one JSON object", false)
    .action((name: string | undefined, options: { json: boolean }) => {
      exit = explainName(ports, name, options);
    });
  const end = (code: ExitCode): void => {
    exit = code;
  };
  addAgents(program, ports, end);
  addDoctor(program, ports.doctor, end);
  addExec(program, ports, behind, end);
  addRun(program, ports, behind, end);
  addRecords(program, ports, end);
  addOrg(program, ports, end);
  addTasks(program, ports, behind, end);
  addSchedules(program, ports, behind, end);
  addStore(program, ports, end);
  addSkills(program, ports, end);
  addApprovals(program, ports, end, ports);
  addPresence(program, ports, end);
  addChanges(program, ports, end);
  addCall(program, ports, end);
  addHook(program, ports, end);
  addConnect(program, ports, end);
  addCompile(program, ports, end);
  addImport(program, ports, end);
  addPower(program, ports, end);
  addLog(program, ports, end);
  addWhy(program, ports, end);
  addAudit(program, ports, end);
  addDaemon(program, ports, end);
  addInstall(program, ports, end);
  addSecrets(program, ports, end);
  addTools(program, ports, end, ports);
  addTokens(program, ports, end);
  addMcp(program, async () => notBuilt(ports), end, { ports, behind });
  addLsp(program, async () => notBuilt(ports), end);
  addFirstSteps(program, ports, behind, end);
  try {
    await program.parseAsync([...helpWords(program, own)], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // With `--json` the output is one object, also for wrong arguments.
    if (error.exitCode !== 0 && own[0] === "exec" && own.includes("--json")) {
      const refused = { code: "invalid_input", message: error.message, fix: "ambit exec --help" } as const;
      ports.print(JSON.stringify(refusedData(refused, null)));
      return EXIT.refused;
    }
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  return exit;
}

/** The starter hands `mcp` to a program of its own, where that is there. */
function notBuilt(ports: ProgramPorts): ExitCode {
  ports.printError("error: this program is not built\n  fix: node scripts/setup.mjs");
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

Exit status: 0 no agent may do more, 13 an agent may do more, 3 the new policy is not valid, 1 error.`;

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

Exit status: 0 allow, 10 deny, 11 ask, 12 expired, 3 the policy is not valid, 2 usage, 1 error.`;
