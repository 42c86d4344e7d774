// After every test file: the folders it had for itself are gone, and with them the daemons in them.
import { afterAll } from "vitest";
import { removeOwnFolders } from "./own-folder.ts";

afterAll(removeOwnFolders);
