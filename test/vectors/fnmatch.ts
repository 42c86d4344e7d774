// bridle-fnmatch: one pattern of file names against one name, as the `shell` tool expands them.
import { matchesName } from "../../src/tools/shell/names/file-names.ts";
import { type Family, yesOrNo } from "./outcome.ts";
import { flagAt, textAt } from "./row.ts";

export const fileNames: Family = {
  answers: ["matches"],
  run: (row) => yesOrNo("matches", flagAt(row, "matches"), matchesName(textAt(row, "pattern"), textAt(row, "name"))),
};
