// The machine of the figures: enough to compare two runs, nothing that identifies a machine.
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memory: string;
  readonly node: string;
  readonly v8: string;
  readonly platform: string;
  /** Load average of the minute before: above `cores`, figures are noisy. */
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
