// Where tests live and how many run at once: sandboxes and databases are real, so two at a time.
import type { ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = {
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    setupFiles: ["test/house/seed.ts"],
    pool: "forks",
    maxWorkers: 2,
    // Real processes on a busy machine: CI tries a test again that failed, and says so. At home nothing is tried twice.
    retry: Number(process.env["AMBIT_RETRY"] ?? 0),
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
};

export default config;
