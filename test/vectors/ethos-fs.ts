// Reads under a list of folders and a list of always denied paths: grants, protected paths and a real layout.
import { parsePath } from "../../src/core/authority/axes/path.ts";
import { nativeMissing } from "../files/native.ts";
import { filesUnder, isPermitted, treesOfGrants } from "../files/reading.ts";
import { layoutOf } from "./bridle-paths-model.ts";
import { buildLayout, placeText } from "./layout.ts";
import { PATH_SETTINGS, rootOf } from "./machine.ts";
import { allowOrDeny, type Family, pendingOutcome } from "./outcome.ts";
import { textAt, textsAt } from "./row.ts";
import { readWritten } from "./written.ts";

export const scopedReads: Family = {
  answers: ["expect"],
  run: async (row, file) => {
    if (nativeMissing() !== null) return pendingOutcome("confinement");
    const layout = buildLayout(layoutOf(file.header));
    try {
      const [readable, floor] = [textsAt(row, "readPaths"), textsAt(row, "denyFloor")];
      const { grants } = readWritten(readable.map((root) => ({ "fs.read": { in: placeText(root, layout.root) } })));
      const path = parsePath(placeText(textAt(row, "path"), layout.root), PATH_SETTINGS);
      if (!path.ok) return allowOrDeny({ expect: textAt(row, "expect") }, { expect: "deny" });
      const protectedPaths = floor.map((text) => rootOf(placeText(text, layout.root)));
      const files = filesUnder(grants, treesOfGrants(grants, "read"), protectedPaths);
      try {
        const permitted = await isPermitted(files, path.value.segments);
        return allowOrDeny(
          { expect: textAt(row, "expect") },
          permitted === true ? { expect: "allow" } : { expect: "deny", code: permitted.code },
        );
      } finally {
        files.close();
      }
    } finally {
      layout.remove();
    }
  },
};
