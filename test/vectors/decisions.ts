// The table of decisions: every recorded, deliberate difference between our answers and a seed's.
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { LINK_DECISIONS } from "./bridle-paths-decisions.ts";
import type { Decision } from "./decision.ts";
import { CAVEATS_DECISIONS } from "./decisions-caveats.ts";
import { CHECK_DECISIONS } from "./decisions-check.ts";
import { COMMAND_DECISIONS } from "./decisions-command.ts";
import { HOST_DECISIONS } from "./decisions-host.ts";
import { NOTATION_DECISIONS } from "./decisions-notation.ts";
import { PATH_DECISIONS } from "./decisions-path.ts";
import { REGISTRATION_DECISIONS } from "./decisions-registration.ts";
import { ROOT_DECISIONS } from "./decisions-root.ts";
import { TOKEN_DECISIONS } from "./decisions-token.ts";
import { WEB_DECISIONS } from "./decisions-web.ts";
import { agrees, type Compared, type Family, sameJson } from "./outcome.ts";
import type { Row, VectorFile } from "./row.ts";
import { SHELL_DECISIONS } from "./shell-decisions.ts";

export const DECISIONS: readonly Decision[] = [
  ...HOST_DECISIONS,
  ...WEB_DECISIONS,
  ...COMMAND_DECISIONS,
  ...PATH_DECISIONS,
  ...ROOT_DECISIONS,
  ...CHECK_DECISIONS,
  ...CAVEATS_DECISIONS,
  ...NOTATION_DECISIONS,
  ...REGISTRATION_DECISIONS,
  ...TOKEN_DECISIONS,
  ...LINK_DECISIONS,
  ...SHELL_DECISIONS,
];

/** Columns that explain; they are neither input nor expected. */
const INFORMATION =
  /^(message|message_contains|reason|problem|error|warning|unknown|construct|banner_contains|contains|measured_.*|origin|source|note|ambit_note)$/;

/** The case without its expected columns. */
export function inputOf(row: Row, { answers }: Family): Row {
  return Object.fromEntries(Object.entries(row).filter(([key]) => !answers.includes(key) && !INFORMATION.test(key)));
}

/**
 * The decision that excuses a difference: its predicate holds for the input, our rule and the seed's give different answers to
 * it, and ours is what we got. INVARIANT: a difference that no decision predicted stays a failure, whatever predicate holds.
 */
export function decisionFor(
  file: VectorFile,
  input: Row,
  compared: Compared,
  table: readonly Decision[] = DECISIONS,
): Decision | null {
  const isGot = (answer: JsonObject): boolean =>
    compared.answers === undefined ? agrees(answer, compared.got) : compared.answers(answer);
  const excuses = (decision: Decision): boolean => {
    if (!decision.files.includes(file.name) || !decision.holds(input, file.header)) return false;
    const [ours, seeds] = [decision.answer(input, file.header), decision.seed(input, file.header)];
    return isGot(ours) && !agrees(seeds, ours) && isSaid(seeds, compared.expected) && isComplete(ours, compared);
  };
  return table.find(excuses) ?? null;
}

/** The file agrees with the seed's rule, where both give an answer. */
function isSaid(seeds: JsonObject, expected: JsonObject): boolean {
  return Object.entries(seeds).every(
    ([key, value]) => !Object.hasOwn(expected, key) || sameJson(value, expected[key] as Json),
  );
}

/** What the decision does not cover must be as the file says. */
function isComplete(ours: JsonObject, { expected, got, answers }: Compared): boolean {
  if (answers !== undefined) return true;
  const rest = Object.entries(expected).filter(([key]) => !Object.hasOwn(ours, key) && Object.hasOwn(got, key));
  return rest.every(([key, value]) => sameJson(value, got[key] as Json));
}
