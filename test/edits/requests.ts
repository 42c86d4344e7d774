// Every request the random records can distinguish, and the answer for an agent with a list of grants.
import { compile } from "../../src/core/authority/compiled.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import { ALWAYS } from "../../src/core/authority/link.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { readRequestText } from "../../src/core/notation/request/request.ts";
import { EDIT_CONTEXT } from "./edit.ts";

const HOSTS = ["a.example", "b.example", "github.com", "api.github.com", "c.example", "10.1.1.1", "x.api.github.com"];
const PORTS = [80, 443, 8000, 8050, 8101];
const PATHS = [
  "src/a",
  "src/b/c",
  "docs/d",
  "x/z",
  "y/z",
  "out",
  "sub/src/a",
  "sub/out",
  "sub/docs/d",
  "other",
  "sub/q",
];

const TEXTS: readonly string[] = [
  ...["records.read", "records.update", "records.create"].flatMap((verb) =>
    ["inbox", "note", "log", "else"].map((name) => `${verb} id=i class=${name}`),
  ),
  ...["a", "b/x", "b/x/y", "c"].map((key) => `memory.write ${key}`),
  "obs.query x",
  ...HOSTS.flatMap((host) => PORTS.map((port) => `net.get http://${host}:${port}/`)),
  ...HOSTS.flatMap((host) => PORTS.map((port) => `net.connect ${host}:${port}`)),
  ...PATHS.flatMap((path) => [`fs.read /work/${path}`, `fs.write /work/${path}`]),
  ...["git log", "git push", "rg x", "npm test", "npm run"].map((line) => `proc.exec -- ${line}`),
  ...["send_mail", "web_fetch", "fs_read", "other"].map((name) => `tool.invoke ${name} {}`),
];

export const REQUESTS: readonly Request[] = TEXTS.flatMap((text) => {
  const roots = text.startsWith("proc.exec") ? [["work"], ["work", "sub"]] : [null];
  return roots.map((workingRoot) => {
    const read = readRequestText(text, { ...EDIT_CONTEXT.reading, workingRoot });
    if (!read.ok) throw new Error(`${text}: ${read.message}`);
    return read.value;
  });
});

/** For each request the level of the grant that covers it, or -1; now, and after every date in the records. */
export function answers(grants: readonly Grant[]): readonly number[] {
  const link = compile({ id: "a", role: "own", issuer: "", holder: "a", grants, validity: ALWAYS, calls: null });
  return [0, 10e12].flatMap((now) =>
    REQUESTS.map((request) => {
      const index = link.covers(request, { ...EDIT_CONTEXT.moment, now }, "use");
      return index < 0 ? -1 : (grants[index] as Grant).conditions.ask;
    }),
  );
}
