// web_fetch of one page on loopback, beside Node's own fetch and the same conversion.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/base/json.ts";
import { Contexts } from "../../src/daemon/contexts/contexts.ts";
import { contextNet, FetchQueue } from "../../src/daemon/contexts/net.ts";
import { builtinTool } from "../../src/daemon/tools/daemon-tool.ts";
import { BrokerClient } from "../../src/sandbox/network/client.ts";
import { convertPage } from "../../src/tools/web/convert-page.ts";
import { pageProcess, waitingPageProcess } from "../../src/tools/web/page-process.ts";
import { presentWith } from "../../src/tools/web/present-result.ts";
import { WEB_FETCH_TOOL } from "../../src/tools/web/web-fetch.ts";
import { rootFolder } from "../place.ts";
import type { Row } from "../row.ts";
import { authorityOf } from "../sandbox/fixture.ts";
import { OneName } from "../sandbox/names.ts";
import { byTurns } from "../sandbox/turns.ts";
import {
  carriedValue,
  carryingOf,
  heldBy,
  OURS,
  readingIn,
  sessionIn,
  type ToolsFixture,
  warrantOf,
} from "./fixture.ts";
import { oneByOne } from "./one-by-one.ts";
import { LAST_WORDS, realisticPage } from "./page.ts";

export const UNDICI = "Node's fetch";
export const UNDICI_INSIDE = "Node's fetch, conversion in process";
export const FETCHED = "web_fetch: a page of 60 kB as it came";
export const SHOWN = "web_fetch: the page as Markdown";

const NAME = "page.example.test";
const fetchesCount = 5;

export async function measureWeb({ base, project }: ToolsFixture): Promise<readonly Row[]> {
  const html = realisticPage();
  const page = join(base, "page.html");
  writeFileSync(page, html);
  const server = spawn(process.execPath, ["-e", SERVING, page], { stdio: ["ignore", "pipe", "inherit"], env: {} });
  const broker = new BrokerClient(join(rootFolder, "dist", "broker.cjs"));
  const names = new OneName(NAME);
  const resolver = await names.start();
  const session = sessionIn(project);
  try {
    const [said] = (await once(server.stdout, "data")) as [Buffer];
    const port = Number(said.toString());
    const url = `http://${NAME}:${port}/page`;
    const reading = readingIn(project);
    const authority = authorityOf(
      [`net.get{hosts=[${NAME}],ports=[${port}],private=[${NAME}=127.0.0.1]}`, "tool.invoke"],
      reading,
    );
    const tool = builtinTool(WEB_FETCH_TOOL);
    const redacting = { known: null, text: (text: string) => text, json: <T>(value: T): T => value };
    const fetches = new FetchQueue();
    const contexts = new Contexts({
      held: () => heldBy(authority, reading),
      stores: {} as ConstructorParameters<typeof Contexts>[0]["stores"],
      redacting,
      instruments: {
        backends: () => ({ has: () => true, hasSecret: () => false }),
        of: ({ tool: name, enforced }) => ({
          fetching: contextNet({
            ...{ session, tool: name, enforced, redacting, fetches },
            fetch: (wish) => broker.fetch(wish),
            resolver: () => ({ servers: [resolver] }),
            redacted: (bytes) => bytes,
          }),
          files: null,
          programs: null,
          secrets: null,
        }),
      },
      now: () => 0,
      id: () => "o_bench",
    });
    const requests = (input: JsonObject) => tool.requests(input, reading, session);
    const known = { name: tool.name, requirement: null, requests };
    const ours = async (format: string): Promise<Readonly<Record<string, unknown>>> => {
      const warrant = await warrantOf(authority, known, { url, format });
      return carriedValue(await tool.execute(carryingOf(session, warrant, contexts, reading)));
    };
    const plain = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/page`)).text();
    const show = pageProcess(join(rootFolder, "dist", "page.cjs"));
    const present = presentWith(waitingPageProcess(join(rootFolder, "dist", "page.cjs")));
    const asked = (text: string) => ({ kind: "html", format: "markdown", url, text }) as const;
    const wanted = convertPage(asked(html)).text;
    if (!wanted.includes(LAST_WORDS)) throw new Error("the page is not converted as a whole");
    return [
      ...(await byTurns(FETCHED, 40, [
        oneByOne(UNDICI, fetchesCount, async () => expectSame(await plain(), html)),
        oneByOne(OURS, fetchesCount, async () => expectSame((await ours("raw"))["text"], html)),
      ])),
      ...(await byTurns(SHOWN, 15, [
        oneByOne(UNDICI, 1, async () => expectSame((await show(asked(await plain())))?.text, wanted)),
        oneByOne(UNDICI_INSIDE, 1, async () => expectSame(convertPage(asked(await plain())).text, wanted)),
        oneByOne(OURS, 1, async () => {
          const shown = await present(tool.name, { url }, (await ours("markdown")) as JsonObject);
          expectSame((shown as JsonObject)["text"], wanted);
        }),
      ])),
    ];
  } finally {
    session.close();
    await broker.stop();
    names.stop();
    server.kill("SIGKILL");
  }
}

const SERVING = `const page = require("node:fs").readFileSync(process.argv[1]);
const server = require("node:http").createServer((_, answer) =>
  answer.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-length": page.length }).end(page));
server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;

function expectSame(text: unknown, wanted: string): void {
  if (text !== wanted) throw new Error(`another page: ${String(text).slice(0, 200)}`);
}
