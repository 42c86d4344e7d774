// The model relay asks the command that runs, and no command that has ended.
import { expect, test } from "vitest";
import type { ClientModelCall, ModelSource, ModelUsage } from "../plan/sandboxes.ts";
import type { NetworkBroker, NetworkOptions } from "./network.ts";
import { SandboxNetwork } from "./sandbox-network.ts";

const ESTIMATE = { isPremium: false, inputTokens: 1, outputTokens: 1, outputLeast: 1 };
const ESTIMATED = { bytes: 1, isCharged: true, hasForeignCredential: false, ...ESTIMATE };
const CALL: ClientModelCall = { provider: "anthropic", model: "m", digest: "", ...ESTIMATED };
const USAGE: ModelUsage = {
  isSent: true,
  status: 200,
  input: 1,
  output: 2,
  cacheRead: 0,
  cacheWrite: 0,
  milliseconds: 3,
  isWhole: true,
  prompt: null,
};

function source(id: string, used: string[]): ModelSource {
  return {
    ask: async () => ({
      ok: true,
      id,
      outputTokens: null,
      url: "https://a.test",
      header: "x-api-key",
      prefix: "",
      value: "YQ==",
      keepsPrompt: false,
    }),
    used: (of, { status }) => void used.push(`${id}: ${of} ${status}`),
  };
}

async function opened(): Promise<{ readonly network: SandboxNetwork; readonly model: ModelSource }> {
  const opens: NetworkOptions[] = [];
  const broker: NetworkBroker = {
    open: async (wish) => {
      opens.push(wish);
      return { give: async () => true, connect: async () => true, count: async () => null, close: async () => null };
    },
  };
  const owner = { agent: "a", session: "s", generation: 1 };
  const network = await SandboxNetwork.open(broker, { ports: [], loopback: [], chains: [], relay: 9_797 }, "s", owner);
  const [wish] = opens;
  if (network === null || wish === undefined) throw new Error("the network was not opened");
  return { network, model: wish.model };
}

test("a model is refused before a command, after it, and in a command without one", async () => {
  const { network, model } = await opened();
  const refused = { ok: false, code: "not_available" };
  expect(await model.ask(CALL)).toMatchObject(refused);
  network.judgedBy(null, { model: source("first", []) });
  expect(await model.ask(CALL)).toMatchObject({ ok: true, id: "first" });
  network.judgedBy(null, {});
  expect(await model.ask(CALL)).toMatchObject(refused);
});

test("a use is reported once, to the command that asked, also after its end", async () => {
  const { network, model } = await opened();
  const used: string[] = [];
  network.judgedBy(null, { model: source("first", used) });
  await model.ask(CALL);
  network.judgedBy(null, { model: source("second", used) });
  await model.ask(CALL);
  network.judgedBy(null, {});
  for (const id of ["first", "first", "second", "third"]) model.used(id, USAGE);
  expect(used).toEqual(["first: first 200", "second: second 200"]);
});
