// All tools that the daemon executes: built-in ones, and per session the third-party ones.
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Moment } from "../../core/authority/compiled.ts";
import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { type Refusal, refuse } from "../../core/base/result.ts";
import type { RequestsResult, ToolLookup } from "../../core/gate/known-tool.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { ToolView } from "../../core/ports/daemon/daemon-calls.ts";
import { useResult } from "../../runtime/context/use-result.ts";
import { type InputParser, inputParser } from "../../runtime/tool/input.ts";
import { holdsOf, reachesOf } from "../../runtime/tool/reachable.ts";
import { objectSchema, textSchema } from "../../runtime/tool/schema-parts.ts";
import type { Session } from "../session.ts";
import { builtinTool, type DaemonTool, type ForeignTools } from "./daemon-tool.ts";

/** Whether these grants can ever allow a tool. */
export function reachedBy(
  authority: Authority,
  moment: Moment,
): (tool: Pick<DaemonTool, "name" | "verbs" | "anyVerb" | "foreign">) => boolean {
  const reaches = reachesOf(authority, moment);
  const holds = holdsOf(authority, moment);
  const isHeld = (verb: string): boolean => holds(verbEntry(verb));
  return ({ name, verbs, anyVerb, foreign }) =>
    reaches(name, foreign?.declared ?? null) && verbs.every(isHeld) && (anyVerb?.some(isHeld) ?? true);
}

/**
 * A tool without any power, to test a grant of `tool.invoke`. It is not built in: a project may have an `echo` of its own,
 * and only a grant that names it makes it callable.
 */
const ECHO: DaemonTool = builtinTool({
  name: "echo",
  description: "Return the text unchanged.",
  input: objectSchema({ text: textSchema("The text to return.", 0, 16_384) }, ["text"]),
  verbs: [],
  requests: () => ({ ok: true, value: [] }),
  execute: async (input) => useResult({ text: input["text"] ?? "" }),
});

export class DaemonTools {
  readonly #own: ReadonlyMap<string, DaemonTool>;
  readonly #foreign: ForeignTools;
  readonly #acceptors = new WeakMap<DaemonTool, InputParser<unknown>>();

  constructor(own: readonly DaemonTool[], foreign: ForeignTools) {
    this.#own = new Map(own.map((tool) => [tool.name, tool]));
    this.#foreign = foreign;
  }

  /** A built-in tool, with or without its origin prefix. */
  ours(name: string): DaemonTool | null {
    return this.#own.get(name) ?? this.#own.get(name.replace(/^builtin:/, "")) ?? null;
  }

  /** With or without its origin prefix; a third-party tool never has the name of a built-in one. */
  async named(session: Session, name: string): Promise<DaemonTool | null> {
    const own = this.ours(name);
    if (own !== null) return own;
    const plain = name.replace(/^tool:/, "");
    if (this.#own.has(plain)) return null;
    const foreign = (await this.#foreign.of(session, plain)).find((tool) => tool.name === plain);
    return foreign ?? (plain === ECHO.name ? ECHO : null);
  }

  /** For a person: built-in tools, by name. */
  own(): readonly DaemonTool[] {
    return [...this.#own.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  }

  /** Only tools that these grants can ever allow, by name. */
  async shown(session: Session, authority: Authority, moment: Moment): Promise<readonly ToolView[]> {
    const reached = reachedBy(authority, moment);
    const foreign = (await this.#foreign.of(session)).filter(({ name }) => !this.#own.has(name));
    const spare = foreign.some(({ name }) => name === ECHO.name) ? [] : [ECHO];
    return [...this.#own.values(), ...foreign, ...spare]
      .filter((tool) => reached(tool) && (tool.isThere?.(session) ?? true))
      .sort((left, right) => (left.name < right.name ? -1 : 1))
      .map(({ name, description, input, shownInput, foreign: from }) => ({
        name,
        description,
        input: shownInput ?? (input as unknown as JsonObject),
        origin: this.#own.has(name) && from === undefined ? "builtin" : "tool",
      }));
  }

  /** The same, and how often MCP servers said that they have other resources or prompts. */
  async view(
    session: Session,
    authority: Authority,
    moment: Moment,
  ): Promise<{ readonly tools: readonly ToolView[]; readonly changes: number }> {
    const tools = await this.shown(session, authority, moment);
    return { tools, changes: this.#foreign.listChanges?.(session) ?? 0 };
  }

  /** `derived`: the requests that the tool derived for the call, or why it rejects the input. */
  lookup(
    tool: DaemonTool | null,
    reading: Reading,
    session: Session,
    derived: readonly Request[] | Refusal,
  ): ToolLookup {
    return () => {
      if (tool === null) return null;
      const requests = (input: JsonObject): RequestsResult => {
        const own = this.#requests(tool, input, reading, session);
        if (!own.ok || !Array.isArray(derived)) return own.ok ? (derived as Refusal) : own;
        return { ok: true, value: [...own.value, ...(derived as readonly Request[])] };
      };
      return { name: tool.name, requirement: tool.foreign?.requirement ?? null, requests };
    };
  }

  #requests(tool: DaemonTool, input: JsonObject, reading: Reading, session: Session): RequestsResult {
    const acceptor = this.#acceptors.get(tool) ?? inputParser(tool.input);
    this.#acceptors.set(tool, acceptor);
    const accepted = acceptor.accept(input);
    if (accepted.ok) return tool.requests(input, reading, session);
    const [issue] = accepted.issues;
    return refuse(
      "bad_value",
      issue === undefined ? "the arguments do not match the tool's input" : `${issue.at} ${issue.message}`.trim(),
    );
  }
}
