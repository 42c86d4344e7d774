// Trees of files that caveats open. What no link takes part in is decided here; links wait for the file worker.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { caveatsLink } from "./caveats.ts";
import { buildLayout, placed } from "./layout.ts";
import { answerOf, decisionOf } from "./machine.ts";
import { allowOrDeny, type Family, pending } from "./outcome.ts";
import { requestFor } from "./requests.ts";
import { textAt, textOr, textsAt } from "./row.ts";

export const pathScope: Family = {
  answers: ["result", "error"],
  run: (row, file) => {
    const layout = buildLayout(textOr(file.header, "layout", ""));
    try {
      const path = placed(textAt(row, "path"), layout.root);
      const scope = textsAt(row, "scope").map((text) => placed(text, layout.root));
      if ([path, ...scope].some(meetsLink)) return pending("confinement");
      const request = requestFor("fs.read", { path });
      const { grants } = caveatsLink({ fs_read: { only: scope } });
      const got = request.ok ? answerOf(decisionOf(grants, request.value)) : { expect: "deny", code: "invalid_input" };
      return allowOrDeny({ expect: textAt(row, "result") }, got);
    } finally {
      layout.remove();
    }
  },
};

/** Walks the path as the kernel would, `..` by `..`, and tells whether a link lies on the way. */
function meetsLink(path: string): boolean {
  let here = "/";
  for (const name of path.split("/")) {
    if (name === "" || name === ".") continue;
    here = join(here, name);
    if (lstatSync(here, { throwIfNoEntry: false })?.isSymbolicLink() === true) return true;
  }
  return false;
}
