// A tree in memory for tests of the rules: files with texts, folders, and links.
import type { ListedName, RealTree, TreeEntry } from "../real-tree.ts";

/** A path to a text, or to where a link leads. A path that ends in a slash is an empty folder. */
export interface FakeFile {
  readonly text?: string;
  readonly link?: string;
  /** Files with the same identity are hard links of each other. */
  readonly identity?: string;
}

export function fakeTree(files: Readonly<Record<string, FakeFile | string>>): RealTree {
  const entries = new Map<string, TreeEntry & { readonly text: string }>();
  const folder: TreeEntry & { readonly text: string } = {
    ...{ kind: "folder", target: null, identity: "", links: 1, isExecutable: true, text: "" },
  };
  entries.set("", folder);
  for (const [path, written] of Object.entries(files)) {
    const { text = "", link, identity = "" } = typeof written === "string" ? { text: written } : written;
    const names = path.split("/").filter((name) => name !== "");
    for (let depth = 1; depth < names.length; depth++) {
      const key = names.slice(0, depth).join("/");
      if (!entries.has(key)) entries.set(key, folder);
    }
    const kind = path.endsWith("/") ? "folder" : link === undefined ? "file" : "link";
    const links = identity === "" ? 1 : 2;
    entries.set(names.join("/"), { kind, target: link ?? null, identity, links, isExecutable: false, text });
  }
  return {
    at: (path) => entries.get(path.join("/")) ?? null,
    list: (path, namesMax) => {
      const base = path.join("/");
      if (entries.get(base)?.kind !== "folder") return null;
      const names: ListedName[] = [];
      for (const [key, { kind }] of entries) {
        const at = key.lastIndexOf("/");
        if (key !== "" && (at < 0 ? "" : key.slice(0, at)) === base) names.push({ name: key.slice(at + 1), kind });
      }
      return names.length > namesMax ? null : names;
    },
    text: (path, charactersMax) => {
      const entry = entries.get(path.join("/"));
      return entry?.kind === "file" && entry.text.length <= charactersMax ? entry.text : null;
    },
  };
}
