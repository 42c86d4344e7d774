// Trees of files that caveats open: by name in the core, and read by a real worker from a real layout.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { isSegments } from "../../src/core/authority/axes/scope.ts";
import { nativeMissing } from "../files/native.ts";
import { filesUnder, isPermitted, treesOfGrants } from "../files/reading.ts";
import { caveatsLink } from "./caveats.ts";
import { buildLayout, placeText } from "./layout.ts";
import { answerOf, decisionOf, PATH_SETTINGS } from "./machine.ts";
import { allowOrDeny, type Family, pendingOutcome } from "./outcome.ts";
import { requestFor } from "./requests.ts";
import { textAt, textOr, textsAt } from "./row.ts";

export const pathScope: Family = {
  answers: ["result", "error"],
  run: async (row, file) => {
    const layout = buildLayout(textOr(file.header, "layout", ""));
    try {
      const path = placeText(textAt(row, "path"), layout.root);
      const scope = textsAt(row, "scope").map((text) => placeText(text, layout.root));
      const expected = { expect: textAt(row, "result") };
      const isLinked = [path, ...scope].some(meetsLink);
      if (isLinked && nativeMissing() !== null) return pendingOutcome("confinement");
      const request = requestFor("fs.read", { path });
      const { grants } = caveatsLink({ fs_read: { only: scope } });
      if (!request.ok) return allowOrDeny(expected, { expect: "deny", code: "invalid_input" });
      const byName = answerOf(decisionOf(grants, request.value));
      const [value] = request.value.values;
      if (nativeMissing() !== null || !isSegments(value)) return allowOrDeny(expected, byName);
      const reading = grants.filter(({ verb }) => verb.verb === "fs.read");
      const files = filesUnder(reading, treesOfGrants(reading, "read"), PATH_SETTINGS.protectedPaths);
      try {
        const permitted = await isPermitted(files, value.segments);
        const byWorker = permitted === true ? { expect: "allow" } : { expect: "deny", code: permitted.code };
        // Where no link is involved, the names alone must give the same answer.
        const isOtherwise = !isLinked && byName["expect"] !== byWorker.expect;
        return allowOrDeny(expected, isOtherwise ? { expect: `${byName["expect"]} by name alone` } : byWorker);
      } finally {
        files.close();
      }
    } finally {
      layout.remove();
    }
  },
};

/** Walks the path as the kernel would, `..` by `..`, and tells whether it contains a link. */
function meetsLink(path: string): boolean {
  let here = "/";
  for (const name of path.split("/")) {
    if (name === "" || name === ".") continue;
    here = join(here, name);
    if (lstatSync(here, { throwIfNoEntry: false })?.isSymbolicLink() === true) return true;
  }
  return false;
}
