// Scenarios of ssrf.json: redirects, answers of several addresses, and names that change their answer.
import { destinationText } from "../../src/core/authority/axes/destination.ts";
import { type Data, ShapeError, text, texts } from "./data.ts";
import { type Answers, dialsOnly, likelyAnswers, requestOutcome, type Target, targetOf } from "./ssrf-fixture.ts";
import { compareAnswers, HELD, type Outcome } from "./tally.ts";

export function scenarioOutcome(scenario: Data): Outcome {
  const must = scenario["must_block"];
  if (typeof must !== "boolean") return { kind: "skipped", reason: "no expected answer" };
  const chain = texts(scenario["chain"]);
  if (chain !== null) return compareAnswers(!must, chain.every(hopAllowed(scenario)), "redirect");
  const host = text(scenario, "host");
  if (host === null || !Array.isArray(scenario["answers"]))
    return { kind: "skipped", reason: `scenario ${text(scenario, "kind") ?? "without a kind"}` };
  const target = targetOf(host, "host");
  if (target === null) return compareAnswers(!must, false, "name refused");
  const rounds = scenario["answers"].map(answersOf);
  return /rebind/.test(text(scenario, "kind") ?? "") ? rebound(target, rounds, must) : answered(target, rounds, must);
}

function answersOf(round: unknown): Answers {
  if (round === null) return null;
  const answers = texts(round);
  if (answers === null) throw new ShapeError("an answer is not a list of addresses");
  return answers;
}

/** Each hop is decided by itself, as if it were the first; a relative one is resolved against the hop before. */
function hopAllowed(scenario: Data): (hop: string, at: number, chain: readonly string[]) => boolean {
  const given = scenario["answers"];
  return (hop, at, chain) => {
    const target = targetOf(absolute(hop, chain[at - 1]), "url");
    if (target === null) return false;
    const name = destinationText(target.host);
    const listed = typeof given === "object" && given !== null ? (given as Data)[name] : undefined;
    const answers = listed === undefined ? likelyAnswers(name) : answersOf(listed);
    return requestOutcome(target, answers).allowed;
  };
}

function absolute(hop: string, before: string | undefined): string {
  if (before === undefined || /^[a-z][a-z0-9+.-]*:/i.test(hop) || !URL.canParse(hop, before)) return hop;
  return new URL(hop, before).href;
}

/** Every round is an answer to the same query: a bad one is refused, and nothing else is ever dialled. */
function answered(target: Target, rounds: readonly Answers[], must: boolean): Outcome {
  for (const answers of rounds) {
    const { allowed, pinned } = requestOutcome(target, answers);
    if (!dialsOnly(pinned, answers)) return { kind: "missed", note: "dials what was not answered" };
    if (must && !allowed) return HELD;
    if (!must && !allowed) return { kind: "refused", note: "answer refused" };
  }
  return compareAnswers(!must, true, "answer allowed");
}

/**
 * The first answer is decided and pinned; the connection goes to the pinned address. Later answers must not be among those, and a
 * connection that starts with one of them is decided again.
 */
function rebound(target: Target, [first, ...later]: readonly Answers[], must: boolean): Outcome {
  if (first === undefined) return { kind: "skipped", reason: "no answers" };
  const { allowed, pinned } = requestOutcome(target, first);
  if (!dialsOnly(pinned, first)) return { kind: "missed", note: "dials what was not answered" };
  if (!must) return compareAnswers(true, allowed, "first answer");
  const changed = later.map((answers) => (answers ?? []).filter((each) => !first?.includes(each)));
  if (changed.some((answers) => answers.some((each) => pinned.includes(each))))
    return { kind: "missed", note: "dials the second answer" };
  const anew = later.some(
    (answers, at) => (changed[at] as readonly string[]).length > 0 && requestOutcome(target, answers).allowed,
  );
  return allowed && anew ? { kind: "missed", note: "allows the second answer" } : HELD;
}
