// ssrf.json: addresses, hosts and pages under `net.get{hosts=["*"]}`, with the resolver's answers injected.
import { cases, type Data, flag, groupBy, list, nameOf, text } from "./data.ts";
import {
  dialsOnly,
  isLocalName,
  privateAnswers,
  publicAnswers,
  requestOutcome,
  type Target,
  targetOf,
} from "./ssrf-fixture.ts";
import { scenarioOutcome } from "./ssrf-scenarios.ts";
import { oddity } from "./ssrf-spelling.ts";
import { type Case, compareAnswers, type Group, HELD, type Outcome } from "./tally.ts";

export function runSsrf(file: Data): readonly Group[] {
  const kinds = groupBy(cases(file), (each) => text(each, "kind") ?? "unknown");
  const scenarios = groupBy(list(file, "scenarios"), (each) => text(each, "kind") ?? "scenario");
  return [
    ...[...kinds].map(([kind, rows]) => group(kind, rows, (row) => outcome(kind, row))),
    ...[...scenarios].map(([kind, rows]) => group(kind, rows, scenarioOutcome)),
  ];
}

function group(name: string, rows: readonly Data[], run: (row: Data) => Outcome): Group {
  const found = rows.map((row, at): Case => {
    const shown = JSON.stringify(row["input"] ?? row["chain"] ?? [row["host"], row["answers"]]);
    return { name: nameOf(row, at), shown, outcome: run(row) };
  });
  return { corpus: "ssrf", group: name, cases: found };
}

/** Whether it must be blocked. Null if the resolver decides. */
type Must = boolean | null;

function outcome(kind: string, row: Data): Outcome {
  const input = text(row, "input");
  if (input === null) return { kind: "skipped", reason: "no input" };
  const must = flag(row, "must_block");
  if (kind === "ip") return address(input, must);
  const spelled = kind === "url" || (kind !== "host" && input.includes("://")) ? "url" : "host";
  const target = targetOf(input, spelled);
  if (target === null) return unread(input, must);
  return target.host.name === null ? literal(target, must) : named(target, must, resolverDecides(row, target));
}

/** Our parser refuses the text: oddities are refused, not repaired. */
function unread(input: string, must: Must): Outcome {
  if (must === true) return HELD;
  const reason = oddity(input);
  if (must === false || reason === null) return { kind: "refused", note: reason ?? "no named oddity" };
  return { kind: "decided", reason };
}

function literal(target: Target, must: Must): Outcome {
  const { allowed } = requestOutcome(target, null);
  if (must === null) return allowed ? { kind: "missed", note: "a name to others, an address to us" } : HELD;
  return compareAnswers(!must, allowed, "literal address");
}

/** One address in three places: as a host, in a page URL, and as the answer for a name. */
function address(input: string, must: Must): Outcome {
  const places = [targetOf(input, "host"), targetOf(`http://${input.includes(":") ? `[${input}]` : input}/`, "url")];
  const allowed = places.map((target) => target !== null && requestOutcome(target, null).allowed);
  const name = targetOf("name.example", "host") as Target;
  allowed.push(requestOutcome(name, [input]).allowed);
  if (must === null) return { kind: "skipped", reason: "no expected answer" };
  if (must) return compareAnswers(false, allowed.includes(true), "address");
  return compareAnswers(true, !allowed.includes(false), "address outside the public ranges (decision 0008)");
}

/** Run twice: with public answers, and with answers that refuse any name. */
function named(target: Target, must: Must, byResolver: boolean): Outcome {
  if (privateAnswers.some((answers) => requestOutcome(target, answers).allowed))
    return { kind: "missed", note: "private answer allowed" };
  const open = publicAnswers.map((answers) => ({ answers, ...requestOutcome(target, answers) }));
  if (open.some(({ pinned, answers }) => !dialsOnly(pinned, answers)))
    return { kind: "missed", note: "dials what was not answered" };
  const allowed = open.every((each) => each.allowed);
  if (must === true) return byResolver ? HELD : compareAnswers(false, allowed, "read as a name");
  return compareAnswers(true, allowed, "public answer refused");
}

/** A name that must be blocked because of its address, not its spelling. */
function resolverDecides(row: Data, { host }: Target): boolean {
  const read = row["whatwg"];
  const target = typeof read === "object" && read !== null ? text(read as Data, "target") : null;
  if (flag(row, "needs_dns") === true || target === "local-name") return true;
  return host.name !== null && isLocalName(host.name.segments.toReversed().join("."));
}
