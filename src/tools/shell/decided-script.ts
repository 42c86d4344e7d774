// A decided script: its structure from the text, every argument vector and every path from the allowed requests.
// INVARIANT: nothing is run or opened that is not one of them.

import { isSegments } from "../../core/authority/axes/scope.ts";
import type { Basis } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import type { FilePath } from "../../core/ports/files.ts";
import type { Redirection, Script, Step } from "./language/script.ts";

export interface DecidedFile {
  readonly request: Request;
  readonly path: FilePath;
}

export type DecidedRedirection =
  | (DecidedFile & { readonly kind: "read" })
  | (DecidedFile & { readonly kind: "write"; readonly stream: 1 | 2; readonly append: boolean })
  | { readonly kind: "join" };

export interface DecidedStage {
  readonly argv: readonly [string, ...string[]];
  readonly request: Request;
  readonly by: Basis;
  readonly redirections: readonly DecidedRedirection[];
}

export interface DecidedStep {
  readonly after: Step["after"];
  readonly stages: readonly DecidedStage[];
}

export interface DecidedRequests {
  readonly requests: readonly Request[];
  readonly basis: readonly Basis[];
}

/** Null if they are not the requests of this script: those of each command, in order, and no others. */
export function decidedScript(script: Script, { requests, basis }: DecidedRequests): readonly DecidedStep[] | null {
  let at = 0;
  const take = (verb: string): { readonly request: Request; readonly by: Basis } | null => {
    const [request, by] = [requests[at], basis[at]];
    if (request?.verb.verb !== verb || by === undefined) return null;
    at++;
    return { request, by };
  };
  const steps: DecidedStep[] = [];
  for (const { after, stages } of script) {
    const decided: DecidedStage[] = [];
    for (const { redirections } of stages) {
      const program = take("proc.exec");
      const argv = program === null ? null : argvIn(program.request);
      if (program === null || argv === null) return null;
      // Requested in this order: reads, then writes.
      const reads = redirections.filter(({ kind }) => kind === "read").map(() => fileIn(take("fs.read")?.request));
      const writes = redirections.filter(({ kind }) => kind === "write").map(() => fileIn(take("fs.write")?.request));
      const files = [...reads, ...writes];
      if (files.includes(null)) return null;
      const next = { read: reads.values(), write: writes.values() };
      decided.push({ argv, ...program, redirections: redirections.map((one) => decidedOne(one, next)) });
    }
    steps.push({ after, stages: decided });
  }
  return at === requests.length ? steps : null;
}

function decidedOne(
  redirection: Redirection,
  next: Readonly<Record<"read" | "write", IterableIterator<DecidedFile | null>>>,
): DecidedRedirection {
  if (redirection.kind === "join") return redirection;
  const { kind } = redirection;
  const file: DecidedFile | null = next[kind].next().value ?? null;
  if (file === null) throw new Error("a redirection without its file");
  return kind === "read"
    ? { ...file, kind }
    : { ...file, kind, stream: redirection.stream, append: redirection.append };
}

function argvIn({ verb, values }: Request): readonly [string, ...string[]] | null {
  const value = values[verb.axes.findIndex(({ name }) => name === "argv")];
  const [program, ...rest] = value !== undefined && isSegments(value) ? value.segments : [];
  return program === undefined ? null : [program, ...rest];
}

function fileIn(request: Request | undefined): DecidedFile | null {
  const value = request?.values[0];
  return request === undefined || value === undefined || !isSegments(value) ? null : { request, path: value.segments };
}
