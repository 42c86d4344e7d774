// A trial of bubblewrap with what every sandbox makes and mounts. `doctor` and the start of programs use the same trial, so that
// they agree. Container engines that allow namespaces may still forbid a /proc or a host name.
import { HOSTNAME } from "../plan/start/etc.ts";
import { type BubblewrapProblem, complaintProblem } from "./bubblewrap-error.ts";

export interface TrialAnswer {
  /** Null where it was killed or did not start. */
  readonly status: number | null;
  readonly stderr: string;
}

export type SandboxTrial =
  /** `setsHostname`: false where sandboxes keep the host name of the machine, because a filter forbids another. */
  | { readonly kind: "starts"; readonly setsHostname: boolean }
  /** `problem`: null where it said nothing. */
  | { readonly kind: "fails"; readonly problem: BubblewrapProblem | null }
  /** No answer in time, say. */
  | { readonly kind: "unknown" };

const NAMED: readonly string[] = ["--hostname", HOSTNAME];

/** `run` starts bubblewrap with these words. */
export function trySandbox(run: (argv: readonly string[]) => TrialAnswer): SandboxTrial {
  const named = outcomeOf(run(trial(NAMED)), true);
  if (named.kind !== "fails" || named.problem?.isHostname !== true) return named;
  return outcomeOf(run(trial([])), false);
}

function trial(name: readonly string[]): readonly string[] {
  const mounts = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"];
  return ["--unshare-all", ...name, "--die-with-parent", ...mounts, "--", "/bin/true"];
}

function outcomeOf({ status, stderr }: TrialAnswer, setsHostname: boolean): SandboxTrial {
  if (status === null) return { kind: "unknown" };
  return status === 0 ? { kind: "starts", setsHostname } : { kind: "fails", problem: complaintProblem(stderr) };
}
