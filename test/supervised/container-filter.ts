// In front of a command: runs it as in a container with an engine's default settings. Nothing where `test/engines` runs these tests
// in a real container, whose engine decides which sandbox there is.
import { fileURLToPath } from "node:url";

/** The sandbox that the engine around these tests allows; undefined outside of one. */
export const engineBackend: string | undefined = process.env["AMBIT_ENGINE_BACKEND"];

const FILTER = fileURLToPath(new URL("./container-filter.py", import.meta.url));

export const FILTERED: readonly string[] = engineBackend === undefined ? ["/usr/bin/python3", FILTER] : [];
