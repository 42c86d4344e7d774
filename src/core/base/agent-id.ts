// The id of an agent, as a person reads it in the log, in a question and in a command: no two ids look alike but for their case,
// and none reads as an option, as a file or as a session without an agent. INVARIANT: this is the one rule for ids.
import { nameCharactersMax } from "./limits.ts";
import { done, type Result, refuse } from "./result.ts";

const SEGMENT = /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}._@+-]*$/u;
/** Code points that are shown as nothing. Some of them are letters or marks. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;
/** The endings of files that define agents: an id with one would also be the name of another file. */
const ENDING = /\.(?:md|ya?ml|json|toml)$/i;
/** What sessions without a record of their own are called. */
const RESERVED: readonly string[] = ["anonymous"];

/** `agents/scout` is another spelling of `scout`: a record may name itself by the folder that records of agents lie in. */
export function agentIdOf(text: string): string {
  return text.startsWith(FOLDER) && text.length > FOLDER.length ? text.slice(FOLDER.length) : text;
}

const FOLDER = "agents/";

/** The id of an agent that writes none: its role in lower case, with hyphens for whatever is no part of an id. */
export function idOfRole(role: string): string {
  return role
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}._@+-]+/gu, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
}

export function parseAgentId(text: string): Result<string> {
  const shown = JSON.stringify(text.slice(0, 80));
  if (text.length > nameCharactersMax)
    return refuse("bad_value", `an agent's id has at most ${nameCharactersMax} characters`);
  if (text.search(IGNORABLE) >= 0)
    return refuse("bad_value", `${shown} contains invisible characters, so it is not a valid agent id`);
  if (!text.split("/").every((segment) => SEGMENT.test(segment)))
    return refuse(
      "bad_value",
      `${shown} is not a valid agent id: use letters, digits and . _ @ + -, starting with a letter, a digit or _`,
    );
  if (text.normalize("NFKC") !== text)
    return refuse("bad_value", `${shown} has another spelling that looks the same (${text.normalize("NFKC")})`);
  if (ENDING.test(text)) return refuse("bad_value", `${shown} is a file name, not an agent id: omit the extension`);
  if (agentIdOf(text) !== text)
    return refuse("bad_value", `${shown} is another spelling of ${agentIdOf(text)}, not a separate agent id`);
  if (RESERVED.includes(foldAgentId(text)))
    return refuse("bad_value", `${shown} is reserved for sessions without an agent`);
  return done(text);
}

/** Two ids with one fold are not told apart by a person. */
export function foldAgentId(text: string): string {
  return text.replace(IGNORABLE, "").normalize("NFKC").toUpperCase().toLowerCase();
}

/** An id among others that is another one and reads the same; null where there is none. */
export function alikeAgentId(text: string, others: readonly string[]): string | null {
  const fold = foldAgentId(text);
  return others.find((other) => other !== text && foldAgentId(other) === fold) ?? null;
}
