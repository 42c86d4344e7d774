// What the figures were taken on: enough to compare two runs, nothing that names a machine.
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memory: string;
  readonly node: string;
  readonly v8: string;
  readonly platform: string;
  /** Processes that wanted to run, on average, in the minute before: above `cores`, figures are noisy. */
  readonly load: number;
}

export function machine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    node: process.versions.node,
    v8: process.versions.v8,
    platform: `${process.platform} ${process.arch}`,
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  };
}
