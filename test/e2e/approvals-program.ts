// `ambit approvals` on the terminal of this process, with a daemon that has one pending approval and answers as the real one.
import { Command } from "commander";
import { approvalOf } from "../../src/approvals/testing/approval.ts";
import { addApprovals } from "../../src/cli/approvals/command.ts";
import { PLAIN } from "../../src/cli/terminal/paint.ts";
import { promptTerminal } from "../../src/cli/terminal/prompts.ts";
import { storedAnswers } from "../../src/cli/testing/approvals.ts";
import type { Json } from "../../src/core/base/json.ts";
import type { ControlMessages } from "../../src/core/ports/daemon/daemon-control.ts";
import type { MessageClient, RequestOptions } from "../../src/core/ports/daemon/exchange.ts";

const level = process.env["AMBIT_TEST_LEVEL"] === "2" ? 2 : 1;
const question = approvalOf({ level, tool: "fs_write\u001b[2J" });
const answers = storedAnswers(question);
let tell: (event: Json) => void = () => {};

const control: MessageClient<ControlMessages> = {
  ask: async (name, value, along?: RequestOptions) => {
    if (name === "approvals.watch") {
      tell = (event) => along?.onEvent?.(event);
      tell({ approval: question } as unknown as Json);
      return new Promise(() => {});
    }
    const answer = await (answers[name] as (value: unknown) => Promise<never>)(value);
    if (name === "approvals.approve" || name === "approvals.refuse") tell((answer as { value: Json }).value);
    return answer;
  },
  tell: () => false,
  close: () => {},
};

const program = new Command("ambit").exitOverride();
addApprovals(
  program,
  {
    paint: PLAIN,
    terminal: promptTerminal(true),
    now: () => question.asked,
    control: async () => ({ ok: true, value: control }),
    running: async () => ({ ok: true, value: null }),
    print: (text) => process.stdout.write(`${text}\n`),
    printError: (text) => process.stderr.write(`${text}\n`),
  },
  (exit) => {
    process.exitCode = exit;
    process.stdin.unref();
  },
);
void program.parseAsync(process.argv.slice(2), { from: "user" });
