// The directives of one run: read from the structured output of its client while it runs, and carried out when it has ended well.
import { assistantTextReader } from "../../clients/assistant-text.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import { parseJson } from "../../core/notation/json-reader.ts";
import type { CallCompletion, DenialView } from "../../core/ports/daemon/daemon-calls.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import type { HeldDirectives } from "../../core/ports/stores/task-store.ts";
import { DIRECTIVES, type Directive, readDirectives } from "../../org/directives/directives.ts";
import type { RunReport } from "../../org/task-life.ts";
import type { Exchange } from "../rpc/serving.ts";

const lineBytesMax: number = 4 * 1024 * 1024;
const directivesMax = 8;
const noteCharactersMax = 2000;

/** Collects the directives of a client's output. Null for a client without structured output. */
export function directiveReader(profile: string | null): DirectiveReader | null {
  const reader = profile === null ? null : assistantTextReader(profile);
  return reader === null ? null : new DirectiveReader(reader);
}

export class DirectiveReader {
  readonly #reader: NonNullable<ReturnType<typeof assistantTextReader>>;
  readonly #decoder = new TextDecoder();
  readonly #found = new Map<string, Directive>();
  #line = "";
  #isSkipped = false;

  constructor(reader: NonNullable<ReturnType<typeof assistantTextReader>>) {
    this.#reader = reader;
  }

  /** The same request, whose output is read on its way to the runner: secrets are redacted by then. */
  reading(exchange: Exchange): Exchange {
    const { connected, name, value, signal, input } = exchange;
    return {
      ...{ connected, name, value, signal, input },
      stop: () => exchange.stop(),
      tell: (event) => exchange.tell(event),
      send: (channel, bytes) => {
        if (channel === 1) this.#read(bytes);
        return exchange.send(channel, bytes);
      },
    };
  }

  #read(bytes: Uint8Array): void {
    const lines = (this.#line + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) {
      if (!this.#isSkipped) this.#take(line);
      this.#isSkipped = false;
    }
    if (this.#line.length <= lineBytesMax) return;
    // Too long to be read: nothing of it is a directive.
    this.#line = "";
    this.#isSkipped = true;
  }

  end(): readonly Directive[] {
    if (!this.#isSkipped) this.#take(this.#line);
    this.#line = "";
    return [...this.#found.values()];
  }

  #take(line: string): void {
    if (!line.startsWith("{")) return;
    const parsed = parseJson(line);
    for (const text of parsed.ok ? this.#reader(parsed.value) : [])
      for (const directive of readDirectives(text))
        if (this.#found.size <= directivesMax) this.#found.set(directiveText(directive), directive);
  }
}

function directiveText({ name, subject, text }: Directive): string {
  return `${name}[${subject}]: ${text}`;
}

/** Those of an earlier run, as the state has them. */
export function heldIn({ directives }: HeldDirectives): readonly Directive[] {
  return directives.flatMap(({ name, subject, text }) => {
    const known = DIRECTIVES.find((one) => one === name);
    return known === undefined ? [] : [{ name: known, subject, text }];
  });
}

export interface DirectedRun {
  /** Sentences that the agent reads in its next run. */
  readonly notes: readonly string[];
  /** The first one that waits for a person. */
  readonly waits: Extract<RunReport, { kind: "asked" }> | null;
  /** All that wait for a person. */
  readonly held: readonly Directive[];
  /** For the log: each directive, and what became of it. */
  readonly results: readonly { readonly directive: string; readonly result: string }[];
}

type ToolCall = (tool: string, input: JsonObject) => Promise<Answer<CallCompletion | DenialView>>;

/** Each directive is a call of the tool of the same power. */
export async function carryOut(directives: readonly Directive[], call: ToolCall): Promise<DirectedRun> {
  const notes: string[] = [];
  const results: { directive: string; result: string }[] = [];
  const held: Directive[] = [];
  let waits: DirectedRun["waits"] = null;
  for (const [at, directive] of directives.entries()) {
    const text = directiveText(directive);
    const tell = (result: string, note: string | null): void => {
      results.push({ directive: text.slice(0, noteCharactersMax), result });
      if (note !== null) notes.push(`About your line ${text.slice(0, noteCharactersMax)}\n${note}`);
    };
    if (at >= directivesMax) {
      tell("quota", `Not carried out, and nothing after it: a run has at most ${directivesMax} directives.`);
      continue;
    }
    const asked = toolOf(directive);
    if (asked === null) {
      tell("invalid_input", "Not carried out: write REQUEST[capability:name].");
      continue;
    }
    const answer = await call(asked.tool, asked.input);
    if (!answer.ok) tell(answer.code, `Not carried out: ${answer.message}.`);
    else if (answer.value.outcome === "done") tell("done", asked.done(answer.value.result));
    else {
      const { code, hint, approval, reason } = answer.value;
      if (code === "approval_required" && approval !== null) {
        tell(code, null);
        held.push(directive);
        waits ??= { kind: "asked", approval, capabilities: [asked.capability] };
      } else tell(code, `Not carried out: ${reason ?? hint}`);
    }
  }
  return { notes, waits, held, results };
}

interface DirectedCall {
  readonly tool: string;
  readonly input: JsonObject;
  readonly capability: string;
  /** What the agent reads once it is carried out, from the result of the tool; null: nothing. */
  done(result: Json): string | null;
}

const nothing = (): null => null;

function toolOf({ name, subject, text }: Directive): DirectedCall | null {
  switch (name) {
    case "DELEGATE":
      return { tool: "task_delegate", input: { agent: subject, prompt: text }, capability: "delegate", done: nothing };
    case "SCHEDULE":
      return { tool: "task_schedule", input: { when: subject, prompt: text }, capability: "schedule", done: nothing };
    case "HIRE":
      return {
        ...{ tool: "agent_hire", input: { role: subject, instructions: text }, capability: "hire" },
        done: (result) => `Carried out: the agent exists. Its id is ${isJsonObject(result) ? result["agent"] : ""}.`,
      };
    case "REQUEST": {
      const capability = /^capability:\s*([a-z][a-z0-9_-]*)$/.exec(subject)?.[1];
      return capability === undefined
        ? null
        : { tool: "capability_request", input: { capability, reason: text }, capability, done: nothing };
    }
    default:
      return name satisfies never;
  }
}
