// The checkout's path. The runner is bundled into dist/dev, two folders below the root.
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const programPath: string = fileURLToPath(import.meta.url);
export const rootFolder: string = fileURLToPath(new URL("../..", import.meta.url));
export const benchFolder: string = join(rootFolder, "bench");
