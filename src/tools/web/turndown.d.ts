// The used part of a package without types.
declare module "turndown" {
  import type { PageNode } from "./page-tree.ts";

  interface Rule {
    readonly filter: string | readonly string[];
    replacement(content: string, node: PageNode): string;
  }

  class Turndown {
    constructor(choices: Readonly<Record<string, string>>);
    addRule(name: string, rule: Rule): void;
    turndown(node: PageNode): string;
  }

  export = Turndown;
}
