// Parses a tool's arguments (an address, a path, an argument vector) into the one request that is decided, by the same
// parsers whether it is declared beforehand or used during a call.
import { parseArgv } from "../../core/authority/axes/argv.ts";
import { parseHost, type ToAscii } from "../../core/authority/axes/destination.ts";
import { parseAgentName, parseName, parseTool } from "../../core/authority/axes/name.ts";
import { type PathSettings, parsePath, pathText } from "../../core/authority/axes/path.ts";
import { isRootWord, ROOT_WORDS_TEXT, type RootWord } from "../../core/authority/axes/root-word.ts";
import type { Value } from "../../core/authority/axes/scope.ts";
import { parseUrl, schemeOf } from "../../core/authority/axes/url.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Request } from "../../core/authority/request.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";

export type ToolRequest =
  | { readonly verb: "net.get" | "net.post" | "net.put" | "net.delete"; readonly url: string }
  | { readonly verb: "fs.read" | "fs.write" | "fs.delete"; readonly path: string }
  | {
      readonly verb: "proc.exec";
      readonly argv: readonly string[];
      /** The folder it runs in; the agent's root by default. */
      readonly in?: string | undefined;
      /** Whether it may change that folder; `ro` by default. */
      readonly root?: RootWord | undefined;
    }
  | {
      readonly verb: "proc.eval";
      readonly line: string;
      readonly in?: string | undefined;
      readonly root?: RootWord | undefined;
    }
  | { readonly verb: "sandbox.exec"; readonly argv: readonly string[] }
  | { readonly verb: "secret.use"; readonly name: string; readonly host?: string | undefined }
  | { readonly verb: "memory.read" | "memory.write"; readonly key: string }
  | { readonly verb: "obs.append" | "obs.query"; readonly agent: string };

/** The machine's paths and names that arguments are parsed with, and the requesting tool. */
export interface RequestReading {
  readonly pathSettings: PathSettings;
  readonly toAscii: ToAscii;
  readonly tool: string;
}

export function requestOf(asked: ToolRequest, asking: RequestReading): Result<Request> {
  const verb = verbEntry(String(asked.verb));
  const values = verb === null ? null : valuesOf(asked, asking);
  if (verb === null || values === null) return refuse("bad_value", "a tool cannot make this request");
  if (!values.ok) return values;
  const url: unknown = verb.verb.startsWith("net.") && "url" in asked ? asked.url : null;
  const scheme = typeof url === "string" ? schemeOf(url) : null;
  return done({ verb, values: values.value, ...(scheme === null ? {} : { scheme }) });
}

/** TypeScript types are the author's promise; at run time the value may be anything. */
function valuesOf(
  asked: ToolRequest,
  { pathSettings, toAscii, tool }: RequestReading,
): Result<readonly Value[]> | null {
  switch (asked.verb) {
    case "net.get":
    case "net.post":
    case "net.put":
    case "net.delete": {
      const url = read(asked.url, (text) => parseUrl(text, toAscii));
      return url.ok ? done([url.value.host, url.value.port]) : url;
    }
    case "fs.read":
    case "fs.write":
    case "fs.delete":
      return each(read(asked.path, (text) => parsePath(text, pathSettings)));
    case "proc.exec":
    case "proc.eval":
      return program(asked, pathSettings);
    case "sandbox.exec": {
      // Its arguments are no part of the request; what cannot be run is refused all the same.
      const argv = argvOf(asked.argv);
      return argv.ok ? done([]) : argv;
    }
    case "secret.use":
      return each(
        read(asked.name, parseName),
        parseTool(tool),
        asked.host === undefined ? done(undefined) : read(asked.host, (text) => parseHost(text, toAscii)),
      );
    case "memory.read":
    case "memory.write":
      return each(read(asked.key, parseName));
    case "obs.append":
    case "obs.query":
      return each(read(asked.agent, parseAgentName));
    default:
      return asked satisfies never;
  }
}

function program(
  asked: Extract<ToolRequest, { verb: "proc.exec" | "proc.eval" }>,
  pathSettings: PathSettings,
): Result<readonly Value[]> {
  const { in: folder, root: mode = "ro" } = asked;
  if (!isRootWord(mode)) return refuse("bad_value", `\`root\` is ${ROOT_WORDS_TEXT}`);
  if (folder === undefined && pathSettings.base === null)
    return refuse("not_absolute", "no folder to run in is given", "/path");
  const root = read(folder ?? pathText(pathSettings.base ?? []), (text) => parsePath(text, pathSettings));
  if (asked.verb === "proc.exec") return each(root, argvOf(asked.argv), done(mode));
  const line = typeof asked.line === "string" ? parseArgv([...SHELL, asked.line]) : null;
  if (line === null) return refuse("bad_value", "`line` must be a text");
  // The line is no axis: no pattern could say what a shell does with it.
  return line.ok ? each(root, done(mode)) : line;
}

/** The shell that runs a line. It runs in the sandbox like any program. */
export const SHELL: readonly [string, string] = ["/bin/sh", "-c"];

function argvOf(argv: unknown): Result<Value> {
  return Array.isArray(argv) && argv.every((word) => typeof word === "string")
    ? parseArgv(argv)
    : refuse("bad_value", "`argv` must be a list of texts");
}

function read<T>(text: unknown, parse: (text: string) => Result<T>): Result<T> {
  return typeof text === "string" ? parse(text) : refuse("bad_value", "a text was expected");
}

function each(...results: readonly Result<Value>[]): Result<readonly Value[]> {
  const values: Value[] = [];
  for (const result of results) {
    if (!result.ok) return result;
    values.push(result.value);
  }
  return done(values);
}
