// web_fetch of one page on loopback, beside Node's own fetch and the same conversion.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/base/json.ts";
import { webTool } from "../../src/daemon/tools/web.ts";
import { BrokerClient } from "../../src/sandbox/network/client.ts";
import { convertPage } from "../../src/tools/web/convert-page.ts";
import { pageProcess, waitingPageProcess } from "../../src/tools/web/page-process.ts";
import { presenting } from "../../src/tools/web/present-result.ts";
import { rootFolder } from "../place.ts";
import type { Row } from "../row.ts";
import { authorityOf, moment } from "../sandbox/ground.ts";
import { OneName } from "../sandbox/names.ts";
import { byTurns } from "../sandbox/turns.ts";
import { carriedValue, carryingOf, OURS, readingIn, sessionIn, type ToolsGround, warrantOf } from "./ground.ts";
import { oneByOne } from "./one-by-one.ts";
import { LAST_WORDS, realisticPage } from "./page.ts";

export const UNDICI = "Node's fetch";
export const UNDICI_INSIDE = "Node's fetch, conversion in process";
export const FETCHED = "web_fetch: a page of 60 kB as it came";
export const SHOWN = "web_fetch: the page as Markdown";

const NAME = "page.example.test";
const fetchesCount = 5;

export async function measureWeb({ base, project }: ToolsGround): Promise<readonly Row[]> {
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
    const tool = webTool({
      fetch: (wish) => broker.fetch(wish),
      holds: () => ({ authority, moment: moment() }),
      resolver: () => ({ servers: [resolver] }),
      redacted: (value) => value,
      secrets: {
        get: () => null,
        ready: async () => undefined,
        open: NONE,
        use: async () => false,
        probed: () => undefined,
      },
    });
    const requests = (input: JsonObject) => tool.requests(input, reading, session);
    const known = { name: tool.name, requirement: null, requests };
    const ours = async (format: string): Promise<Readonly<Record<string, unknown>>> => {
      const warrant = await warrantOf(authority, known, { url, format });
      return carriedValue(await tool.execute(carryingOf(session, warrant)));
    };
    const plain = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/page`)).text();
    const show = pageProcess(join(rootFolder, "dist", "page.cjs"));
    const present = presenting(waitingPageProcess(join(rootFolder, "dist", "page.cjs")));
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

const NONE = () => ({ ok: false, message: "there are no secrets here" }) as never;

function expectSame(text: unknown, wanted: string): void {
  if (text !== wanted) throw new Error(`another page: ${String(text).slice(0, 200)}`);
}
