// The plugin for opencode, which asks our hook before each tool call. opencode itself is set to ask for every tool; the plugin
// answers for the calls that the hook allowed, and what it throws stops the others.

/** INVARIANT: without an answer of the hook with status 0 the call is stopped, and nothing is answered for it. */
export function opencodePlugin(command: string): string {
  return `// Written by \`ambit connect opencode\`; \`ambit disconnect opencode\` removes it.
import { spawn } from "node:child_process";

const COMMAND = ${JSON.stringify(command)};

function ask(question) {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", COMMAND], { stdio: ["pipe", "pipe", "pipe"] });
    let [out, err] = ["", ""];
    child.stdout.on("data", (part) => { out += part; });
    child.stderr.on("data", (part) => { err += part; });
    child.stdin.on("error", () => {});
    child.on("error", reject);
    child.on("close", (status) => {
      if (status === 0) resolve(out);
      else reject(new Error(err.trim() || "ambit: no verdict: the call is blocked"));
    });
    child.stdin.end(JSON.stringify(question));
  });
}

async function servers(client) {
  try {
    const { data } = await client.mcp.status();
    return Object.keys(data);
  } catch {
    return undefined;
  }
}

export const Ambit = async ({ client, directory }) => {
  const allowed = new Set();
  const agents = new Map();
  return {
    // A sub-agent has a session of its own, whose messages say which agent it is.
    "chat.message": async (input) => {
      if (typeof input.agent === "string") agents.set(input.sessionID, input.agent);
    },
    "tool.execute.before": async (input, output) => {
      const agent = agents.get(input.sessionID);
      const about = { session: input.sessionID, agent, cwd: directory, tool: input.tool, input: output.args };
      // Whose tool it is cannot be seen in its name alone.
      if (input.tool.startsWith("ambit_")) about.servers = await servers(client);
      const answer = await ask(about);
      const { allow, input: replaced } = answer === "" ? {} : JSON.parse(answer);
      // opencode keeps the object of the arguments, so that its members are replaced.
      if (replaced !== undefined) Object.assign(output.args, replaced);
      if (allow === true) allowed.add(input.callID);
    },
    event: async ({ event }) => {
      if (event.type !== "permission.asked") return;
      const asked = event.properties;
      if (!allowed.delete(asked.tool?.callID)) return;
      const path = { id: asked.sessionID, permissionID: asked.id };
      await client.postSessionIdPermissionsPermissionId({ path, body: { response: "once" } });
    },
  };
};
`;
}
