// A page for each word of records and configurations that decides how programs write, and for whom sessions are opened.
import type { Page } from "./pages.ts";

export const WORDS: Readonly<Record<string, Page>> = {
  root: {
    means:
      "What a program may do with its folder: `ro` reads it, `rw` writes a draft that lands when the program ends, `live` works on a private copy that is synchronized with the folder while it runs.",
    doThis: "Write `ro` where a program only reads. `rw` and `live` also need `fs.write` of the whole folder.",
    example: "ambit can scout proc.exec -- npm test",
  },
  live: {
    means:
      "`root: live`: a program that runs long works on a private copy of the folder. Its changes land and yours appear in it while it runs.",
    doThis: "Grant it for editors, servers and agent clients. `rw` does not cover it.",
    example: "ambit agents grant scout 'proc.exec{patterns=[\"npm run dev\"],root=live}'",
  },
  land: {
    means:
      "`land: ask` in a record or a config.yml: what an agent's programs write needs approval before it lands. The default is `auto`: it lands when the program ends.",
    doThis:
      "Review with `ambit changes list` and `show`, then `land` or `discard`. `--review` does the same for one command.",
    example: "ambit changes list",
  },
  triggers: {
    means:
      "File names that tools run by themselves, such as git hooks and editor tasks. Some never land, some land after approval.",
    doThis: "Move names with `triggers:` in your own config.yml. A project may only make its list stricter.",
    example: "ambit changes list",
  },
  users: {
    means:
      "`users: required` in a config.yml: a session needs the name of a user who has a record in `users/`. The record limits what agents do for that user.",
    doThis: "Create `users/NAME.md` beside your own config.yml and pass `--user NAME`.",
    example: "ambit can scout net.get https://api.github.com/ --user ann",
  },
};
