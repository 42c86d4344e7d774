// The names of the MCP servers in a client's settings. Nothing but the names is read.

const namesMax = 64;
const plainName = /^[\p{L}\p{N}][\p{L}\p{N} ._@/-]{0,63}$/u;

/** Names under a key of a JSON object, or of TOML tables `[key.name]`. None where the text does not parse. */
export function serverNames(text: string, file: string, key: string): readonly string[] {
  const names = file.endsWith(".toml") ? tableNames(text, key) : keyNames(text, key);
  return [...new Set(names)].filter((name) => plainName.test(name)).slice(0, namesMax);
}

function tableNames(text: string, key: string): readonly string[] {
  const header = /^[ \t]*\[[ \t]*([\w-]+)[ \t]*\.[ \t]*(?:"([^"\n]+)"|'([^'\n]+)'|([\w-]+))[ \t]*[\].]/gm;
  return [...text.matchAll(header)]
    .filter(([, first]) => first === key)
    .map(([, , double, single, bare]) => double ?? single ?? bare ?? "");
}

function keyNames(text: string, key: string): readonly string[] {
  try {
    const settings: unknown = JSON.parse(withoutComments(text));
    const servers = isMap(settings) && Object.hasOwn(settings, key) ? settings[key] : null;
    return isMap(servers) ? Object.keys(servers) : [];
  } catch {
    return [];
  }
}

/** Clients accept comments and trailing commas in their settings; strings are left alone. */
function withoutComments(text: string): string {
  return text
    .replace(/("(?:[^"\\\n]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_whole, string?: string) => string ?? " ")
    .replace(/("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])/g, (_whole, string?: string) => string ?? "");
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
