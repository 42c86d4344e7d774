// After every test file: its folders are removed, and the daemons in them exit.
import { afterAll } from "vitest";
import { removeOwnFolders } from "./own-folder.ts";

afterAll(removeOwnFolders);
