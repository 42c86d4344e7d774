// The words of `ambit call`, and its help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import { type CallCommandPorts, type CallOptions, call } from "./call.ts";

export function addCall(program: Command, ports: CallCommandPorts, end: (exit: ExitCode) => void): void {
  program
    .command("call")
    .description("call a tool as an agent: decide, execute and log it")
    .argument("<agent>", "an id in .ambit/agents, a file, or an agent created by another agent")
    .argument("<tool>", "memory_get, obs_query, agent_grant, proc_exec, ...")
    .argument("[arguments]", "one JSON object, or - to read it from standard input")
    .option("--input <file>", "read the arguments from a file, at most 1 MiB; - is standard input")
    .option("--user <name>", "act for this user; the user's record, if any, limits the grants further")
    .option("--pledge <specs...>", "limit the grants of this call to these specs")
    .option("--token <token>", "a delegation token from another agent")
    .option("--session <id>", "call through this session of a client's hook; only below that client, for its agent")
    .option("--wait <seconds>", "how long to wait if the call needs approval")
    .option("--json", "print one JSON object", false)
    .addHelpText("after", EXAMPLES)
    .action(async (agent: string, tool: string, text: string | undefined, options: CallOptions) =>
      end(await call(ports, agent, tool, text, options)),
    );
}

const EXAMPLES = `
Examples:
  ambit call scout memory_set '{"key": "notes/today", "value": "ask Ann"}'
  ambit call scout memory_list '{"prefix": "notes"}'
  ambit call scout obs_query '{"tag": "denial"}' --json
  ambit call lead agent_grant '{"agent": "scout", "grants": ["net.get{hosts=[api.github.com]}"], "seconds": 3600}'
  ambit call coder fs_write --input arguments.json
  jq -n '{key: "notes/today", value: "ask Ann"}' | ambit call scout memory_set -
  ambit call coder proc_exec '{"argv": ["git", "status"], "in": ".", "root": "ro"}'

Exit status: 0 done, 10 denied, 11 needs approval, 12 expired, 14 not trusted, 4 no daemon, 2 usage, 1 error.
With --session the status is that of the script, and 125 if a signal or ambit ended it.`;
