// Where tests live and how many run at once: sandboxes and databases are real, so two at a time.
import type { ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = {
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // The clients that others wrote are large: `npm run test:clients` installs and tries them.
    exclude: ["**/node_modules/**", ...(process.env["AMBIT_CLIENTS"] === "1" ? [] : ["test/clients/**"])],
    setupFiles: ["test/house/seed.ts", "test/house/leave-nothing.ts"],
    pool: "forks",
    maxWorkers: 2,
    // Real processes on a busy machine: CI tries a test again that failed, and says so. At home nothing is tried twice.
    retry: Number(process.env["AMBIT_RETRY"] ?? 0),
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
};

export default config;
