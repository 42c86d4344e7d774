// A daemon that answers from a table, a terminal that answers from a list, and what was printed.
import { Command } from "commander";
import { agree, refuse } from "../../approvals/lifecycle.ts";
import { approvalOf, LADDER } from "../../approvals/testing/approval.ts";
import type { ControlMessages } from "../../core/ports/daemon/daemon-control.ts";
import type { Answer, MessageClient, Refusal, RequestOptions } from "../../core/ports/daemon/exchange.ts";
import type { Approval } from "../../core/ports/stores/approval-store.ts";
import { addApprovals, addPresence } from "../approvals/command.ts";
import type { WatchScreen } from "../approvals/screen.ts";
import type { WatchPorts } from "../approvals/watch.ts";
import type { ExitCode } from "../terminal/exit.ts";
import { PLAIN } from "../terminal/paint.ts";

export const NOW: number = 1_000_000 + 2000;

type Answers = {
  [K in keyof ControlMessages]?: (
    value: ControlMessages[K]["asks"],
    along: RequestOptions | undefined,
  ) => Answer<ControlMessages[K]["answers"]> | Promise<Answer<ControlMessages[K]["answers"]>>;
};

export function refusal(code: string, message = "no", fix: string | null = null): Refusal {
  return { ok: false, code, message, fix };
}

export function done<T>(value: T): Answer<T> {
  return { ok: true, value };
}

export interface Ran {
  readonly exit: ExitCode | null;
  readonly out: string;
  readonly errors: string;
  /** Every message, with what it was asked with. */
  readonly asked: readonly (readonly [string, unknown])[];
  /** Every question put to the person. */
  readonly questions: readonly string[];
  readonly closed: number;
}

export interface Setting {
  readonly answers?: Answers;
  /** What the person says, in order; absent: there is no terminal. */
  readonly says?: readonly (string | boolean | null)[];
  readonly screen?: WatchScreen | null;
  readonly unreachable?: Refusal;
}

/** Answers for one approval that is kept as the daemon would. */
export function storedAnswers(first: Approval = approvalOf(), by = "ann"): Answers {
  let approval = first;
  return {
    "approvals.list": () => done({ approvals: [approval] }),
    "approvals.show": ({ id }) =>
      id === approval.id ? done({ approval, ladder: LADDER }) : refusal("unknown_approval"),
    "approvals.approve": ({ step, uses, milliseconds, presence }) => {
      const level = presence === null ? 1 : 2;
      const answer = { by: presence?.name ?? by, at: NOW, level, terminal: true, step, uses, milliseconds } as const;
      const change = agree(approval, answer, LADDER);
      if (!change.ok) return refusal(change.code, change.message);
      approval = change.approval;
      return done({ approval, missing: approval.state === "pending" ? approval.need - approval.answers.length : 0 });
    },
    "approvals.refuse": ({ reason }) => {
      const change = refuse(approval, reason);
      if (!change.ok) return refusal(change.code, change.message);
      approval = change.approval;
      return done({ approval });
    },
    "presence.list": () => done({ names: ["ann"] }),
  };
}

export async function ran(words: readonly string[], setting: Setting = {}): Promise<Ran> {
  const out: string[] = [];
  const errors: string[] = [];
  const asked: [string, unknown][] = [];
  const questions: string[] = [];
  const says = [...(setting.says ?? [])];
  let closed = 0;
  let exit: ExitCode | null = null;
  const next = (question: string): string | boolean | null => {
    questions.push(question);
    if (says.length === 0) throw new Error(`no answer is prepared for ${question}`);
    const said = says.shift() ?? null;
    // The number is another one for each question: a person reads it there.
    return said === "the number shown" ? (/^Type (\d{4}) to /.exec(question)?.[1] ?? "none") : said;
  };
  const text = (said: string | boolean | null): string | null => (typeof said === "string" ? said : null);
  const control: MessageClient<ControlMessages> = {
    ask: async (name, value, along) => {
      asked.push([name, value]);
      const answer = setting.answers?.[name] as ((value: unknown, along: unknown) => Promise<never>) | undefined;
      return answer === undefined ? (refusal("not_available", `${name} is not there`) as never) : answer(value, along);
    },
    tell: () => false,
    close: () => {
      closed++;
    },
  };
  const ports: WatchPorts = {
    paint: PLAIN,
    terminal: {
      isInteractive: setting.says !== undefined,
      confirm: async (question) => next(question) === true,
      choose: async (question, choices) => {
        const said = text(next(question));
        if (said !== null && !choices.some(({ value }) => value === said)) throw new Error(`${said} was not offered`);
        return said;
      },
      enter: async (question) => text(next(question)),
      typed: async (question) => text(next(question)),
      secret: async (question) => text(next(question)),
    },
    now: () => NOW,
    control: async () => setting.unreachable ?? { ok: true, value: control },
    running: async () => ({ ok: true, value: null }),
    print: (line) => out.push(line),
    printError: (line) => errors.push(line),
    screen: setting.screen ?? null,
  };
  const program = new Command("ambit").exitOverride().configureOutput({
    writeOut: (line) => out.push(line),
    writeErr: (line) => errors.push(line),
  });
  const end = (code: ExitCode): void => {
    exit = code;
  };
  addApprovals(program, ports, end);
  addPresence(program, ports, end);
  await program.parseAsync([...words], { from: "user" });
  return { exit, out: out.join("\n"), errors: errors.join("\n"), asked, questions, closed };
}
